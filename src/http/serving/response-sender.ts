/**
 * The one way in which responses leave: counted, logged, with the id of the request and the headers that depend on the caller.
 * An error is worded here, as its surface words errors.
 *
 * A refusal that depends on the state waits until that state is durable (invariant 4).
 */
import { randomUUID } from 'node:crypto';
import type { ServedState } from '../../actors/served-state.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import {
  ANY_ORIGIN,
  FRONTEND_SETTING_ID,
  frontendOrigins,
  isOrigin,
  settingOf,
} from '../../domain/state/settings.ts';
import { DataFolderError } from '../../persistence/disk/data-folder.ts';
import { NO_HEADERS, ResponseHeaders } from '../transport/response.ts';
import type {
  HttpResponse,
  RequestHandlers,
  TransportRequest,
  TransportRequestHead,
} from '../transport/transport.ts';
import type { Call } from './call.ts';
import { AGE_HEADER } from './cluster.ts';
import {
  COMMON_ERRORS,
  errorOfFault,
  errorOfRefusal,
  errorOfTransport,
  errorResponse,
  type HttpError,
} from './errors.ts';
import type { Instance } from './instance.ts';
import { RouteMeter } from './meters.ts';
import { NO_PARAMS } from './params.ts';
import { type ApiLog, RequestLog, type ServedRequest } from './request-log.ts';
import type { StreamOpening } from './route.ts';
import { type Surface, surfaceBelow } from './surface.ts';

export interface SenderOptions {
  readonly state: ServedState;
  readonly instance: Instance;
  readonly surfaces: readonly Surface[];
  /** `BASE_URI_PATH`, the prefix of every path. */
  readonly basePath: string;
  readonly log: ApiLog;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  /** Whether responses are counted and timed. */
  readonly metered: boolean;
  /** Milliseconds for which what is shown may be old, as responses say; null, or absent, where they say nothing. */
  ageMs?(): number | null;
}

/** `errorId`: where the response has left already, under this id. */
export type RefuseUnread = (
  ...refused: [...Parameters<RequestHandlers['refuse']>, errorId?: string]
) => HttpResponse;

/** Hardly any client sees it: it has disconnected, got a 408 at the deadline, or stopped sending. */
export const NOT_WANTED = refuse(
  'ServiceUnavailableError',
  'The client closed its side of the connection while the request waited for its turn; nothing was done.',
);

const DAMAGED_HISTORY =
  'The server could not read a damaged part of its history back, which it needs for this; flags and changes are not affected';

const NO_MORE_STREAMS = refuse(
  'ServiceUnavailableError',
  'No further stream can be opened at the moment: too many are open, or the server stops.',
);

