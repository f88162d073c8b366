/**
 * Requests to the upstream: what an edge reads from it, in bodies of bounded size, and what it reports to it. Each method says how the
 * upstream answered; only a connection that fails, a body that is too large or something unreadable is thrown.
 */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AgentOptions, request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { createGunzip } from 'node:zlib';
import * as v from 'valibot';
import { ownTurn } from '../../actors/turn.ts';
import { UnreadableError } from './upstream-document.ts';

/** Protects memory from an upstream that sends without end. The largest document of flags is 64 MiB. */
export const BODY_BYTES_MAX = 96 * 1024 * 1024;

/** Servers send a comment every 30 s at the latest. */
const STREAM_SILENCE_MS_MAX = 90_000;

/** Connections to the upstream beside streams, which each mirror has one of; more requests wait for one of them. */
export const CONNECTIONS_MAX = 64;

/** Below the time after which servers close a silent connection. */
const IDLE_MS = 5_000;

/** The part of the specification of SDKs that this program knows: segments come as a list, once. */
const CLIENT_SPEC = '5.2.0';

export interface UpstreamOptions {
  /** Without `/api`. */
  readonly url: string;
  readonly appName: string;
  readonly instanceId: string;
  readonly connectionId: string;
  readonly timeoutMs: number;
  /** The header in which the upstream expects tokens, in lower case. */
  readonly authHeader: string;
  /** Certificates and keys, as files; absent for those of Node. */
  readonly tls: Pick<AgentOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly etag: string;
  /** Milliseconds that the upstream asks to wait; null where it asks for nothing. */
  readonly retryAfterMs: number | null;
}

/** An event of a stream. One of the type `comment` only shows that the stream lives. */
export interface SentEvent {
  readonly type: string;
  readonly data: Buffer;
}

const TOKENS = v.object({
  tokens: v.array(
    v.object({
      token: v.string(),
      type: v.string(),
      projects: v.array(v.string()),
      environment: v.nullish(v.string()),
    }),
  ),
});

export interface ValidToken {
  readonly token: string;
  readonly type: 'client' | 'frontend';
  readonly projects: readonly string[];
  readonly environment: string;
}

/** The environment that the text of a token names, such as `production` in `*:production.secret`: Unleash says no other. */
export const environmentIn = (token: string): string =>
  token.slice(token.indexOf(':') + 1).split('.', 1)[0] ?? '';

/** The upstream did not do what was asked; trying again later may help. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  /** 0 where there was no response. */
  readonly status: number;
  /** Whether the upstream cannot have seen the request. */
  readonly isUnsent: boolean;

  constructor(status: number, message: string, isUnsent = status === 0) {
    super(message);
    this.status = status;
    this.isUnsent = isUnsent;
  }
}

interface Sending {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export class UpstreamClient {
  readonly #options: UpstreamOptions;
  readonly #base: URL;
  readonly #agent: Agent;
  /** A connection for each stream and each report: on a reused one, it is unknown whether what is sent arrives. */
  readonly #onceAgent: Agent;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#base = new URL(options.url.replace(/\/+$/, '').replace(/\/api$/, ''));
    const agentWith = (limits: AgentOptions): Agent =>
      this.#base.protocol === 'https:' ? new SecureAgent({ ...limits, ...options.tls }) : new Agent(limits);
    this.#agent = agentWith({ keepAlive: true, maxSockets: CONNECTIONS_MAX, timeout: IDLE_MS });
    this.#onceAgent = agentWith({});
  }

  get url(): string {
    return this.#base.href;
  }

