/**
 * Finds the reason why listening on an address failed. uWebSockets.js gives no reason, so node:net tries the same and
 * gives its error.
 */
import { createServer } from 'node:net';

const ADVICE = new Map([
  ['EADDRINUSE', 'another process listens there; stop it, or choose another port'],
  ['EACCES', 'this user may not listen on that port; choose one above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; check the host setting'],
  ['ENOTFOUND', 'that host name is unknown; check the host setting'],
  ['EAI_AGAIN', 'that host name cannot be looked up; check the host setting'],
]);

export async function explainListenFailure(host: string, port: number): Promise<Error> {
  const cause = await new Promise<Error | null>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
  return listenError(host, port, cause);
}

export function listenError(host: string, port: number, cause: Error | null): Error {
  const code = cause !== null && 'code' in cause ? String(cause.code) : '';
  const why = ADVICE.get(code) ?? cause?.message ?? 'the operating system does not say why; try again';
  return new Error(`Cannot listen on ${host}:${port}: ${why}.`, { cause });
}
