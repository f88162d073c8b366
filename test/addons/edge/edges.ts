/** Edges for tests, and upstreams that say what a test has them say. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Edge, type EdgeOptions } from '../../../src/addons/edge/edge.ts';
import { type GivenOptions, readSettings } from '../../../src/addons/edge/settings.ts';
import { createLog } from '../../../src/process/log.ts';
import { type Call, caller, closedAfter, type Test } from '../../support/server.ts';

export interface TestEdge {
  readonly edge: Edge;
  readonly origin: string;
  call(prefix: string): Call;
  stop(): Promise<void>;
}

/** Ready when it resolves, unless it is not waited for. */
export async function startEdge(
  options: GivenOptions,
  { isWaitedFor = true, ...more }: Partial<EdgeOptions> & { readonly isWaitedFor?: boolean } = {},
): Promise<TestEdge> {
  const settings = readSettings(
    { port: '0', interface: '127.0.0.1', 'features-refresh-interval-seconds': '0.02', ...options },
    {},
  );
  const edge = new Edge({ settings, log: createLog('silent'), ...more });
  const { port } = await edge.start();
  const origin = `http://127.0.0.1:${port}`;
  if (isWaitedFor) await until(() => edge.unready === null);
  return { edge, origin, call: (prefix) => caller(origin, prefix), stop: () => edge.stop() };
}

/** An edge that runs until the end of a test. */
export const edgeFor = async (t: Test, ...options: Parameters<typeof startEdge>): Promise<TestEdge> =>
  closedAfter(t, await startEdge(...options));

/** Resolves once it is so; the runner's own timeout ends a wait in vain. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 2));
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StubUpstream {
  readonly origin: string;
  readonly received: Received[];
  /** Stops listening, and drops every connection. */
  close(): Promise<void>;
}

/**
 * Answers the validation of tokens itself: all that are `*:<environment>.<type>…` are valid. Like
 * Unleash, it does not say which environment a token is of.
 */
export async function startStub(
  respond: (request: Received, response: ServerResponse) => void,
  {
    port = 0,
    refused = new Set<string>(),
    tls = null,
  }: {
    readonly port?: number;
    readonly refused?: ReadonlySet<string>;
    readonly tls?: ServerOptions | null;
  } = {},
): Promise<StubUpstream> {
  const received: Received[] = [];
  const listen = (message: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method = '', url: path = '', headers } = message;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      received.push(request);
      if (path === '/edge/validate') response.end(JSON.stringify({ tokens: validIn(request.body, refused) }));
      else respond(request, response);
    });
  };
  const server = tls === null ? createServer(listen) : createSecureServer(tls, listen);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `${tls === null ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An upstream that is there until the end of a test. */
export const stubFor = async (t: Test, ...options: Parameters<typeof startStub>): Promise<StubUpstream> =>
  closedAfter(t, await startStub(...options));

function validIn(body: string, refused: ReadonlySet<string>): readonly object[] {
  return (JSON.parse(body) as { tokens: string[] }).tokens.flatMap((token) => {
    const [, project, type] = /^([^:]+):[^.]+\.(client|frontend)/.exec(token) ?? [];
    if (project === undefined || refused.has(token)) return [];
    return [{ token, type, projects: [project] }];
  });
}

/** An upstream that has only whole documents, as an open-source Unleash. */
export function documents(documentNow: () => object): (request: Received, response: ServerResponse) => void {
  return ({ path }, response) => {
    if (path !== '/api/client/features') {
      response.statusCode = path.startsWith('/api/client/metrics') ? 202 : 404;
      return void response.end('{}');
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(documentNow()));
  };
}

/** An upstream that has only whole documents, until the end of a test. */
export const documentStub = (
  t: Test,
  documentNow: () => object,
  options?: Parameters<typeof startStub>[1],
): Promise<StubUpstream> => stubFor(t, documents(documentNow), options);

export const CLIENT = '*:development.client-secret';
export const FRONTEND = '*:development.frontend-secret';

export const flag = (name: string, more: object = {}): object => ({
  ...{ name, enabled: true, project: 'default', type: 'release', stale: false, variants: [] },
  ...{ strategies: [{ name: 'default', parameters: {}, constraints: [] }] },
  ...more,
});
