/**
 * Logs requests: every one at the level debug (the access log), those without a valid token at info, and failures at
 * error. Lines hold no bodies, no tokens and no query strings.
 */
import { bytesOf } from '../transport/response.ts';
import type { HttpResponse, TransportRequestHead } from '../transport/transport.ts';

export interface ApiLog {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

/** Refused logins logged in each period; otherwise, guessing tokens would fill the disk. */
export const REFUSED_LOGINS_LOGGED_MAX = 10;
export const REFUSED_LOGINS_PERIOD_MS = 60_000;

export interface ServedRequest {
  /** Null where the parser could make nothing of the request. */
  readonly head: TransportRequestHead | null;
  /** The caller as the event log names it; absent before the caller is known. */
  readonly actor?: string | undefined;
  readonly requestId: string;
  /** The `id` in the body of an error; empty for a success. */
  readonly errorId: string;
}

export class RequestLog {
  readonly #log: ApiLog;
  readonly #monotonicMs: () => number;
  /** Whether every request is logged. */
  readonly hasAccess: boolean;
  /** Responses with 401 since the start. */
  refusedLogins = 0;
  #periodStartedAtMs = Number.NEGATIVE_INFINITY;
  #loggedInPeriod = 0;
  #unlogged = 0;

  constructor(log: ApiLog, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    this.hasAccess = log.isLevelEnabled('debug');
  }

  /** `durationMs`: from the complete request to the response; absent where the request was never complete. */
  responded(served: ServedRequest, { status, body }: HttpResponse, durationMs?: number): void {
    if (status === 401) this.#refusedLogin(served);
    if (!this.hasAccess) return;
    const bytes = bytesOf(body).byteLength;
    this.#log.debug({ ...fieldsOf(served), actor: served.actor, status, bytes, durationMs }, 'answered');
  }

  failed(served: ServedRequest, error: unknown): void {
    // Operators: report it with its `errorId`; a client got a 500
    this.#log.error({ err: error, ...fieldsOf(served), actor: served.actor }, 'request failed');
  }

  #refusedLogin(served: ServedRequest): void {
    this.refusedLogins += 1;
    const now = this.#monotonicMs();
    if (now - this.#periodStartedAtMs >= REFUSED_LOGINS_PERIOD_MS) {
      this.#periodStartedAtMs = now;
      this.#loggedInPeriod = 0;
    }
    if (this.#loggedInPeriod === REFUSED_LOGINS_LOGGED_MAX) {
      this.#unlogged += 1;
      return;
    }
    this.#loggedInPeriod += 1;
    const sentToken = served.head?.header('authorization') !== '';
    // Operators: nothing, unless there are many: guessing, or an application with an old token
    this.#log.info(
      { ...fieldsOf(served), sentToken, unloggedBefore: this.#unlogged },
      'A request without a valid token was refused',
    );
    this.#unlogged = 0;
  }
}

function fieldsOf({ head, requestId, errorId }: ServedRequest): object {
  const ids = { requestId, ...(errorId !== '' && { errorId }) };
  if (head === null) return ids;
  const { method, path } = head;
  return { ...ids, ...traceFields(head), method, path: loggedPath(path), address: head.remoteAddress() };
}

/**
 * A path as logs may hold it. A client can name an API token by its secret in a path, and logs are kept longer and read
 * by more people than secrets should be. So all that follows `/api-tokens/`,
 * `/invite/` and `/invite-link/tokens/`, and every segment that has the form of a
 * token (docs/specification/rights.md#credentials), is left out, percent-encoded or not.
 */
const NAMED_TOKEN = /(\/(?:api-tokens|invite|invite-link\/tokens)\/)[^/]+/gi;
const TOKEN_SEGMENT = /\/(?:[^/]*(?::|%3a)[^/]*(?:\.|%2e)|user(?::|%3a))[^/]+/gi;

export function loggedPath(path: string): string {
  return path.replace(NAMED_TOKEN, '$1…').replace(TOKEN_SEGMENT, '/…');
}

// Ids with which a request can be found again in the logs of clients, proxies and this server.

/** The form of the header `traceparent`: https://www.w3.org/TR/trace-context/#traceparent-header. */
const TRACE_PARENT_PATTERN =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
  /** A byte; its lowest bit is set when the caller records the trace. */
  readonly flags: number;
}

/** The trace that the request belongs to; null without a good `traceparent`. */
export function traceParent(head: TransportRequestHead): TraceParent | null {
  const [, traceId, parentId, flags = ''] = TRACE_PARENT_PATTERN.exec(head.header('traceparent')) ?? [];
  if (traceId === undefined || parentId === undefined) return null;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) };
}

/** The trace of a request as fields of its log line. */
function traceFields(head: TransportRequestHead): {
  readonly traceId?: string;
  readonly parentId?: string;
} {
  const parent = traceParent(head);
  return parent === null ? {} : { traceId: parent.traceId, parentId: parent.parentId };
}
