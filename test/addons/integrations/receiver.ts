/** A receiver of deliveries for tests: an HTTP server on the loopback that records what comes. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Destinations } from '../../../src/addons/integrations/addresses.ts';

export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** Connections that were accepted, whatever came over them. */
  connections(): number;
}

export type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const respondOk: Respond = (_request, response) => void response.end('ok');

export async function startReceiver(
  test: Pick<TestContext, 'after'>,
  respond: Respond = respondOk,
  host = '127.0.0.1',
): Promise<Receiver> {
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => respond(request, response, Buffer.concat(chunks).toString()));
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, host);
  await once(server, 'listening');
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const written = host.includes(':') ? `[${host}]` : host;
  return { port, url: `http://${written}:${port}/`, connections: () => connections };
}

/** Names that lead to these addresses, whatever DNS says. */
export const leadingTo = (
  addresses: readonly string[],
  privateHosts: readonly string[] = [],
): Destinations => ({
  privateHosts: new Set(privateHosts),
  resolvePublic: async () => addresses,
  resolveListed: async () => addresses,
});

export const LOOPBACK_ALLOWED = leadingTo(['127.0.0.1'], ['127.0.0.1', 'localhost']);