  get(
    path: string,
    token: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<UpstreamResponse> {
    return this.#exchange({ method: 'GET', path, token, headers });
  }

  post(path: string, token: string | null, body: unknown): Promise<UpstreamResponse> {
    return this.#exchange({ method: 'POST', path, token, body: JSON.stringify(body) });
  }

  /** Finds those of the tokens that are valid. Throws where the upstream does not say. */
  async validate(tokens: readonly string[]): Promise<readonly ValidToken[]> {
    const { status, body } = await this.post('/edge/validate', null, { tokens });
    if (status !== 200) throw new UpstreamError(status, `the upstream answered ${status} to /edge/validate`);
    const result = v.safeParse(TOKENS, jsonOf(body));
    if (!result.success) throw new UnreadableError('the upstream sent something else than tokens');
    const asked = new Set(tokens);
    return result.output.tokens.flatMap(({ token, type, projects, environment }): ValidToken[] => {
      const kind = KINDS.get(type.toLowerCase());
      if (kind === undefined || !asked.has(token) || projects.length === 0) return [];
      return [{ token, type: kind, projects, environment: environment ?? environmentIn(token) }];
    });
  }

  /**
   * Opens a stream, and gives its events until it ends, which it does when the upstream is silent for too long. Throws `UpstreamError`
   * where the upstream opens none.
   */
  async *stream(token: string, lastEventId: number | null, signal: AbortSignal): AsyncGenerator<SentEvent> {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastEventId !== null) headers['last-event-id'] = String(lastEventId);
    const sending: Sending = { method: 'GET', path: '/api/client/streaming', token, headers };
    const { response, request } = await this.#send(sending, signal, this.#onceAgent);
    try {
      const status = response.statusCode ?? 0;
      const isStream = (response.headers['content-type'] ?? '').startsWith('text/event-stream');
      if (status !== 200 || !isStream)
        throw new UpstreamError(status === 200 ? 501 : status, `the upstream opens no stream (${status})`);
      // A new client is sent everything at once, unless something on the way holds it back.
      if (lastEventId !== null) request.setTimeout(STREAM_SILENCE_MS_MAX);
      for await (const event of eventsIn(decoded(response))) {
        request.setTimeout(STREAM_SILENCE_MS_MAX);
        yield event;
      }
    } finally {
      request.destroy();
    }
  }

  close(): void {
    this.#agent.destroy();
    this.#onceAgent.destroy();
  }

  async #exchange(sending: Sending): Promise<UpstreamResponse> {
    const { timeoutMs } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    const agent = sending.method === 'POST' ? this.#onceAgent : this.#agent;
    const { response, request } = await this.#send(sending, deadline, agent);
    try {
      const body = await bytesOf(decoded(response));
      const { etag = '', 'retry-after': retryAfter } = response.headers;
      const seconds = Number(retryAfter ?? Number.NaN);
      const retryAfterMs = Number.isFinite(seconds) ? Math.max(0, seconds) * 1000 : null;
      return { status: response.statusCode ?? 0, body, etag, retryAfterMs };
    } catch (error) {
      request.destroy();
      throw explained(error, this.#base, false);
    }
  }

