/**
 * NATS servers for tests, as processes of their own in temporary folders. The binary is the one that `NATS_SERVER`
 * names, or `nats-server` of the system; it has to be of release 2.10 or newer, because older ones do not know
 * `sync_interval: always`. Without one, tests are skipped with a word.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommands } from '../../../src/cli/main.ts';

const BINARY = process.env['NATS_SERVER'] ?? 'nats-server';

/** Why there is no server to test with; null when there is one. */
export const noNatsServer: string | null = reasonWithoutServer();

function reasonWithoutServer(): string | null {
  try {
    const version = execFileSync(BINARY, ['--version'], { encoding: 'utf8' });
    const [, major = '0', minor = '0'] = /v(\d+)\.(\d+)/.exec(version) ?? [];
    if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 10)) return null;
    return `${BINARY} is ${version.trim()}; release 2.10 or newer is needed`;
  } catch {
    return `there is no nats-server; name one of release 2.10 or newer in NATS_SERVER`;
  }
}

export interface NatsServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Its files. */
  readonly folder: string;
  /** Kills the process as a crash does, and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and folder. */
  restart(): Promise<void>;
}

export interface NatsCluster {
  readonly servers: readonly NatsServer[];
  readonly urls: readonly string[];
  close(): Promise<void>;
}

/** The address, as `host:port`, at which one server reaches another one, which listens on the port. */
export type RouteTo = (from: number, to: number, port: number) => Promise<string>;

/** Starts as many servers, which write to the disk before they acknowledge. `settings`: further lines of their configuration. */
export async function startNats(
  count: number,
  settings: readonly string[] = [],
  routeTo: RouteTo = async (_from, _to, port) => `127.0.0.1:${port}`,
): Promise<NatsCluster> {
  const root = mkdtempSync(join(tmpdir(), 'flagstaff-nats-'));
  const ports = await freePorts(count * 2);
  const servers: Server[] = [];
  for (let at = 0; at < count; at += 1) {
    const folder = join(root, `server-${at}`);
    const config = join(root, `server-${at}.conf`);
    const others = [...Array(count).keys()].filter((to) => to !== at);
    const routes = await Promise.all(
      others.map(async (to) => `nats://${await routeTo(at, to, ports[count + to]!)}`),
    );
    writeFileSync(
      config,
      configOf({ at, count, folder, port: ports[at]!, routePort: ports[count + at]!, routes, settings }),
    );
    servers.push(new Server(config, folder, `nats://127.0.0.1:${ports[at]}`));
  }
  await Promise.all(servers.map((server) => server.restart()));
  return {
    servers,
    urls: servers.map(({ url }) => url),
    close: async () => {
      await Promise.all(servers.map((server) => server.kill()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The settings of a cluster on these servers, which begins as an operator begins one. */
export async function initCluster(
  urls: readonly string[],
): Promise<{ readonly REPLICATION_URL: string; readonly REPLICATION_CLUSTER: string }> {
  const env = { REPLICATION_URL: urls.join(','), REPLICATION_CLUSTER: 'test' };
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const code = await runCommands(['cluster', 'init'], { out: say, err: say, env } as never);
  if (code !== 0) throw new Error(`the cluster does not begin: ${said.join('\n')}`);
  return env;
}

interface ConfigParts {
  readonly at: number;
  readonly count: number;
  readonly folder: string;
  readonly port: number;
  readonly routePort: number;
  readonly routes: readonly string[];
  readonly settings: readonly string[];
}

function configOf({ at, count, folder, port, routePort, routes, settings }: ConfigParts): string {
  // What servers tell of each other's addresses would lead around the links that a test cuts.
  const cluster = `cluster { name: test, listen: "127.0.0.1:${routePort}", advertise: "127.0.0.1:1", no_advertise: true, routes: [${routes.join(', ')}] }`;
  return [
    `server_name: server-${at}`,
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: "${folder}", sync_interval: always }`,
    ...(count > 1 ? [cluster] : []),
    ...settings,
  ].join('\n');
}

class Server implements NatsServer {
  readonly url: string;
  readonly folder: string;
  readonly #config: string;
  process!: ChildProcess;
  #exited: Promise<void> = Promise.resolve();

  constructor(config: string, folder: string, url: string) {
    this.#config = config;
    this.folder = folder;
    this.url = url;
  }

  /** Resolves when the server says that it is ready. */
  restart(): Promise<void> {
    const child = spawn(BINARY, ['-c', this.#config], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.process = child;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    return new Promise((resolve, reject) => {
      let said = '';
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4_000);
        if (said.includes('Server is ready')) resolve();
      });
      child.once('exit', () => reject(new Error(`nats-server ended: ${said}`)));
    });
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.#exited;
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const holders = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    holders.map(
      (holder) =>
        new Promise<number>((resolve) => {
          holder.listen(0, '127.0.0.1', () => resolve((holder.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(holders.map((holder) => new Promise((resolve) => holder.close(resolve))));
  return ports;
}
