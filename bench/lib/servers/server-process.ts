/**
 * The server under test, in a process of its own, as `npm start` runs it; on a folder of its own, with an admin
 * token, logging warnings only. With `isProbed` a few lines are loaded before it that measure its heap and event loop
 * when they are asked (probe.ts); they cost nothing otherwise.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { LOADER, runnable } from '../../../test/support/source.ts';
import type { Target } from '../measurement.ts';

export const ROOT_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));
export const BENCH_TOKEN = '*:*.bench';

/** A start that takes longer has failed. */
const START_MS_MAX = 120_000;
const LOOK_MS = 2;

const PROBE_FILE = fileURLToPath(new URL(runnable('./probe.ts'), import.meta.url));

export interface ServerProcess {
  readonly target: Target;
  readonly child: ChildProcess;
  /** From the start of the process until it is ready, with what starting Node and the compiler takes. */
  readonly startMs: number;
  /** Resolves with what it wrote, on both streams, once `pattern` is in it. */
  outputWith(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
  /** SIGKILL: no last snapshot. */
  kill(): Promise<void>;
}

export interface ServerProcessOptions {
  /** The checkout whose server it is; this one when absent. */
  readonly root?: string;
  readonly isProbed?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** One that is free; any when absent. */
  readonly port?: number;
}

export async function startServerProcess(
  folder: string,
  { root = ROOT_FOLDER, isProbed = false, env = {}, port: chosen }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const port = chosen ?? (await freePort());
  const probe = isProbed ? ['--expose-gc', '--import', PROBE_FILE] : [];
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=16', ...LOADER, ...probe, runnable('src/main.ts')],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HTTP_HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: folder,
        INIT_ADMIN_API_TOKENS: BENCH_TOKEN,
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const exited = once(child, 'exit');
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(child, `${origin}/ready`, () => output);
  const startMs = performance.now() - startedAt;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    target: { name: 'flagstaff', origin, basePath: '', token: BENCH_TOKEN },
    child,
    startMs,
    async outputWith(pattern) {
      while (!pattern.test(output)) await once(child.stdout as Readable, 'data');
      return output;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function untilReady(child: ChildProcess, url: string, output: () => string): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${output()}`);
    // Refused connections mean that it does not listen yet.
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  child.kill('SIGKILL');
  throw new Error(`the server was not ready after ${START_MS_MAX} ms: ${output()}`);
}

/** Free at the moment of asking; the server takes it right after. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
