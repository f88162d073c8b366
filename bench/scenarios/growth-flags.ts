/**
 * The same operations on more and more flags in one project. Throughput is held against a server with the fewest
 * flags that runs beside, in alternating runs; what depends on the size by nature is shown as it is: start, memory,
 * snapshots, the overview.
 */
import { askServer } from '../../src/control/control-client.ts';
import type { OperationScenario } from '../lib/http-scenario.ts';
import type { ClosedLoopRun } from '../lib/load/closed-loop-run.ts';
import { type Operation, type Request, toggles } from '../lib/load/operation.ts';
import { timedMs } from '../lib/load/timed-get.ts';
import type { BenchRun, Measurement, Scenario } from '../lib/measurement.ts';
import { runPaired } from '../lib/paired.ts';
import { environmentPath, flagsInTurn, PROJECT } from '../lib/paths.ts';
import { askProbe } from '../lib/servers/ask-probe.ts';
import type { DataSet } from '../lib/servers/data-set.ts';
import {
  GROWTH_CONNECTIONS,
  type GrowingServer,
  load,
  warmUp,
  watchingStalls,
  withGrowing,
} from '../lib/servers/growing-server.ts';
import { worstRead } from '../lib/servers/read-stalls.ts';
import { median } from '../lib/statistics.ts';
import { create } from './create.ts';
import { flagRead } from './flag-read.ts';
import { strategyPatch } from './strategy-patch.ts';
import { toggle } from './toggle.ts';

/** The operations that are compared, by the names of their columns. */
const OPERATIONS = { read: flagRead, toggle, create, patch: strategyPatch } as const;

const OVERVIEWS = 15;

export const growthFlags: Scenario = {
  name: 'growth-flags',
  title: 'More flags',
  async run(bench) {
    const measurements: Measurement[] = [];
    for (const flags of bench.effort.flagSizes) {
      const values = await withGrowing(bench, ofFlags(flags), async (server) => ({
        ...(await atRest(server)),
        ...(await overviews(server)),
        readStallMs: (await worstRead(bench, server)).stallMs,
        ...(isBetween(bench, server)
          ? {}
          : { ...(await snapshots(bench, server)), ...(await compared(bench, server)) }),
      }));
      bench.say(`${flags} flags: ${JSON.stringify(values, (_, value) => rounded(value))}`);
      measurements.push({ table: 'flags', what: 'one project', at: flags, values });
    }
    return measurements;
  },
};

const ofFlags = (flags: number): DataSet => ({ flags, projects: 1, events: 0 });

/** The size that goals are set for: measured in more rounds. */
function isLargest({ effort }: BenchRun, { set }: GrowingServer): boolean {
  return set.flags === Math.max(...effort.flagSizes);
}

/** A size for which no comparison is asked: what grows shows between the fewest flags and the most. */
const isBetween = ({ effort }: BenchRun, { set }: GrowingServer): boolean =>
  set.flags > Math.min(...effort.flagSizes) && set.flags < Math.max(...effort.flagSizes);

function rounded(value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(3)) : value;
}

async function atRest({ process, startMs }: GrowingServer) {
  const { heap, rss } = await askProbe(process, 'memory');
  return { startMs, heap, rss };
}

const operationFor = (scenario: OperationScenario, { process, set }: GrowingServer): Promise<Operation> =>
  scenario.prepare(process.target, { flags: set.flags, connections: GROWTH_CONNECTIONS });

/** Creating comes last, since both grow by it; so each size has a reference of its own, but for the fewest. */
function compared(bench: BenchRun, server: GrowingServer): Promise<Record<string, number>> {
  const fewest = Math.min(...bench.effort.flagSizes);
  if (server.set.flags === fewest) return alone(bench, server);
  return withGrowing(bench, ofFlags(fewest), async (reference) => {
    const values: Record<string, number> = {};
    for (const [name, scenario] of Object.entries(OPERATIONS)) {
      const ours = await operationFor(scenario, server);
      const theirs = await operationFor(scenario, reference);
      await warmUp(bench, reference, theirs);
      await warmUp(bench, server, ours);
      const paired = await runPaired(
        isLargest(bench, server) ? bench.effort.roundsForGoals : 1,
        () => load(bench, server, ours),
        () => load(bench, reference, theirs),
      );
      values[`${name}PerSecond`] = paired.ours.perSecond;
      values[`${name}Ratio`] = paired.share;
    }
    return values;
  });
}

/** The fewest flags are what the others are held against. */
async function alone(bench: BenchRun, server: GrowingServer): Promise<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const [name, scenario] of Object.entries(OPERATIONS)) {
    const operation = await operationFor(scenario, server);
    await warmUp(bench, server, operation);
    values[`${name}PerSecond`] = (await load(bench, server, operation)).perSecond;
    values[`${name}Ratio`] = 1;
  }
  return values;
}

/** The overview of more is longer than a response may be (docs/limits.md). */
const UNCOMPRESSED_FLAGS_MAX = 50_000;

/** Milliseconds until the last byte: unchanged, and right after one flag was switched. */
async function overviews({ process: { target }, set }: GrowingServer) {
  const headers = set.flags > UNCOMPRESSED_FLAGS_MAX ? { 'accept-encoding': 'gzip' } : {};
  const get = { method: 'GET', path: PROJECT, headers } as const;
  const kept: number[] = [];
  const afterChange: number[] = [];
  await timedMs(target, get);
  const [on, off] = toggles([environmentPath(0)]) as [Request, Request];
  for (let count = 0; count < OVERVIEWS; count += 1) {
    await timedMs(target, count % 2 === 0 ? on : off);
    afterChange.push(await timedMs(target, get));
    kept.push(await timedMs(target, get));
  }
  return { overviewKeptMs: median(kept), overviewChangedMs: median(afterChange) };
}

/** A load of switches during which a snapshot is taken; that load alone for comparison. */
async function snapshots(bench: BenchRun, server: GrowingServer) {
  const flags = flagsInTurn({ flags: server.set.flags, connections: GROWTH_CONNECTIONS });
  const operation: Operation = { requests: toggles(flags.map(environmentPath)) };
  const durations: number[] = [];
  const stalls: number[] = [];
  const quietStalls: number[] = [];
  const watched = async (
    stallsSeen: number[],
    work: () => Promise<ClosedLoopRun>,
  ): Promise<ClosedLoopRun> => {
    const { result, longestStallMs } = await watchingStalls(server, work);
    stallsSeen.push(longestStallMs);
    return result;
  };
  await warmUp(bench, server, operation);
  const { share } = await runPaired(
    isLargest(bench, server) ? bench.effort.roundsForGoals : 1,
    () => watched(stalls, () => besideSnapshot(server, durations, () => load(bench, server, operation))),
    () => watched(quietStalls, () => load(bench, server, operation)),
  );
  return {
    snapshotMs: median(durations),
    snapshotShare: share,
    snapshotStallMs: median(stalls),
    quietStallMs: median(quietStalls),
  };
}

async function besideSnapshot<T>(
  server: GrowingServer,
  durations: number[],
  work: () => Promise<T>,
): Promise<T> {
  const [result, snapshot] = await Promise.all([work(), askServer(server.folder, 'snapshot')]);
  if (snapshot === null) throw new Error('the server has no control channel');
  durations.push(snapshot.durationMs);
  return result;
}