export class ResponseSender {
  readonly #options: SenderOptions;
  readonly #state: ServedState;
  readonly #log: RequestLog;
  /** The meter of requests without a route. */
  readonly unmatched = new RouteMeter('', 'none');
  /** Whether the time of arrival of a request matters. */
  readonly isTimed: boolean;
  #crossOrigin: CrossOrigin;
  #age = '';
  #aged = NO_HEADERS;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#log = new RequestLog(options.log, options.monotonicMs);
    this.isTimed = options.metered || this.#log.hasAccess;
    const { configuredOrigins } = options.instance;
    const origins = frontendOrigins(
      settingOf(options.state.world.directory.settings, FRONTEND_SETTING_ID),
      configuredOrigins,
    );
    this.#crossOrigin = this.#crossOriginOf(origins);
    // From events, which are durable by then: the state may be ahead of them (invariant 4).
    options.state.feed.subscribe((changes) => {
      for (const { events } of changes) for (const event of events) this.#noteOrigins(event as DomainEvent);
    });
  }

  /** Responses with 401 since the start. */
  get refusedLogins(): number {
    return this.#log.refusedLogins;
  }

  #noteOrigins(event: DomainEvent): void {
    if (event.type !== 'setting-created' && event.type !== 'setting-updated') return;
    if (event.data.id !== FRONTEND_SETTING_ID) return;
    this.#crossOrigin = this.#crossOriginOf(event.data.frontendApiOrigins);
  }

  #crossOriginOf(origins: readonly string[]): CrossOrigin {
    const ignored = origins.filter((origin) => !isOrigin(origin));
    if (ignored.length > 0) {
      // Operators: correct them in the console, under Server; pages of an ignored origin cannot call
      this.#options.log.warn({ ignored }, 'Ignoring frontend API origins that are not origins in ASCII.');
    }
    return crossOriginOf(origins.filter(isOrigin));
  }

  /**
   * The id of a request: its own, or else that of the error, so that a client has one id to quote, or else a fresh one
   * where a line of the log will show it. Empty where nothing would.
   */
  #requestId(head: TransportRequestHead | null, errorId: string): string {
    const given = head?.header('x-request-id') ?? '';
    if (given !== '' && REQUEST_ID_PATTERN.test(given)) return given;
    return errorId === '' && this.#log.hasAccess ? randomUUID() : errorId;
  }

  surfaceOf(path: string): Surface | null {
    return surfaceBelow(this.#options.surfaces, this.#options.basePath, path) ?? null;
  }

  /** Sends every response, counts it, and has it logged. `errorId`: the id in the body of an error; empty for a success. */
  send(call: Call, response: HttpResponse, errorId = ''): void {
    const { request, surface, responder } = call;
    const requestId = this.#requestId(request, errorId);
    // The address of the client is known until it has its response.
    this.#logged(call, response, { requestId, errorId });
    responder.send(this.#finished(response, { head: request, surface, requestId }));
    this.#measured(call, response);
    call.trace?.ended(call.meter.route, response.status);
  }

  /** Sends the head of a response that stays open, and has the stream begin. */
  sendStream(call: Call, opened: StreamOpening): void {
    const head: HttpResponse = { status: 200, headers: opened.headers, body: null };
    const { request, surface } = call;
    const requestId = this.#requestId(request, '');
    const { status, headers } = this.#finished(head, { head: request, surface, requestId });
    const stream = call.responder.stream({ status, headers });
    if (stream === null) return this.refuse(call, NO_MORE_STREAMS);
    this.#measured(call, head);
    this.#logged(call, head, { requestId, errorId: '' });
    call.trace?.ended(call.meter.route, status);
    try {
      opened.begin(stream);
    } catch (error) {
      stream.close();
      this.#log.failed({ ...call.served, requestId, errorId: '' }, error);
    }
  }

  sendPreflight(call: Call): void {
    this.send(call, this.#crossOrigin.preflight(call.request));
  }

  /** The response to a request that the transport refuses: worded as its surface words errors, and logged as others are. */
  readonly refuseUnread: RefuseUnread = (status, reason, head, errorId = randomUUID()) => {
    const surface = head === null ? null : this.surfaceOf(head.path);
    const shape = surface?.errors ?? COMMON_ERRORS;
    if (this.#options.metered) this.unmatched.counted(status);
    const response = errorResponse(errorOfTransport(status, reason), {
      shape,
      id: errorId,
      params: NO_PARAMS,
    });
    const requestId = this.#requestId(head, errorId);
    this.#log.responded({ head, requestId, errorId }, response);
    return this.#finished(response, { head, surface, requestId });
  };

  /** Sends a refusal that depends on the state once that state is durable: all of it, or up to `revision`. */
  refuseSettled(call: Call, refusal: Refusal, revision = this.#state.lastId): void {
    this.#state.whenDurable(revision, () => this.refuse(call, refusal));
  }

  refuse(call: Call, refusal: Refusal, extraHeaders: readonly string[] = []): void {
    this.#sendError(call, errorOfRefusal(refusal), randomUUID(), extraHeaders);
  }

  /** Goes on once it is there. */
  later<T>(call: Call, promised: Promise<T>, goOn: (value: T) => void): void {
    promised.then(goOn).catch((error: unknown) => this.fail(call, error));
  }

  /** Catches everything, because otherwise a request would get no response. */
  guarded(call: Call, proceed: () => void): void {
    try {
      proceed();
    } catch (error) {
      this.fail(call, error);
    }
  }

  fail(call: Call, error: unknown): void {
    const { request, responder } = call;
    // What a reader gives up because no response is awaited is no failure.
    if (responder.signal.aborted && error === responder.signal.reason) {
      if (responder.isWanted) this.refuse(call, NOT_WANTED);
      return;
    }
    const errorId = randomUUID();
    const requestId = this.#requestId(request, errorId);
    this.#log.failed({ ...call.served, requestId, errorId }, error);
    const problem = error instanceof DataFolderError ? DAMAGED_HISTORY : null;
    this.#sendError(call, errorOfFault(errorId, problem), errorId);
  }

  #sendError(call: Call, error: HttpError, errorId: string, extraHeaders: readonly string[] = []): void {
    const shape = call.surface?.errors ?? COMMON_ERRORS;
    this.send(call, errorResponse(error, { shape, id: errorId, params: call.params, extraHeaders }), errorId);
  }

  /** The response with the headers that depend on the caller. */
  #finished(
    response: HttpResponse,
    {
      head,
      surface,
      requestId,
    }: Pick<Call, 'surface'> & { head: TransportRequestHead | null; requestId: string },
  ): HttpResponse {
    const { status, headers, body } = response;
    const ageMs = head === null ? null : (this.#options.ageMs?.() ?? null);
    let added = ageMs === null ? NO_HEADERS : this.#ageHeaders(ageMs);
    if (head !== null && surface?.isForPages === true) added = this.#crossOrigin.headersFor(head).and(added);
    const finished = headers.and(added);
    if (requestId !== '') return { status, headers: finished.with('x-request-id', requestId), body };
    return finished === headers ? response : { status, headers: finished, body };
  }

  /** Made once for each age: on an edge with an open upstream, responses share one. */
  #ageHeaders(ageMs: number): ResponseHeaders {
    const age = String(Math.min(Math.round(ageMs), Number.MAX_SAFE_INTEGER));
    if (age !== this.#age) {
      this.#age = age;
      this.#aged = ResponseHeaders.of(AGE_HEADER, age);
    }
    return this.#aged;
  }

  #logged(call: Call, response: HttpResponse, ids: Pick<ServedRequest, 'requestId' | 'errorId'>): void {
    if (response.status !== 401 && !this.#log.hasAccess) return;
    const durationMs = this.#options.monotonicMs() - call.startedAt;
    this.#log.responded({ ...call.served, ...ids }, response, durationMs);
  }

  #measured(call: Call, { status }: HttpResponse): void {
    if (!this.#options.metered) return;
    call.endedAt = this.#options.monotonicMs();
    call.meter.responded(status, call.endedAt - call.startedAt);
  }
}

/** Ids that logs and tools take without quoting. Longer or other ones are ignored, because they end up in logs and headers. */
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

// Requests of pages from other origins (the Fetch standard calls the protocol CORS). Every response names the origins that may read it, errors
// included, because a page that may not read an error cannot tell what went wrong.

interface CrossOrigin {
  /** The response to the question whether the request that follows may be made. */
  preflight(request: TransportRequest): HttpResponse;
  /** The headers that let the page read a response. */
  headersFor(request: TransportRequestHead): ResponseHeaders;
}

/** How long a browser may remember the response to a preflight request. */
const PREFLIGHT_MAX_AGE_SECONDS = '86400';

/** Names of headers, which a preflight response repeats. */
const HEADER_NAMES_PATTERN = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2000}$/;

