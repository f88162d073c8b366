/**
 * Whole servers for tests: in this process on a folder of their own, and as processes that can be killed. Ports are
 * chosen by the operating system; folders are removed at the end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ConfiguredAddon, Setup } from '../../src/host/addon.ts';
import { createLog, type Log } from '../../src/process/log.ts';
import { type Server, startServer } from '../../src/server.ts';
import { configureAddons } from '../../src/start/addons.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import type { NodeOptions } from '../../src/start/node.ts';
import { ENGINES } from './installed-engines.ts';
import { nodeArguments } from './source.ts';

export const ADMIN_TOKEN = '*:*.test-secret';
export const ROOT_FOLDER = fileURLToPath(new URL('../..', import.meta.url));

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed when the process ends, at the latest. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flagstaff-test-'));
  folders.push(folder);
  return folder;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

export interface RequestOptions {
  /** Sent as Authorization; the admin token unless given; null for none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  options?: RequestOptions,
) => Promise<ReceivedResponse>;

/** Told of every response that any test sees, so that all of them can be held against the description. */
export type ResponseObserver = (method: string, path: string, response: ReceivedResponse) => void;
const observers: ResponseObserver[] = [];
export function observeResponses(observer: ResponseObserver): void {
  observers.push(observer);
}

/** Lets go of a connection before the server does, after 5 (node:http) or 10 idle seconds: a request could meet the end of it. */
const AGENT = new Agent({ keepAlive: true, timeout: 4_000 });

interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Whether a response with this content type goes on without end. */
export const isOfStream = (type: string): boolean =>
  type === 'text/event-stream' || type === 'application/x-ndjson';

