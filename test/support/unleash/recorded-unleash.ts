/** The recorded answers of a real Unleash, and a server that gives them. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ROOT_FOLDER } from '../server.ts';

export const RECORDED_FILE = join(ROOT_FOLDER, 'test/support/unleash/unleash-6.json');

export interface RecordedUnleash {
  readonly version: string;
  /** Bodies of GET, by their paths below `/api/admin`. */
  readonly admin: Readonly<Record<string, unknown>>;
  /** The response of `POST /features-batch/export`. */
  readonly exported: unknown;
  /** The response of `GET /api/client/features`, for production. */
  readonly client: unknown;
}

export const recordedUnleash = (): RecordedUnleash => JSON.parse(readFileSync(RECORDED_FILE, 'utf8'));

export const RECORDED_TOKEN = '*:*.recorded';

/** A client token for production. */
export const RECORDED_CLIENT_TOKEN = '*:production.recorded';

export interface PlayedUnleash {
  readonly url: string;
  /** Methods and paths of the requests so far. */
  readonly received: readonly string[];
  close(): void;
}

/** Any other token gets 401, and what was not recorded 404, as the real one answers. */
export async function playUnleash({ admin, client }: RecordedUnleash): Promise<PlayedUnleash> {
  const received: string[] = [];
  const server = createServer(({ method, url = '', headers }, response) => {
    received.push(`${method} ${url}`);
    const isClient = url.startsWith('/api/client/');
    const known: Readonly<Record<string, unknown>> = isClient ? { '/api/client/features': client } : admin;
    const path = url.replace('/api/admin', '');
    const isAllowed = headers.authorization === (isClient ? RECORDED_CLIENT_TOKEN : RECORDED_TOKEN);
    const status = isAllowed ? (path in known ? 200 : 404) : 401;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(status === 200 ? known[path] : { name: 'Error', message: `It is a ${status}.` }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, close: () => server.close() };
}
