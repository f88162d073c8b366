/** One request at a time, for preparing and for looking at what a server answers. Throws on anything but a success. */
import type { Target } from '../measurement.ts';
import { fillUnique, type Request, uniqueBase } from './operation.ts';

export interface ReceivedResponse {
  readonly status: number;
  /** Flat: name, value, name, value; without those that an HTTP engine writes by itself. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const ENGINE_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive', 'uwebsockets']);

export async function request(target: Target, { method, path, body }: Request): Promise<ReceivedResponse> {
  const text = body === undefined ? null : fillUnique(JSON.stringify(body), uniqueBase());
  const response = await fetch(`${target.origin}${target.basePath}/api/admin${path}`, {
    method,
    headers: {
      authorization: target.token,
      ...(text === null ? {} : { 'content-type': 'application/json' }),
    },
    body: text,
  });
  const responseBody = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(`${target.name}: ${method} ${path} → ${response.status} ${responseBody}`);
  const headers = [...response.headers].filter(([name]) => !ENGINE_HEADERS.has(name)).flat();
  return { status: response.status, headers, body: responseBody };
}

export async function getJson<T>(target: Target, path: string): Promise<T> {
  return JSON.parse((await request(target, { method: 'GET', path })).body.toString()) as T;
}

/** Requests at once while preparing: enough for a server with group commit, few enough for any other. */
const PREPARING_AT_ONCE = 16;

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: PREPARING_AT_ONCE }, worker));
}