/** Exchanges a request for its response as `fetch` does, for a fraction of its time. A stream is only opened: it would not end. What is no JSON is left out. */
function exchange(url: string, method: string, { headers, body }: SentRequest): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { method, agent: AGENT, headers: { ...SENT_BY_FETCH, ...length, ...headers } };
    const sent = request(url, options, (response) => {
      const received = new Headers();
      for (let at = 0; at < response.rawHeaders.length; at += 2)
        received.append(response.rawHeaders[at] ?? '', response.rawHeaders[at + 1] ?? '');
      const status = response.statusCode ?? 0;
      const type = received.get('content-type') ?? '';
      if (isOfStream(type)) {
        response.destroy();
        return resolve({ status, headers: received, body: undefined });
      }
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        try {
          const text = decoded(Buffer.concat(chunks), received.get('content-encoding'));
          const isRead = text !== '' && type.includes('json');
          resolve({ status, headers: received, body: isRead ? JSON.parse(text) : undefined });
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Headers of each request of `fetch`. */
const SENT_BY_FETCH = { accept: '*/*', 'accept-encoding': 'gzip, deflate', 'user-agent': 'node' };

function decoded(body: Buffer, coding: string | null): string {
  return (coding === 'gzip' && body.byteLength > 0 ? gunzipSync(body) : body).toString();
}

/** Calls below `prefix`. A body that is a string or bytes is sent as it is, anything else as JSON. */
export function caller(origin: string, prefix = '/api/admin'): Call {
  return async (method, path, body, { token = ADMIN_TOKEN, headers = {} } = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await exchange(`${origin}${prefix}${path}`, method, {
      headers: {
        ...(token === null ? {} : { authorization: token }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : isRaw ? (body as string | Uint8Array) : JSON.stringify(body),
    });
    if (!isOfStream(response.headers.get('content-type') ?? ''))
      for (const observe of observers) observe(method, prefix + path, response);
    return response;
  };
}

export interface TestServer {
  readonly server: Server;
  readonly folder: string;
  readonly origin: string;
  readonly call: Call;
  /** For another surface than the administrative interface. */
  callBelow(prefix: string): Call;
  /** Stops cleanly and starts again on the same folder; `meanwhile` runs in between. */
  restart(meanwhile?: () => void): Promise<void>;
  stop(): Promise<void>;
}

/** Hashed in no time. */
const CHEAP_PASSWORDS = { ln: 1, r: 1, p: 1 } as const;

export interface TestServerOptions {
  readonly passwordCost?: Setup['passwordCost'];
  readonly env?: Readonly<Record<string, string>>;
  readonly store?: NodeOptions['store'];
  /** Silent unless given. */
  readonly log?: Log;
  /** Kept at the end when given. */
  readonly folder?: string;
  /** Further add-ons, made at each start. */
  readonly more?: () => ConfiguredAddon;
  /** Told why the server wants its process to end; thrown unless given. */
  readonly stop?: (error: Error) => void;
}

export function testConfig(folder: string, env: Readonly<Record<string, string>> = {}): Config {
  return readConfig({
    HTTP_HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: folder,
    INIT_ADMIN_API_TOKENS: ADMIN_TOKEN,
    LOG_LEVEL: 'silent',
    ...env,
  });
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? temporaryFolder();
  const { env = {}, log = createLog('silent') } = options;
  const start = async (): Promise<Server> => {
    // A test may have changed the settings since the last start.
    const config = testConfig(folder, env);
    return startServer({
      ...{ config, log },
      addons: [
        ...(await configureAddons(env, config, log, options.passwordCost ?? CHEAP_PASSWORDS)),
        ...(options.more === undefined ? [] : [options.more()]),
      ],
      stop:
        options.stop ??
        ((error) => {
          throw error;
        }),
      announceToken: async () => undefined,
      ...(options.store === undefined ? {} : { store: options.store }),
    });
  };
  let server = await start();
  let isRunning = true;
  const origin = (): string => `http://127.0.0.1:${server.port}`;
  return {
    get server() {
      return server;
    },
    folder,
    get origin() {
      return origin();
    },
    call: (...call) => caller(origin())(...call),
    callBelow: (prefix) => caller(origin(), prefix),
    async restart(meanwhile) {
      await server.close();
      meanwhile?.();
      server = await start();
    },
    async stop() {
      if (!isRunning) return;
      isRunning = false;
      await server.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Closable = { close(): unknown } | { stop(): unknown } | { kill(): unknown };

const closing = async (one: Closable): Promise<void> => {
  await ('close' in one ? one.close() : 'stop' in one ? one.stop() : one.kill());
};

export type Test = Pick<TestContext, 'after'>;

const opened = new WeakMap<Test, Closable[]>();

/** Closes it when the test ends, or fails: what is left open would keep the process. What was opened last is closed first. */
export function closedAfter<T extends Closable>(t: Test, one: T): T {
  const all = opened.get(t) ?? [];
  if (all.length === 0) {
    opened.set(t, all);
    t.after(async () => {
      for (const last of all.toReversed()) await closing(last);
    });
  }
  all.push(one);
  return one;
}

/** A server that runs until the end of a test. */
export async function serverFor(t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  return closedAfter(t, await startTestServer(options));
}

/** A suite with a server of its own. */
export function describeInterface(
  name: string,
  suite: (server: () => TestServer) => void,
  options: TestServerOptions = {},
): void {
  describe(name, () => {
    let running: TestServer | undefined;
    before(async () => {
      running = await startTestServer(options);
    });
    after(() => running?.stop());
    suite(() => {
      if (running === undefined) throw new Error('the server has not started yet');
      return running;
    });
  });
}

/** The suite over every HTTP engine: for what a transport can do wrong, and `node:http` has to do alike. */
export function describeEngines(name: string, suite: (server: () => TestServer) => void): void {
  for (const engine of ENGINES)
    describeInterface(`${name} (${engine})`, suite, { env: { HTTP_ENGINE: engine } });
}

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly call: Call;
  /** The text that it wrote so far, on both streams. */
  output(): string;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and waits; the exit code. */
  terminate(): Promise<number | null>;
}

/** `npm start` without npm: a process that listens before this resolves. `checkout`: the folder of the source to run, which nobody has compiled. */
export async function spawnServer(
  folder: string,
  env: Readonly<Record<string, string>> = {},
  checkout = ROOT_FOLDER,
): Promise<ServerProcess> {
  const program =
    checkout === ROOT_FOLDER ? nodeArguments('src/main.ts') : ['--import', 'tsx', 'src/main.ts'];
  const child = spawn(process.execPath, program, {
    cwd: checkout,
    env: {
      PATH: process.env.PATH,
      HTTP_HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: folder,
      INIT_ADMIN_API_TOKENS: ADMIN_TOKEN,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = once(child, 'exit');
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const listening = /"port":([0-9]+)/.exec(output);
      if (listening !== null) resolve(Number(listening[1]));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  const origin = `http://127.0.0.1:${port}`;
  return {
    child,
    origin,
    call: caller(origin),
    output: () => output,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async terminate() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

/** A process that runs until the end of a test. */
export const processFor = async (
  t: Test,
  ...options: Parameters<typeof spawnServer>
): Promise<ServerProcess> => closedAfter(t, await spawnServer(...options));

/** Memory of the process that is in use, from the kernel. */
export function residentBytes({ child }: ServerProcess): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}
