/** The server's end of the control channel (control-protocol.ts). */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Store } from '../actors/store.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { paddedId } from '../persistence/journal/segment.ts';
import { SNAPSHOT_SUFFIX } from '../persistence/snapshots/snapshot-format.ts';
import {
  type ControlCommand,
  type ControlledAddon,
  type ControlResults,
  type ControlSnapshot,
  SOCKET_FILE_NAME,
  socketPath,
} from './control-protocol.ts';

/** Operators are few; more connections than this are a mistake, and would hold file descriptors. */
const CONNECTIONS_MAX = 16;

/** A client sends its request at once; one that does not is let go. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Milliseconds between two checks for clients that are too slow. */
const TIMEOUT_CHECK_MS = 1_000;

/** Bytes of the request line and headers together; those of `curl` have about a hundred. */
const HEAD_BYTES_MAX = 8 * 1024;

export type ControlHandlers = { readonly [C in ControlCommand]: () => Promise<ControlResults[C]> } & Readonly<
  Record<string, () => Promise<object>>
>;

export interface ControlLog {
  warn(details: object, message: string): void;
}

export interface ControlServerOptions {
  /** The data folder, whose lock the caller holds. */
  readonly folder: string;
  readonly handlers: ControlHandlers;
  readonly log: ControlLog;
}

export interface ControlServer {
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** A channel that cannot be opened is warned about and done without: the server's work does not depend on it. */
export async function openControl(options: ControlServerOptions): Promise<ControlServer> {
  const path = socketPath(options.folder);
  if (path === null) {
    const message =
      'The path of the data folder is too long for a control socket: "flagstaff snapshot" cannot reach this server.';
    // Operators, of "The path of the data folder is too long for a control socket, …": look at `err`; commands cannot reach this server
    options.log.warn({ folder: options.folder }, message);
    return { close: async () => undefined };
  }
  try {
    rmSync(join(options.folder, SOCKET_FILE_NAME), { force: true });
    return await listen(path, options);
  } catch (error) {
    // Operators: look at `err`; commands cannot reach this server
    options.log.warn({ err: error, path }, 'The control socket could not be opened.');
    return { close: async () => undefined };
  }
}

async function listen(path: string, options: ControlServerOptions): Promise<ControlServer> {
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  });
  server.maxConnections = CONNECTIONS_MAX;
  const underWay = new Set<Promise<void>>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const done = respond(request, response, options).finally(() => underWay.delete(done));
    underWay.add(done);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Bound within this call, so that nobody connects before the mode below is set.
    server.listen(path, resolve);
    if (server.listening) chmodSync(path, 0o600);
  });
  // Without a listener, running out of file descriptors while accepting would end the process.
  // Operators: look at `err`
  server.on('error', (error) => options.log.warn({ err: error, path }, 'A control connection failed.'));
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.all(underWay);
      // A client that keeps its end open, before its request or after its response, must not hold up a stop.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Resolves when the response is in the kernel's hands, or its client is gone. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: ControlServerOptions,
): Promise<void> {
  const { status, body } = await carryOut(request, options);
  const text = `${JSON.stringify(body)}\n`;
  const length = Buffer.byteLength(text);
  const headers = { 'content-type': 'application/json', 'content-length': length, connection: 'close' };
  response.writeHead(status, headers);
  await new Promise<void>((resolve) => {
    response.on('close', resolve).end(text, resolve);
  });
}

interface Outcome {
  readonly status: number;
  readonly body: unknown;
}

/** Carries out a command. No command has a body, so bodies are not read. */
async function carryOut(
  { method, url = '' }: IncomingMessage,
  { handlers, log }: ControlServerOptions,
): Promise<Outcome> {
  const command = url.slice(1);
  if (!Object.hasOwn(handlers, command)) {
    const known = Object.keys(handlers).join(', ');
    return { status: 404, body: { message: `The path names no command; the server knows ${known}.` } };
  }
  if (method !== 'POST') {
    return { status: 405, body: { message: `A command is sent by POST, not by ${method}.` } };
  }
  try {
    return { status: 200, body: await handlers[command]!() };
  } catch (error) {
    // Operators: look at `err`
    log.warn({ err: error, command }, 'A control request failed.');
    return { status: 500, body: { message: error instanceof Error ? error.message : String(error) } };
  }
}

// The requests that the control channel offers for an open data folder.

interface ControlledStore {
  readonly store: Store;
  readonly addons: readonly ControlledAddon[];
  readonly folder: string;
  readonly fs: FileSystem;
  /** Resolves with the secret of the new token. */
  createAdminToken(): Promise<string>;
}

export function controlHandlers({
  store,
  addons,
  folder,
  fs,
  createAdminToken,
}: ControlledStore): ControlHandlers {
  const { engine } = store;
  return {
    status: async () => ({
      pid: process.pid,
      lastId: engine.lastId,
      durableId: engine.durableId,
      addons: addons.flatMap(({ status }) => status?.() ?? []),
    }),
    flush: async () => {
      await engine.journal.flush();
      return { durableId: engine.durableId };
    },
    snapshot: async () => {
      const taken = await store.keeper.take();
      if (taken === null) return newestSnapshot(fs, folder, store.keeper.newestId);
      const { id, path, bytes, durationMs } = taken;
      return { taken: true, id, path, bytes, durationMs };
    },
    'create-admin-token': async () => ({ secret: await createAdminToken() }),
    ...Object.assign({}, ...addons.map(({ control }) => control)),
  };
}

async function newestSnapshot(fs: FileSystem, folder: string, id: number): Promise<ControlSnapshot> {
  if (id === 0) throw new Error('There is nothing to take a snapshot of: no event has been recorded yet.');
  const path = join(dataFolder(folder).snapshots, `${paddedId(id)}${SNAPSHOT_SUFFIX}`);
  const file = await fs.open(path, 'read');
  try {
    return { taken: false, id, path, bytes: await file.size(), durationMs: 0 };
  } finally {
    await file.close();
  }
}
