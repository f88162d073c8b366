/**
 * Loaded before the server of the soak: how long requests of friendly clients take from their arrival in the process to their
 * response, and how late the event loop is. Clients see more than that, because they and those who attack share the cores of one
 * machine with the server. Written once a second to SOAK_PROBE_FILE, since the process is killed.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Distribution, RouteMeter } from '../../../src/http/dispatch/meters.ts';

export interface ProbeReading {
  /** Milliseconds, by the route: how many requests took up to each bound, and how many took longer. */
  readonly routes: Readonly<Record<string, readonly number[]>>;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMostMs: number;
}

/** In milliseconds. */
export const PROBE_BOUNDS = [1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1_000];

const TICK_MS = 1;

function startProbe(file: string): void {
  const routes = new Map<string, Distribution>();
  const { responded } = RouteMeter.prototype;
  RouteMeter.prototype.responded = function (status, durationMs) {
    const name = `${this.method} ${this.route}`;
    let times = routes.get(name);
    if (times === undefined) {
      times = new Distribution(PROBE_BOUNDS);
      routes.set(name, times);
    }
    times.observe(durationMs);
    responded.call(this, status, durationMs);
  };
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  // The start itself is not asked about.
  const begunAt = performance.now();
  let isReset = false;
  setInterval(() => {
    if (!isReset && performance.now() - begunAt > 3_000) {
      isReset = true;
      delay.enable();
    }
    const reading: ProbeReading = {
      routes: Object.fromEntries([...routes].map(([name, { counts }]) => [name, [...counts]])),
      loopDelayP99Ms: delay.percentile(99) / 1e6 - TICK_MS,
      loopDelayMostMs: delay.max / 1e6 - TICK_MS,
    };
    writeFileSync(`${file}.part`, JSON.stringify(reading));
    renameSync(`${file}.part`, file);
  }, 1_000).unref();
}

const { SOAK_PROBE_FILE } = process.env;
if (SOAK_PROBE_FILE !== undefined) startProbe(SOAK_PROBE_FILE);
