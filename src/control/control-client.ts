/** The client of the control channel, which the commands use. */
import { connect } from 'node:net';
import {
  CONTROL_LINE_BYTES_MAX,
  type ControlCommand,
  type ControlResponse,
  type ControlResults,
  socketPath,
} from './control-protocol.ts';

/** The server understood the request and could not carry it out. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}

/**
 * Sends a request to the server that has the folder open; null when there is none. There is no deadline, because a
 * snapshot may take long, and a server that ends closes the connection.
 */
export async function askServer<C extends ControlCommand>(
  folder: string,
  command: C,
): Promise<ControlResults[C] | null> {
  const path = socketPath(folder);
  const line = path === null ? null : await exchange(path, `${JSON.stringify({ command })}\n`);
  if (line === null) return null;
  if (line === '') throw new ControlError('The server closed the connection without a response.');
  const response = JSON.parse(line) as ControlResponse<C>;
  if (response.ok) return response.result;
  throw new ControlError(response.error);
}

/** Error codes that mean that there is no server: no such file, nobody listens, or not a socket. */
const NOBODY_THERE = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR']);

function exchange(path: string, request: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let received = '';
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.end(request));
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (received.length > CONTROL_LINE_BYTES_MAX) {
        socket.destroy(new ControlError('The response of the server is too long.'));
      }
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (NOBODY_THERE.has(error.code ?? '')) resolve(null);
      else reject(error);
    });
    socket.on('close', () => resolve(received.trimEnd()));
  });
}
