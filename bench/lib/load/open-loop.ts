/**
 * Open loop: requests are due at fixed times, whether or not earlier ones have been answered, and a latency counts
 * from the moment when a request was due, not from when a connection became free to send it. So a stall of the server
 * counts for every request that it delays: latencies without coordinated omission. The rate stays below saturation,
 * where a queue would only grow.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeArguments } from '../../../test/support/source.ts';
import type { Target } from '../measurement.ts';
import { type Operation, uniqueBase, writeRequestFile } from './operation.ts';

const run = promisify(execFile);
const CLIENT_FILE = fileURLToPath(new URL('./open-loop-client.ts', import.meta.url));

export interface OpenLoopOptions {
  readonly target: Target;
  readonly operation: Operation;
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly folder: string;
  /** Sent by the same process on a connection of their own, and not measured. */
  readonly besides?: { readonly operation: Operation; readonly perSecond: number };
}

/** Milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface SchedulePlan {
  readonly requestFile: string;
  readonly uniqueBase: number;
  readonly connections: number;
  readonly perSecond: number;
}

export interface OpenLoopPlan extends SchedulePlan {
  readonly host: string;
  readonly port: number;
  readonly seconds: number;
  readonly besides: SchedulePlan | null;
}

/** Rejects when a request failed, or was still unanswered some time after the end. */
export async function runOpenLoop(options: OpenLoopOptions): Promise<Latencies> {
  const { target, operation, connections, perSecond, seconds, folder, besides } = options;
  const scheduled = (name: string, sent: Operation): Pick<SchedulePlan, 'requestFile' | 'uniqueBase'> => {
    const requestFile = join(folder, `${name}.bin`);
    writeRequestFile(requestFile, target, sent);
    return { requestFile, uniqueBase: uniqueBase() };
  };
  const { hostname, port } = new URL(target.origin);
  const plan: OpenLoopPlan = {
    host: hostname,
    port: Number(port === '' ? 80 : port),
    ...scheduled('open-loop-requests', operation),
    connections,
    perSecond,
    seconds,
    besides:
      besides === undefined
        ? null
        : {
            ...scheduled('requests-besides', besides.operation),
            ...{ connections: 1, perSecond: besides.perSecond },
          },
  };
  const { stdout } = await run(process.execPath, nodeArguments(CLIENT_FILE, JSON.stringify(plan)));
  return JSON.parse(stdout) as Latencies;
}
