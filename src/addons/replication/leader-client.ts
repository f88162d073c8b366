/**
 * Hands writes on to the node that leads, with all that its decision depends on: credentials, preconditions, the
 * idempotency key and the body, byte by byte. The leader authenticates the caller itself, so a follower needs no rights.
 *
 * One hop only: a request that was handed on is never handed on again, so that two nodes that take each other for the
 * leader do not send it to and fro.
 */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { ResponseHeaders } from '../../http/transport/response.ts';
import type { HttpResponse, TransportRequest } from '../../http/transport/transport.ts';

/** The header of a request that a follower hands on; its value is the follower's name. */
export const FORWARDED_HEADER = 'flagstaff-forwarded-by';

/** The header by which the leader recognizes a follower, and so trusts its word about the caller. */
export const HOP_KEY_HEADER = 'flagstaff-hop-key';

/** The headers that the leader needs for its decision, its logs and its traces. */
const REQUEST_HEADERS = [
  'authorization',
  'cookie',
  'origin',
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

/** Headers of one connection, headers that depend on who asked, and headers that the transport writes. */
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

/** Below the time after which a server closes a silent connection, which a write may otherwise be sent on just then. */
const IDLE_MS = 5_000;

/** Protects memory; the largest response to a write is a flag with all that it may hold. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

/** Bodies on their way to the leader and responses on their way back, over all requests. Protects memory while it does not respond. */
export const FORWARDED_BYTES_MAX = 128 * 1024 * 1024;

/** Requests under way. Each holds little but its body, and a client that waits. */
export const FORWARDED_MAX = 2_000;

/** How often is asked whether the node that a request was sent to leads still. */
const LOOK_MS = 1_000;

/** After so many looks that find it not leading, it has had the time to send its last responses. */
const LOOKS_MAX = 2;

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
const TOO_MANY = refuse(
  'ServiceUnavailableError',
  'Too many changes wait for the node that takes writes; nothing was done. Send it again in a moment.',
);
const UNKNOWN = refuse(
  'ServiceUnavailableError',
  'The connection to the node that takes writes ended before its response: the change may have happened. Send it again with the same Idempotency-Key, or read before you send it again.',
);

export interface LeaderClientOptions {
  readonly node: string;
  readonly hopKey: string;
  /** The leader's address, such as `http://flags-1:4242`; null while none is known. */
  leaderAddress(): string | null;
}

interface UnderWay {
  readonly address: string;
  readonly give: (refusal: Refusal) => void;
  looks: number;
}

export class LeaderClient {
  readonly #options: LeaderClientOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: IDLE_MS });
  readonly #secureAgent = new SecureAgent({ keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: IDLE_MS });
  readonly #underWay = new Set<UnderWay>();
  #heldBytes = 0;
  #looking: NodeJS.Timeout | null = null;

  constructor(options: LeaderClientOptions) {
    this.#options = options;
  }

  /** Rejects only when `signal` is aborted. */
  async forward(request: TransportRequest, signal: AbortSignal): Promise<HttpResponse | Refusal> {
    if (request.header(FORWARDED_HEADER) !== '') return LOOP;
    const address = this.#options.leaderAddress();
    if (address === null) return NO_LEADER;
    const bytes = request.body.byteLength;
    if (this.#underWay.size >= FORWARDED_MAX || this.#heldBytes + bytes > FORWARDED_BYTES_MAX)
      return TOO_MANY;
    this.#heldBytes += bytes;
    try {
      return await this.#send(address, request, signal);
    } finally {
      this.#heldBytes -= bytes;
    }
  }

  close(): void {
    if (this.#looking !== null) clearInterval(this.#looking);
    for (const underWay of this.#underWay) underWay.give(UNKNOWN);
    this.#agent.destroy();
    this.#secureAgent.destroy();
  }

  #send(address: string, request: TransportRequest, signal: AbortSignal): Promise<HttpResponse | Refusal> {
    return new Promise<HttpResponse | Refusal>((resolve, reject) => {
      const underWay: UnderWay = {
        address,
        looks: 0,
        give: (refusal) => {
          done();
          resolve(refusal);
          sent.destroy();
        },
      };
      const done = (): void => void this.#underWay.delete(underWay);
      this.#underWay.add(underWay);
      this.#looking ??= setInterval(() => this.#look(), LOOK_MS).unref();
      let isConnected = false;
      const sent = this.#request(address, request, signal);
      sent
        .on('socket', (socket) => {
          isConnected = !socket.connecting;
          // A connection that is used again would gather listeners.
          if (isConnected) return;
          socket.once(address.startsWith('https:') ? 'secureConnect' : 'connect', () => {
            isConnected = true;
          });
        })
        .on('response', (response) => {
          this.#receive(response)
            .then(resolve, () => resolve(UNKNOWN))
            .finally(done);
        })
        .on('error', () => {
          done();
          if (signal.aborted) reject(signal.reason);
          else resolve(isConnected ? UNKNOWN : UNREACHABLE);
        })
        .end(request.body);
    });
  }

  /** Path and query are forwarded as they came: a URL object would rewrite some of them. */
  #request(address: string, request: TransportRequest, signal: AbortSignal): ClientRequest {
    const { query, path, method } = request;
    const url = new URL(address);
    const isSecure = url.protocol === 'https:';
    const options = {
      ...urlToHttpOptions(url),
      path: query === '' ? path : `${path}?${query}`,
      ...{ method, headers: this.#headersOf(request), signal },
      agent: isSecure ? this.#secureAgent : this.#agent,
    };
    return isSecure ? httpsRequest(options) : httpRequest(options);
  }

  /** A node that was deposed while it stood still, or is cut off, would let its callers wait until their deadline. */
  #look(): void {
    const address = this.#options.leaderAddress();
    for (const underWay of this.#underWay) {
      underWay.looks = underWay.address === address ? 0 : underWay.looks + 1;
      if (underWay.looks >= LOOKS_MAX) underWay.give(UNKNOWN);
    }
    if (this.#underWay.size > 0 || this.#looking === null) return;
    clearInterval(this.#looking);
    this.#looking = null;
  }

  /** Rejects when the response ends too early, or is longer than there is room for. */
  async #receive(response: IncomingMessage): Promise<HttpResponse> {
    const pieces: Buffer[] = [];
    let length = 0;
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        length += piece.length;
        this.#heldBytes += piece.length;
        if (length > RESPONSE_BYTES_MAX || this.#heldBytes > FORWARDED_BYTES_MAX)
          throw new Error('the response is longer than there is room for');
        pieces.push(piece);
      }
      return responseOf(response, pieces);
    } finally {
      this.#heldBytes -= length;
    }
  }

  #headersOf(request: TransportRequest): Record<string, string | number> {
    const { node, hopKey } = this.#options;
    const headers: Record<string, string | number> = { [FORWARDED_HEADER]: node, [HOP_KEY_HEADER]: hopKey };
    for (const name of REQUEST_HEADERS) {
      const value = request.header(name);
      if (value !== '') headers[name] = value;
    }
    // The leader counts by the address, and the host begins the links that it makes.
    headers['x-forwarded-for'] = request.remoteAddress();
    headers['x-forwarded-host'] = request.host();
    // This node found the page to be its own, as a leader that does not know this node cannot.
    if (headers['origin'] !== undefined) headers['sec-fetch-site'] ??= 'same-origin';
    if (request.hasBody) headers['content-length'] = request.body.length;
    return headers;
  }
}

function responseOf(response: IncomingMessage, pieces: readonly Buffer[]): HttpResponse {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(response.headers)) {
    const isKept =
      !DROPPED_RESPONSE_HEADERS.has(name) && !name.startsWith('access-control-') && name !== 'vary';
    // Only Set-Cookie is a list.
    if (isKept) for (const one of [value ?? []].flat()) pairs.push(name, one);
  }
  const headers = ResponseHeaders.of(...pairs);
  const body = pieces.length === 0 ? null : Buffer.concat(pieces);
  return { status: response.statusCode ?? 502, headers, body };
}