  #send(
    { method, path, token, headers, body }: Sending,
    signal: AbortSignal,
    agent: Agent,
  ): Promise<{ readonly response: IncomingMessage; readonly request: ClientRequest }> {
    const { appName, instanceId, connectionId, authHeader, timeoutMs } = this.#options;
    const isSecure = this.#base.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const request = (isSecure ? httpsRequest : httpRequest)(
        new URL(`${this.#base.pathname.replace(/\/$/, '')}${path}`, this.#base),
        {
          method,
          agent,
          signal,
          headers: {
            ...{ accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': appName },
            ...{ 'unleash-appname': appName, 'unleash-instanceid': instanceId },
            ...{ 'unleash-connection-id': connectionId, 'unleash-client-spec': CLIENT_SPEC },
            ...(token === null ? {} : { [authHeader]: token }),
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
            ...headers,
          },
        },
        (response) => resolve({ response, request }),
      );
      // What is sent has a connection of its own, and nothing of it is written before that comes about.
      let isUnsent = method === 'POST';
      if (isUnsent)
        request.once('socket', (socket) =>
          socket.once(isSecure ? 'secureConnect' : 'connect', () => {
            isUnsent = false;
          }),
        );
      request.setTimeout(timeoutMs, () => request.destroy(new Error('nothing came for too long')));
      request.once('error', (error) => reject(explained(error, this.#base, isUnsent)));
      request.end(body);
    });
  }
}

const KINDS: ReadonlyMap<string, ValidToken['type']> = new Map([
  ['client', 'client'],
  ['backend', 'client'],
  ['frontend', 'frontend'],
]);

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** An error that says what went wrong: Node's own for a connection names no server. */
function explained(error: unknown, { origin }: URL, isUnsent: boolean): Error {
  if (error instanceof UpstreamError || error instanceof UnreadableError) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const isLate = name === 'TimeoutError' || name === 'AbortError';
  const problem = isLate ? 'took too long to respond' : `cannot be reached: ${message}`;
  return new UpstreamError(0, `${origin} ${problem}`, isUnsent);
}

function decoded(response: IncomingMessage): AsyncIterable<Buffer> {
  const coding = response.headers['content-encoding'];
  if (coding === undefined || coding === 'identity') return response;
  if (coding !== 'gzip') throw new UnreadableError(`the upstream sent the content coding ${coding}`);
  const gunzip = createGunzip();
  response.once('error', (error) => gunzip.destroy(error));
  return response.pipe(gunzip);
}

async function bytesOf(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES_MAX)
      throw new UnreadableError(`the upstream sent a body of more than ${BODY_BYTES_MAX / 2 ** 20} MiB`);
    kept.push(chunk);
  }
  return Buffer.concat(kept);
}

const NEWLINE = 0x0a;

/** Lines of one event, and of events that are taken in one turn of the event loop. */
const LINES_MAX = 10_000;
const LINES_PER_TURN = 256;

/** Server-sent events (WHATWG HTML, section 9.2.6). An event may be a whole document, so bytes are not looked at one by one. */
async function* eventsIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<SentEvent> {
  let lines: Buffer[] = [];
  /** Pieces of the line that has no end yet. */
  let rest: Buffer[] = [];
  let [bytes, count] = [0, 0];
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES_MAX)
      throw new UnreadableError('the upstream sent an event that is larger than any document');
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      count += 1;
      if (count % LINES_PER_TURN === 0) await ownTurn();
      const piece = chunk.subarray(start, end);
      const line = withoutReturn(rest.length === 0 ? piece : Buffer.concat([...rest, piece]));
      [start, rest] = [end + 1, []];
      if (line.byteLength > 0) {
        if (lines.length >= LINES_MAX)
          throw new UnreadableError('the upstream sent an event of too many lines');
        lines.push(line);
        continue;
      }
      const event = eventOf(lines);
      [lines, bytes] = [[], 0];
      if (event !== null) yield event;
    }
    if (start < chunk.byteLength) rest.push(chunk.subarray(start));
  }
}

const [CARRIAGE_RETURN, SPACE] = [0x0d, 0x20];

const withoutReturn = (line: Buffer): Buffer =>
  line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;

function eventOf(lines: readonly Buffer[]): SentEvent | null {
  const data: Buffer[] = [];
  let type = 'message';
  for (const line of lines) {
    const colon = line.indexOf(':');
    const field = line.toString('latin1', 0, colon === -1 ? line.byteLength : colon);
    const from = colon + (line[colon + 1] === SPACE ? 2 : 1);
    const value = colon === -1 ? Buffer.alloc(0) : line.subarray(from);
    if (field === 'data') data.push(value);
    if (field === 'event') type = value.toString();
  }
  const [first] = data;
  if (first !== undefined) return { type, data: data.length === 1 ? first : joinedLines(data) };
  return lines[0]?.toString('latin1', 0, 1) === ':' ? { type: 'comment', data: Buffer.alloc(0) } : null;
}

const joinedLines = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, at) => (at === 0 ? [line] : [Buffer.from('\n'), line])));
