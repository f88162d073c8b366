/**
 * The server's end of the control channel. Opened after the data folder's lock was taken and closed before it is
 * given back: a socket file found at the start is therefore a dead server's, and removed.
 *
 * A request that fails is answered with its message and logged; it never harms the server.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  CONTROL_LINE_BYTES_MAX,
  type ControlCommand,
  type ControlResponse,
  type ControlResults,
  SOCKET_FILE_NAME,
  socketPath,
} from './control-protocol.ts';

/** Operators are few; more connections than this are a mistake, and would hold file descriptors. */
const CONNECTIONS_MAX = 16;

/** A client sends its line at once; one that does not is let go. */
const REQUEST_TIMEOUT_MS = 5_000;

export type ControlHandlers = { readonly [C in ControlCommand]: () => Promise<ControlResults[C]> };

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
    options.log.warn({ folder: options.folder }, message);
    return { close: async () => undefined };
  }
  try {
    rmSync(join(options.folder, SOCKET_FILE_NAME), { force: true });
    return await listen(path, options);
  } catch (error) {
    options.log.warn({ err: error, path }, 'The control socket could not be opened.');
    return { close: async () => undefined };
  }
}

async function listen(path: string, options: ControlServerOptions): Promise<ControlServer> {
  const idle = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, idle, options));
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Bound within this call, so that nobody connects before the mode below is set.
    server.listen(path, resolve);
    if (server.listening) chmodSync(path, 0o600);
  });
  // Without a listener, running out of file descriptors while accepting would end the process.
  server.on('error', (error) => options.log.warn({ err: error, path }, 'A control connection failed.'));
  return { close: () => close(server, idle) };
}

/** A client that keeps its end open, before its request or after its response, must not hold up a stop. */
function close(server: Server, idle: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of idle) socket.destroy();
  });
}

/** `idle` holds the connection whenever no request of it is being carried out. */
function serve(socket: Socket, idle: Set<Socket>, options: ControlServerOptions): void {
  let received = '';
  idle.add(socket);
  socket.on('close', () => idle.delete(socket));
  const response = (content: ControlResponse): void => {
    // Handed to the kernel before anything destroys the connection; the client's end may stay open for ever.
    socket.end(`${JSON.stringify(content)}\n`, () => socket.destroy());
  };
  // A client that went away is no news.
  socket.on('error', () => socket.destroy());
  socket.setTimeout(REQUEST_TIMEOUT_MS, () => {
    if (!received.includes('\n')) socket.destroy();
  });
  socket.setEncoding('utf8');
  socket.on('end', () => {
    if (!received.includes('\n')) socket.end();
  });
  socket.on('data', (chunk: string) => {
    if (received.includes('\n')) return;
    received += chunk;
    const end = received.indexOf('\n');
    if (end < 0 && received.length <= CONTROL_LINE_BYTES_MAX) return;
    if (end < 0) response({ ok: false, error: 'The request is too long.' });
    else {
      idle.delete(socket);
      void carryOut(received.slice(0, end), options).then(response);
    }
  });
}

async function carryOut(line: string, { handlers, log }: ControlServerOptions): Promise<ControlResponse> {
  const command = commandIn(line);
  if (command === null || !Object.hasOwn(handlers, command)) {
    const known = Object.keys(handlers).join(', ');
    return { ok: false, error: `The request names no command that the server knows; it knows ${known}.` };
  }
  try {
    return { ok: true, result: await handlers[command as ControlCommand]() };
  } catch (error) {
    log.warn({ err: error, command }, 'A control request failed.');
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

function commandIn(line: string): string | null {
  try {
    const request: unknown = JSON.parse(line);
    if (typeof request !== 'object' || request === null || !('command' in request)) return null;
    return typeof request.command === 'string' ? request.command : null;
  } catch {
    // Whatever it is, it is no request, and is answered as one that names no command.
    return null;
  }
}
