/**
 * Unleash as a peer: its server from npm with its default settings, one process, on a PostgreSQL of this machine. It is fetched for the
 * run and gone afterwards: it would bring hundreds of packages into every checkout.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Target } from '../measurement.ts';
import { BENCH_TOKEN, freePort } from '../servers/server-process.ts';
import { type Postgres, startPostgres } from './postgres.ts';

const run = promisify(execFile);

/** Unless another one is asked for. */
const VERSION = '8.2.0';

/** The oldest Node that it takes; where this process runs on an older one, npm's package of Node brings it. */
const NODE_MAJOR = 22;

const START_MS_MAX = 120_000;
const LOOK_MS = 200;

export interface Peer {
  readonly target: Target;
  stop(): Promise<void>;
}

export interface PeerOptions {
  readonly version?: string;
  /** Beside its settings. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startUnleash(
  parentFolder: string,
  say: (line: string) => void,
  { version = VERSION, env = {} }: PeerOptions = {},
): Promise<Peer> {
  const folder = mkdtempSync(join(parentFolder, 'flagstaff-bench-unleash-'));
  let postgres: Postgres | null = null;
  let child: ChildProcess | null = null;
  const stop = async (): Promise<void> => {
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    say(`fetches Unleash ${version} from npm`);
    const node = await fetchUnleash(folder, version);
    postgres = await startPostgres(parentFolder);
    const port = await freePort();
    child = spawn(node, [join(folder, 'node_modules', 'unleash-server', 'dist', 'server.js')], {
      cwd: folder,
      env: { ...settings(postgres, port), ...env },
      stdio: 'ignore',
    });
    const origin = `http://127.0.0.1:${port}`;
    await untilHealthy(child, `${origin}/health`);
    const name = `Unleash ${version} on PostgreSQL ${postgres.version}`;
    return { target: { name, origin, basePath: '', token: BENCH_TOKEN }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The Node to run it with. */
async function fetchUnleash(folder: string, version: string): Promise<string> {
  const isOldNode = Number(process.versions.node.split('.')[0]) < NODE_MAJOR;
  const nodePackage = `node-${process.platform}-${process.arch}`;
  const packages = [`unleash-server@${version}`, ...(isOldNode ? [`${nodePackage}@${NODE_MAJOR}`] : [])];
  const flags = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
  await run('npm', ['install', ...flags, '--prefix', folder, ...packages]);
  return isOldNode ? join(folder, 'node_modules', nodePackage, 'bin', 'node') : process.execPath;
}

/** Its defaults, but for limits that the bench would run into: 20,000 requests a minute, and 5,000 flags. */
function settings({ url }: Postgres, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    TZ: 'UTC',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: String(port),
    DATABASE_URL: url,
    DATABASE_SSL: 'false',
    INIT_ADMIN_API_TOKENS: BENCH_TOKEN,
    CHECK_VERSION: 'false',
    SEND_TELEMETRY: 'false',
    LOG_LEVEL: 'error',
    SDK_API_RATE_LIMIT_PER_MINUTE: '100000000',
    TOKEN_AUTHENTICATION_RATE_LIMIT_PER_MINUTE: '100000000',
    UNLEASH_FEATURE_FLAGS_LIMIT: '10000000',
  };
}

async function untilHealthy(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`Unleash ended with ${child.exitCode}`);
    // Refused connections mean that it does not listen yet.
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`Unleash was not healthy after ${START_MS_MAX} ms`);
}
