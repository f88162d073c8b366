/**
 * An operation: requests that are sent again and again. They are made into the bytes of HTTP/1.1 requests once, and
 * every load generator sends these same bytes; so what differs between two runs is the server alone.
 */
import { writeFileSync } from 'node:fs';
import type { Target } from '../measurement.ts';

export interface Request {
  readonly method: string;
  /** Below `surface`. */
  readonly path: string;
  /** Absent: `/api/admin`. */
  readonly surface?: string;
  /** Further ones, or others in place of those that every request has, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Stands in a body, or a path, for a number that no other request of any run has. As long as what takes its place, so that the
 * Content-Length holds for all of them.
 */
export const UNIQUE = '<unique-num>';

export interface Operation {
  /** Sent in turn, the first again after the last. */
  readonly requests: readonly Request[];
}

export function toggles(paths: readonly string[]): Request[] {
  const post = (position: string): Request[] =>
    paths.map((path) => ({ method: 'POST', path: `${path}/${position}` }));
  // All on, then all off: each request changes something, however many are under way at once.
  return [...post('on'), ...post('off')];
}

export function pathOf({ basePath }: Target, { surface = '/api/admin', path }: Request): string {
  return basePath + surface + path;
}

/** Without those that frame the message. */
export function headersOf({ token }: Target, { body, headers }: Request): Record<string, string> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return { authorization: token, ...type, ...headers };
}

export function rawRequest(target: Target, request: Request): string {
  const { method } = request;
  const body = request.body === undefined ? '' : JSON.stringify(request.body);
  const head = [
    `${method} ${pathOf(target, request)} HTTP/1.1`,
    `host: ${new URL(target.origin).host}`,
    ...Object.entries(headersOf(target, request)).map(([name, value]) => `${name}: ${value}`),
    ...(method === 'GET' ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** The number from which the last run counted. A peer keeps what earlier runs created, so they follow the clock. */
let lastBase = 0;
const NUMBERS_PER_RUN = 1_000_000;

export function uniqueBase(): number {
  const byClock = (Math.floor(Date.now() / 1000) % 1_000_000) * NUMBERS_PER_RUN;
  lastBase = Math.max(byClock, lastBase + NUMBERS_PER_RUN);
  return lastBase;
}

export function fillUnique(text: string, number: number): string {
  return text.replace(UNIQUE, String(number).padStart(UNIQUE.length, '0'));
}

/** The operation as a file that load generators in other processes read: for each request, length, line feed, bytes. */
export function writeRequestFile(path: string, target: Target, { requests }: Operation): void {
  const records = requests.map((request) => {
    const raw = rawRequest(target, request);
    return `${Buffer.byteLength(raw)}\n${raw}`;
  });
  writeFileSync(path, records.join(''));
}

export function parseRequestFile(bytes: Buffer): string[] {
  const requests: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\n', at);
    const length = Number(bytes.subarray(at, lineEnd).toString());
    at = lineEnd + 1 + length;
    requests.push(bytes.subarray(lineEnd + 1, at).toString());
  }
  return requests;
}
