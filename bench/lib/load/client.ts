/** One request at a time, for preparing and for looking at what a server answers. Throws on anything but a success. */
import { once } from 'node:events';
import { type IncomingMessage, request as requestOverHttp } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Target } from '../measurement.ts';
import { fillUnique, headersOf, pathOf, type Request, uniqueBase } from './operation.ts';

export interface ReceivedResponse {
  readonly status: number;
  /** Flat: name, value, name, value; without those that an HTTP engine writes by itself. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const ENGINE_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive', 'uwebsockets']);

export async function request(target: Target, asked: Request): Promise<ReceivedResponse> {
  const { method, path, body } = asked;
  const text = body === undefined ? null : fillUnique(JSON.stringify(body), uniqueBase());
  const response = await fetch(target.origin + pathOf(target, asked), {
    method,
    headers: headersOf(target, asked),
    body: text,
  });
  const responseBody = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(`${target.name}: ${method} ${path} → ${response.status} ${responseBody}`);
  const headers = [...response.headers].filter(([name]) => !ENGINE_HEADERS.has(name)).flat();
  return { status: response.status, headers, body: responseBody };
}

/** A GET without anything undone that the server did: a 304 is a success, and compressed bytes stay as they are. */
export async function rawGet(target: Target, asked: Request): Promise<ReceivedResponse> {
  const sent = requestOverHttp(target.origin + pathOf(target, asked), {
    headers: headersOf(target, asked),
  }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await buffer(response);
  const { statusCode: status = 0 } = response;
  if (status >= 400) throw new Error(`${target.name}: ${asked.path} → ${status} ${body}`);
  const headers = Object.entries(response.headers).filter(([name]) => !ENGINE_HEADERS.has(name));
  return { status, headers: headers.flatMap(([name, value]) => [name, String(value)]), body };
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
