/**
 * More and more events over the same flags: search by filter and by text, reads of flags while texts are searched,
 * start from a snapshot and by replay of all of them, memory.
 */

import { setTimeout } from 'node:timers/promises';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { ClosedLoopRun } from '../lib/load/closed-loop-run.ts';
import { runOpenLoop } from '../lib/load/open-loop.ts';
import type { Request } from '../lib/load/operation.ts';
import { timedMs, timedResponse } from '../lib/load/timed-get.ts';
import type { BenchRun, Measurement, Scenario, Target } from '../lib/measurement.ts';
import { flagPath } from '../lib/paths.ts';
import { askProbe } from '../lib/servers/ask-probe.ts';
import { cpuMicrosOf } from '../lib/servers/cpu-time.ts';
import {
  GROWTH_CONNECTIONS,
  type GrowingServer,
  startGrowing,
  withGrowing,
} from '../lib/servers/growing-server.ts';
import { median } from '../lib/statistics.ts';

const FLAGS = 1_000;
const FILTER_SEARCHES = 25;
const TEXT_SEARCHES = 3;

/** Flag reads beside text searches: a busy service, far from saturation. */
const READS_PER_SECOND = 2_000;

/** Both match few events among all: nothing is found early. */
const BY_FILTER: Request = {
  method: 'POST',
  path: '/events/search',
  body: { type: 'feature-created', feature: 'flag-000001', limit: 10 },
};
const NEWEST_OF_TYPE: Request = {
  method: 'POST',
  path: '/events/search',
  body: { type: 'feature-environment-enabled', limit: 10 },
};
const BY_TEXT: Request = {
  method: 'POST',
  path: '/events/search',
  body: { query: 'nowhere to be found', limit: 10 },
};

export const growthEvents: Scenario = {
  name: 'growth-events',
  title: 'More events',
  async run(bench) {
    const measurements: Measurement[] = [];
    for (const events of bench.effort.eventSizes) {
      const set = { flags: Math.min(FLAGS, bench.effort.flags), projects: 1, events };
      const values = {
        ...(await withGrowing(bench, set, (server) => measured(bench, server))),
        ...(await replay(bench, set)),
      };
      bench.say(
        `${events} events: filter ${values.filterMs.toFixed(2)} ms, text ${values.textMs.toFixed(0)} ms, replay ${Math.round(values.replayPerSecond)}/s`,
      );
      measurements.push({ table: 'events', what: `${set.flags} flags`, at: events, values });
    }
    return measurements;
  },
};

async function measured(bench: BenchRun, server: GrowingServer) {
  const { target } = server.process;
  const searchableMs = await untilSearchable(target);
  const { heap, rss } = await askProbe(server.process, 'memory');
  return {
    startMs: server.startMs,
    searchableMs,
    heap,
    rss,
    filterMs: await medianMs(target, BY_FILTER, FILTER_SEARCHES),
    ...(await newestOfType(bench, server)),
    textMs: await medianMs(target, BY_TEXT, TEXT_SEARCHES),
    ...(await readsBesideText(bench, target)),
  };
}

/** Milliseconds until events can be searched, which a server refuses until it has read its history. */
async function untilSearchable(target: Target): Promise<number> {
  const startedAt = performance.now();
  while ((await timedResponse(target, BY_FILTER)).status === 503) await setTimeout(50);
  return performance.now() - startedAt;
}

async function newestOfType({ effort, folder }: BenchRun, { process }: GrowingServer) {
  const load = { operation: { requests: [NEWEST_OF_TYPE] }, connections: GROWTH_CONNECTIONS, folder };
  const run = (): Promise<ClosedLoopRun> =>
    runClosedLoop({ target: process.target, ...load, seconds: effort.runSeconds });
  await run();
  const before = cpuMicrosOf(process);
  const { requests, perSecond, p99 } = await run();
  const cpuSeconds = (cpuMicrosOf(process) - before) / 1e6;
  return { newestPerSecond: perSecond, newestPerCpuSecond: requests / cpuSeconds, newestP99: p99 };
}

async function medianMs(target: Target, request: Request, times: number): Promise<number> {
  const took: number[] = [];
  // The first is not counted: it starts the thread that searches texts.
  for (let count = 0; count <= times; count += 1) took.push(await timedMs(target, request));
  return median(took.slice(1));
}

async function readsBesideText({ effort, folder }: BenchRun, target: Target) {
  let isOver = false;
  const searching = (async () => {
    while (!isOver) await timedMs(target, BY_TEXT);
  })();
  const { p50, p99 } = await runOpenLoop({
    target,
    operation: { requests: [{ method: 'GET', path: flagPath(0) }] },
    connections: 16,
    perSecond: READS_PER_SECOND,
    seconds: effort.openLoopSeconds,
    folder,
  });
  isOver = true;
  await searching;
  return { readBesideTextP50: p50, readBesideTextP99: p99 };
}

async function replay(bench: BenchRun, set: GrowingServer['set']) {
  const { process, startMs, replayedEvents } = await startGrowing(bench, set, false);
  await process.kill();
  return { replayMs: startMs, replayPerSecond: (replayedEvents * 1000) / startMs };
}
