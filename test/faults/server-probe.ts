/**
 * Loaded before a server under test: how long requests take from their arrival in the process to their response, and how late the
 * event loop is. Clients see more than that, because they share the cores of one machine with the server. Written once a second to
 * PROBE_FILE, since the process is killed.
 */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Distribution, RouteMeter } from '../../src/http/serving/meters.ts';
import { threadMicros } from '../support/processor-time.ts';
import type { ServerProcess } from '../support/server.ts';
import { LOADER } from '../support/source.ts';

export interface ProbeReading {
  /** Milliseconds, by the route: how many requests took up to each bound, and how many took longer. */
  readonly routes: Readonly<Record<string, readonly number[]>>;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMostMs: number;
  /** The most of the processor's time, which the loop has where others want the core too: the most that one turn of it took since SIGUSR2. */
  readonly loopBusyMostMs: number;
  /** The request that was responded to last before the end of that turn, and the milliseconds of garbage collection about then. */
  readonly busiest: string;
}

/** For NODE_OPTIONS. */
export const LOAD_PROBE = [...LOADER, '--import', import.meta.url].join(' ');

/** Bounds in milliseconds. */
export const PROBE_BOUNDS = [1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1_000];

const TICK_MS = 1;

/** So often does the probe write. */
export const WRITE_MS = 1_000;

/** Resolves with what the probe of the server has seen since this was asked last. Ended processes make it fail. */
export async function longestTurn({ child, output }: ServerProcess, file: string): Promise<ProbeReading> {
  await pause(2 * WRITE_MS);
  assert.equal(child.exitCode ?? child.signalCode, null, output().slice(-2_000));
  const reading = JSON.parse(readFileSync(file, 'utf8')) as ProbeReading;
  child.kill('SIGUSR2');
  return reading;
}

function startProbe(file: string): void {
  const routes = new Map<string, Distribution>();
  let last = '';
  let collections: PerformanceEntry[] = [];
  new PerformanceObserver((list) => {
    const since = performance.now() - 1_000;
    collections = [...collections, ...list.getEntries()].filter(({ startTime }) => startTime > since);
  }).observe({ entryTypes: ['gc'] });
  const { responded } = RouteMeter.prototype;
  RouteMeter.prototype.responded = function (status, durationMs) {
    const name = `${this.method} ${this.route}`;
    let times = routes.get(name);
    if (times === undefined) {
      times = new Distribution(PROBE_BOUNDS);
      routes.set(name, times);
    }
    times.observe(durationMs);
    last = name;
    responded.call(this, status, durationMs);
  };
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  // The start itself is not asked about.
  const begunAt = performance.now();
  let isReset = false;
  let loopBusyMostMs = 0;
  let busiest = '';
  let wasBusyMs = threadMicros() / 1_000;
  setInterval(() => {
    const before = wasBusyMs;
    wasBusyMs = threadMicros() / 1_000;
    const tookMs = wasBusyMs - before;
    if (!isReset || tookMs <= loopBusyMostMs) return;
    loopBusyMostMs = tookMs;
    busiest = last;
    const since = performance.now() - tookMs;
    // The collections of this turn are told of after it.
    setTimeout(() => {
      const during = collections.filter(({ startTime }) => startTime >= since && startTime <= since + tookMs);
      const ms = during.reduce((sum, { duration }) => sum + duration, 0);
      busiest += `, ${ms.toFixed(0)} ms of garbage collection`;
    }, 5).unref();
  }, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    isReset = true;
    loopBusyMostMs = 0;
    wasBusyMs = threadMicros() / 1_000;
  });
  const write = (): void => {
    if (!isReset && performance.now() - begunAt > 3_000) {
      isReset = true;
      delay.enable();
    }
    const reading: ProbeReading = {
      routes: Object.fromEntries([...routes].map(([name, { counts }]) => [name, [...counts]])),
      loopDelayP99Ms: delay.percentile(99) / 1e6 - TICK_MS,
      loopDelayMostMs: delay.max / 1e6 - TICK_MS,
      loopBusyMostMs,
      busiest,
    };
    writeFileSync(`${file}.part`, JSON.stringify(reading));
    renameSync(`${file}.part`, file);
  };
  write();
  setInterval(write, WRITE_MS).unref();
}

const { PROBE_FILE } = process.env;
if (PROBE_FILE !== undefined) startProbe(PROBE_FILE);
