/** Where a server listens, as a browser takes it: `http://0.0.0.0:4242`, and with an IPv6 address `http://[::1]:4242`. */
import { isIPv6 } from 'node:net';

export function originOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
