/** The client of the control channel, which the commands use. */
import { type IncomingMessage, request } from 'node:http';
import { type ControlResult, socketPath } from './control-protocol.ts';

/** The server understood the request and could not carry it out. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}

/** Protects the client from a peer that never ends its response; the longest real one has a few hundred bytes. */
const RESPONSE_BYTES_MAX = 64 * 1024;

/** Error codes that mean that there is no server: no such file, nobody listens, or not a socket. */
const NOBODY_THERE = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR']);

/** A server that runs responds within milliseconds, and to a flush when its disk has responded. */
export const RESPONSE_TIMEOUT_MS = 10_000;

export interface AskOptions {
  readonly timeoutMs?: number;
}

/**
 * Sends a command to the server that has the folder open; null when there is none. Throws `ControlError` when it does
 * not respond in time, because it was stopped with SIGSTOP for example. A snapshot takes as long as the state is large,
 * so it has no deadline once the server has responded to another command; a server that ends closes the connection.
 */
export async function askServer<C extends string>(
  folder: string,
  command: C,
  { timeoutMs = RESPONSE_TIMEOUT_MS }: AskOptions = {},
): Promise<ControlResult<C> | null> {
  const path = socketPath(folder);
  const isLong = command === 'snapshot';
  if (isLong && (await askServer(folder, 'status', { timeoutMs })) === null) return null;
  const response = path === null ? null : await post(path, command, isLong ? 0 : timeoutMs);
  if (response === null) return null;
  const body: unknown = JSON.parse(await textOf(response));
  if (response.statusCode === 200) return body as ControlResult<C>;
  throw new ControlError((body as { readonly message: string }).message);
}

/** `timeoutMs`: 0 for none. */
function post(socket: string, command: string, timeoutMs: number): Promise<IncomingMessage | null> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, method: 'POST', path: `/${command}`, agent: false });
    sent.setTimeout(timeoutMs, () => sent.destroy(unresponsive(socket, timeoutMs)));
    sent
      .on('response', resolve)
      .on('error', (error: NodeJS.ErrnoException) => {
        if (NOBODY_THERE.has(error.code ?? '')) resolve(null);
        else if (error.code !== 'ECONNRESET') reject(error);
        else reject(new ControlError('The server closed the connection without a response.'));
      })
      .end();
  });
}

const unresponsive = (socket: string, timeoutMs: number): ControlError =>
  new ControlError(
    `The server behind ${socket} did not respond within ${timeoutMs / 1000} seconds. It may have been stopped with SIGSTOP, or its disk may hang. Look at its process, whose id is in flagstaff.lock.`,
  );

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      if (text.length > RESPONSE_BYTES_MAX) break;
    }
  } catch (cause) {
    throw new ControlError('The response of the server ended too early.', { cause });
  }
  if (text.length > RESPONSE_BYTES_MAX) throw new ControlError('The response of the server is too long.');
  return text;
}