/** `origins`: such as `https://shop.example`; `*` among them stands for every one. */
function crossOriginOf(origins: readonly string[]): CrossOrigin {
  const allowAny = origins.includes(ANY_ORIGIN);
  const known = new Map(origins.map((origin) => [origin, headersFor(origin)]));
  const forAny = allowAny ? headersFor(ANY_ORIGIN) : null;
  return {
    preflight: (request) => ({ status: 204, headers: preflightHeaders(request), body: null }),
    headersFor: (request) => forAny ?? known.get(request.header('origin')) ?? FOR_NOBODY,
  };
}

/** A cache must not give the response for one origin to another. */
const FOR_NOBODY = ResponseHeaders.of('vary', 'Origin');

function headersFor(origin: string): ResponseHeaders {
  return FOR_NOBODY.with(
    ...['access-control-allow-origin', origin],
    ...['access-control-expose-headers', 'ETag, X-Request-Id'],
  );
}

function preflightHeaders(request: TransportRequest): ResponseHeaders {
  const asked = request.header('access-control-request-headers');
  return ResponseHeaders.of(
    ...['access-control-allow-methods', 'GET, HEAD, POST, OPTIONS'],
    ...(HEADER_NAMES_PATTERN.test(asked) ? ['access-control-allow-headers', asked] : []),
    ...['access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS],
  );
}
