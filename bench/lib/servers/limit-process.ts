/** Starts the limit server (limit-server.ts) with the response that the server under test gave. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../../../test/support/source.ts';
import type { ReceivedResponse } from '../load/client.ts';
import type { Target } from '../measurement.ts';
import type { LimitKind, LimitOptions } from './limit-server.ts';
import { BENCH_TOKEN, freePort, ROOT_FOLDER } from './server-process.ts';

const LIMIT_SERVER_FILE = fileURLToPath(new URL('./limit-server.ts', import.meta.url));

export interface LimitProcess {
  readonly target: Target;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

export interface LimitProcessOptions {
  /** The response that it sends. */
  readonly response: ReceivedResponse;
  readonly folder: string;
}

export async function startLimitProcess(
  kind: LimitKind,
  { response, folder }: LimitProcessOptions,
): Promise<LimitProcess> {
  const port = await freePort();
  const bodyFile = join(folder, 'limit-body.bin');
  writeFileSync(bodyFile, response.body);
  const { status, headers } = response;
  const file = join(folder, 'limit.log');
  const options: LimitOptions = { kind, port, status, headers, bodyFile, file };
  const child = spawn(process.execPath, nodeArguments(LIMIT_SERVER_FILE, JSON.stringify(options)), {
    cwd: ROOT_FOLDER,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const [first] = await Promise.race([once(child, 'message'), exited]);
  if (first !== 'listening') throw new Error(`the limit server ended with ${String(first)}`);
  return {
    target: { name: `${kind} limit`, origin: `http://127.0.0.1:${port}`, basePath: '', token: BENCH_TOKEN },
    child,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
