/** One request on a connection that is kept, and how long until its last byte. `fetch` would cost more than it measures. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Target } from '../measurement.ts';
import type { Request } from './operation.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export async function timedMs(target: Target, { method, path, body }: Request): Promise<number> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const startedAt = performance.now();
  const sent = request(`${target.origin}${target.basePath}/api/admin${path}`, {
    agent,
    method,
    headers: {
      authorization: target.token,
      ...(text === '' ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'content-length': Buffer.byteLength(text) }),
    },
  });
  sent.end(text);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  if ((response.statusCode ?? 0) >= 300) throw new Error(`${method} ${path} → ${response.statusCode}`);
  return performance.now() - startedAt;
}
