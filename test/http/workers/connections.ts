/** Connections of their own, one for each client: the first goes to the first worker, the second to the second, and so on. */
import { Agent, request } from 'node:http';
import { ADMIN_TOKEN } from '../../support/server.ts';

export interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

export interface Asking {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** How often each request had each status: `GET /admin/projects 200`. */
export const tally = new Map<string, number>();

export class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** `path` is below `/api`. */
  ask(
    path: string,
    { method = 'GET', token = ADMIN_TOKEN, headers = {}, body }: Asking = {},
  ): Promise<Answer> {
    const sent = body === undefined ? '' : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      request(
        `${this.#origin}/api${path}`,
        {
          method,
          agent: this.#agent,
          headers: {
            authorization: token,
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
            ...headers,
          },
        },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(pieces);
            const what = `${method} ${path} ${response.statusCode}`;
            tally.set(what, (tally.get(what) ?? 0) + 1);
            const isJson = text.length > 0 && response.headers['content-encoding'] === undefined;
            resolve({
              status: response.statusCode ?? 0,
              etag: response.headers.etag ?? '',
              headers: response.headers,
              body: isJson ? JSON.parse(text.toString()) : text,
            });
          });
        },
      )
        .on('error', reject)
        .end(sent);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
