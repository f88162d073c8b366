/**
 * What is logged about requests: every one at the level debug (the access log), those without a valid token at info, and
 * failures at error. Lines hold no bodies, no tokens and no query strings.
 */
import { randomUUID } from 'node:crypto';
import { bytesOf } from '../transport/response-body.ts';
import type { HttpResponse, TransportRequestHead } from '../transport/transport.ts';
import { loggedPath } from './logged-path.ts';
import { givenRequestId, traceFields } from './request-identity.ts';

export interface ApiLog {
  error(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

/** Refused logins that are logged in each period; whoever guesses tokens would fill the disk otherwise. */
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

  /**
   * The id of a request: its own, or else that of the error, so that a client has one id to quote, or else a fresh one
   * where a line of the log will show it. Empty where nothing would.
   */
  idOf(head: TransportRequestHead | null, errorId: string): string {
    const given = head === null ? '' : givenRequestId(head);
    if (given !== '') return given;
    return errorId === '' && this.hasAccess ? randomUUID() : errorId;
  }

  /** `durationMs`: from the complete request to the response; absent where the request was never complete. */
  responded(served: ServedRequest, { status, body }: HttpResponse, durationMs?: number): void {
    if (status === 401) this.#refusedLogin(served);
    if (!this.hasAccess) return;
    const bytes = bytesOf(body).byteLength;
    this.#log.debug({ ...fieldsOf(served), actor: served.actor, status, bytes, durationMs }, 'answered');
  }

  failed(served: ServedRequest, error: unknown): void {
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
