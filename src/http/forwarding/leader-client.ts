/**
 * Hands writes on to the node that leads, with all that its decision depends on: credentials, preconditions, the
 * idempotency key and the body, byte by byte. The leader authenticates the caller itself, so a follower needs no rights.
 *
 * One hop only: a request that was handed on is never handed on again, so that two nodes that take each other for the
 * leader do not send it to and fro.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';

/** Of a request that a follower hands on; its value is the follower's name. */
export const FORWARDED_HEADER = 'flagstaff-forwarded-by';

/** What the leader decides by, and what its logs and traces tell. */
const REQUEST_HEADERS = [
  'authorization',
  'cookie',
  'sec-fetch-site',
  'content-type',
  'content-encoding',
  'accept',
  'if-match',
  'if-none-match',
  'idempotency-key',
  'x-request-id',
  'user-agent',
  'traceparent',
  'tracestate',
] as const;

/** Those of one connection, those that depend on who asked, and those that the transport writes. */
const DROPPED_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'date',
  'server',
  'x-request-id',
]);

/** Connections to the leader; more writes wait for one of them. */
const CONNECTIONS_MAX = 64;

/** Protects memory; the largest response to a write is a flag with all that it may hold. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

const LOOP = refuse(
  'ServiceUnavailableError',
  'The request was handed on to this node, which does not lead; send it again in a moment.',
);
const NO_LEADER = refuse(
  'ServiceUnavailableError',
  'No node of the cluster takes writes at the moment; send it again in a moment.',
);
const UNREACHABLE = refuse(
  'ServiceUnavailableError',
  'The node that takes writes cannot be reached; nothing was done. Send it again in a moment.',
);
const UNKNOWN = refuse(
  'ServiceUnavailableError',
  'The connection to the node that takes writes ended before its response: the change may have happened. Send it again with the same Idempotency-Key, or read before you send it again.',
);

export interface LeaderClientOptions {
  /** Of this node. */
  readonly node: string;
  /** Where the leader is reached, such as `http://flags-1:4242`; null while none is known. */
  leaderAddress(): string | null;
}

export class LeaderClient {
  readonly #options: LeaderClientOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  readonly #secureAgent = new SecureAgent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });

  constructor(options: LeaderClientOptions) {
    this.#options = options;
  }

  /** Rejects only when `signal` is aborted. */
  async forward(request: TransportRequest, signal: AbortSignal): Promise<HttpResponse | Refusal> {
    if (request.header(FORWARDED_HEADER) !== '') return LOOP;
    const address = this.#options.leaderAddress();
    return address === null ? NO_LEADER : this.#send(address, request, signal);
  }

  close(): void {
    this.#agent.destroy();
    this.#secureAgent.destroy();
  }

  #send(address: string, request: TransportRequest, signal: AbortSignal): Promise<HttpResponse | Refusal> {
    const url = new URL(request.query === '' ? request.path : `${request.path}?${request.query}`, address);
    const isSecure = url.protocol === 'https:';
    const options = {
      ...{ method: request.method, headers: this.#headersOf(request), signal },
      agent: isSecure ? this.#secureAgent : this.#agent,
    };
    return new Promise((resolve, reject) => {
      let isConnected = false;
      const sent = isSecure ? httpsRequest(url, options) : httpRequest(url, options);
      sent
        .on('socket', (socket) => {
          isConnected = !socket.connecting;
          socket.once(isSecure ? 'secureConnect' : 'connect', () => {
            isConnected = true;
          });
        })
        .on('response', (response) => {
          received(response).then(resolve, () => resolve(UNKNOWN));
        })
        .on('error', () => {
          if (signal.aborted) reject(signal.reason);
          else resolve(isConnected ? UNKNOWN : UNREACHABLE);
        })
        .end(request.body);
    });
  }

  #headersOf(request: TransportRequest): Record<string, string | number> {
    const headers: Record<string, string | number> = { [FORWARDED_HEADER]: this.#options.node };
    for (const name of REQUEST_HEADERS) {
      const value = request.header(name);
      if (value !== '') headers[name] = value;
    }
    if (request.hasBody) headers['content-length'] = request.body.length;
    return headers;
  }
}

/** Rejects when the response ends too early, or is longer than any response to a write. */
async function received(response: IncomingMessage): Promise<HttpResponse> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > RESPONSE_BYTES_MAX) throw new Error('the response is longer than any response to a write');
    pieces.push(piece);
  }
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(response.headers)) {
    const isKept =
      !DROPPED_RESPONSE_HEADERS.has(name) && !name.startsWith('access-control-') && name !== 'vary';
    if (isKept && typeof value === 'string') pairs.push(name, value);
  }
  const headers = ResponseHeaders.of(...pairs);
  return { status: response.statusCode ?? 502, headers, body: length === 0 ? null : Buffer.concat(pieces) };
}
