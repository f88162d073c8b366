/** A server on a data set of a given size, with what growth scenarios ask of each: start, memory, throughput, stalls. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runAutocannon } from '../load/autocannon-load.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import type { ClosedLoopRun } from '../load/closed-loop-run.ts';
import type { Operation } from '../load/operation.ts';
import type { BenchRun } from '../measurement.ts';
import { askProbe } from './ask-probe.ts';
import { type DataSet, dataFolderOf } from './data-set.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface GrowingServer {
  readonly set: DataSet;
  readonly folder: string;
  readonly process: ServerProcess;
  /** Milliseconds of the server itself, without what starting Node and compiling takes. */
  readonly startMs: number;
  readonly replayedEvents: number;
}

/** Connections of all growth figures: enough to keep the server busy. */
export const GROWTH_CONNECTIONS = 64;

export async function startGrowing(
  bench: BenchRun,
  set: DataSet,
  withSnapshot = true,
): Promise<GrowingServer> {
  const folder = await dataFolderOf(bench, set);
  if (!withSnapshot) rmSync(join(folder, 'snapshots'), { recursive: true });
  // At level info the server logs one line at its start, which tells what it took.
  const process = await startServerProcess(folder, { isProbed: true, env: { LOG_LEVEL: 'info' } });
  const output = await process.outputWith(/"startMs":[0-9]+/);
  const logged = (key: string): number => Number(new RegExp(`"${key}":([0-9]+)`).exec(output)?.[1]);
  return { set, folder, process, startMs: logged('startMs'), replayedEvents: logged('replayedEvents') };
}

/** Starts one, and ends it whatever `work` does. */
export async function withGrowing<T>(
  bench: BenchRun,
  set: DataSet,
  work: (server: GrowingServer) => Promise<T>,
): Promise<T> {
  const server = await startGrowing(bench, set);
  try {
    return await work(server);
  } finally {
    await server.process.kill();
    rmSync(server.folder, { recursive: true, force: true });
  }
}

export function load(bench: BenchRun, server: GrowingServer, operation: Operation): Promise<ClosedLoopRun> {
  const { effort, folder } = bench;
  const connections = effort.runSeconds === null ? 2 : GROWTH_CONNECTIONS;
  return runClosedLoop({
    target: server.process.target,
    operation,
    connections,
    seconds: effort.runSeconds,
    folder,
  });
}

/** A few thousand requests, unmeasured, so that the compiler has seen what is about to be measured. */
const WARM_UP_REQUESTS = 2_000;

export async function warmUp(bench: BenchRun, server: GrowingServer, operation: Operation): Promise<void> {
  if (bench.effort.runSeconds === null) return;
  await runAutocannon({
    target: server.process.target,
    operation,
    connections: GROWTH_CONNECTIONS,
    requests: WARM_UP_REQUESTS,
  });
}

export interface UnderWatch<T> {
  readonly result: T;
  readonly longestStallMs: number;
}

export async function watchingStalls<T>(
  server: GrowingServer,
  work: () => Promise<T>,
): Promise<UnderWatch<T>> {
  await askProbe(server.process, 'watch-stalls');
  const result = await work();
  return { result, longestStallMs: await askProbe(server.process, 'longest-stall') };
}
