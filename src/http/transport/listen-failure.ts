/**
 * Finds the reason why listening on an address failed. uWebSockets.js gives no reason, so node:net tries the same and
 * gives its error.
 */
import { createServer, isIPv6 } from 'node:net';

const BUSY = 'EADDRINUSE';

const ADVICE = new Map([
  [BUSY, 'another process listens there; stop it, or choose another port'],
  ['EACCES', 'this user may not listen on that port; choose one above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; check the host setting'],
  ['ENOTFOUND', 'that host name is unknown; check the host setting'],
  ['EAI_AGAIN', 'that host name cannot be looked up; check the host setting'],
]);

/** The server cannot listen on the address of its settings. The message is everything that an operator needs. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  /** Another process has the port and may give it up. Otherwise the settings cannot be used on this machine. */
  readonly isBusy: boolean;

  constructor(host: string, port: number, cause: Error | null) {
    const code = cause !== null && 'code' in cause ? String(cause.code) : '';
    const why = ADVICE.get(code) ?? cause?.message ?? 'the operating system does not say why; try again';
    super(`Cannot listen on ${originOf(host, port)}: ${why}.`, { cause });
    this.isBusy = code === BUSY;
  }
}

export async function explainListenFailure(host: string, port: number): Promise<ListenError> {
  const cause = await new Promise<Error | null>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
  return new ListenError(host, port, cause);
}

/**
 * The origin at which a server listens, in a form that browsers accept: `http://0.0.0.0:4242`, and with an IPv6
 * address `http://[::1]:4242`.
 */
export function originOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
