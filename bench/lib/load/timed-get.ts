/** One request on a connection that is kept, and how long until its last byte. `fetch` would cost more than it measures. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Target } from '../measurement.ts';
import type { Request } from './operation.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export async function timedMs(target: Target, asked: Request): Promise<number> {
  const { ms, status } = await timedResponse(target, asked);
  if (status >= 300) throw new Error(`${asked.method} ${asked.path} → ${status}`);
  return ms;
}

/** The same for a request that may be refused. */
export async function timedResponse(
  target: Target,
  { method, path, body, headers }: Request,
): Promise<{ readonly ms: number; readonly status: number }> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const startedAt = performance.now();
  const sent = request(`${target.origin}${target.basePath}/api/admin${path}`, {
    agent,
    method,
    headers: {
      authorization: target.token,
      ...(text === '' ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'content-length': Buffer.byteLength(text) }),
      ...headers,
    },
  });
  sent.end(text);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return { ms: performance.now() - startedAt, status: response.statusCode ?? 0 };
}
