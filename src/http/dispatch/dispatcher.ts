/**
 * Takes a request to its response. The order of checks is fixed (docs/specification/common.md#order-of-checks): path,
 * method, 401, 403, 404 for what the path names, 400 for the body, 409. Each step below is one of them.
 *
 * A response that shows state waits until that state is durable (invariants 3 and 4): a read waits for the newest
 * event that it shows, a refusal that depends on the state for all of it, and a write for its own event.
 */
import { randomUUID } from 'node:crypto';
import type { Engine } from '../../actors/engine.ts';
import { callerName } from '../../actors/loop-accounts.ts';
import type { Outcome } from '../../actors/submission.ts';
import type { Command } from '../../domain/decide/decide.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { frontendOrigins } from '../../domain/state/frontend-origins.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { type ApiLog, RequestLog, type ServedRequest } from '../logging/request-log.ts';
import { type Route as Compiled, compileRoutes, type RouteMatcher } from '../routing/route-matcher.ts';
import { unmatched } from '../routing/unmatched.ts';
import { tokenInCookie } from '../session/session-cookie.ts';
import type {
  HttpResponse,
  RequestHandler,
  Responder,
  TransportOptions,
  TransportRequest,
  TransportRequestHead,
} from '../transport/transport.ts';
import { type Authenticator, type Caller, NOBODY } from './access.ts';
import { AT_LEAST_HEADER, type ClusterAccess, EVENT_ID_HEADER } from './cluster.ts';
import { flagPrecondition, isNotModified } from './conditional.ts';
import { type CrossOrigin, crossOriginOf } from './cross-origin.ts';
import { refuseCrossSite } from './cross-site.ts';
import {
  COMMON_ERRORS,
  errorOfFault,
  errorOfRefusal,
  errorOfTransport,
  errorResponse,
  type HttpError,
} from './errors.ts';
import { retryOf } from './idempotency.ts';
import { TaggedResponse } from './json-response.ts';
import { LongRequests } from './long-requests.ts';
import { RouteMeter } from './meters.ts';
import { type ParamName, type Params, paramNamesOf, paramsOf } from './params.ts';
import { readBody } from './request-body.ts';
import { Context, type ContextSources } from './request-context.ts';
import type {
  PlainRoute,
  ReadResponse,
  ReadRoute,
  RequestContext,
  Route,
  StreamOpening,
  StreamRoute,
  WriteRoute,
} from './route.ts';
import { type Surface, surfaceAt } from './surface.ts';

export interface ApiOptions extends ContextSources {
  readonly authenticator: Authenticator;
  readonly surfaces: readonly Surface[];
  /** `BASE_URI_PATH`, the prefix of every path. */
  readonly basePath: string;
  readonly log: ApiLog;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  /** Whether responses are counted and timed. */
  readonly metered: boolean;
  /** Null where one node serves. */
  readonly cluster: ClusterAccess | null;
}

/** A route with all that is known of it before a request comes. */
interface BoundRoute {
  readonly surface: Surface;
  readonly route: Route | PlainRoute;
  readonly meter: RouteMeter;
  readonly paramNames: readonly ParamName[];
  /** Position of `:projectId` among the parameters; -1 without one. */
  readonly projectAt: number;
  /** Position of `:featureName`, which determines the project when the path does not name it; -1 without one. */
  readonly flagAt: number;
}

type MayStart = (world: World) => Refusal | null;

interface Call {
  readonly request: TransportRequest;
  readonly responder: Responder;
  readonly startedAt: number;
  /** The meter of the route; that of unknown paths until a route is found. */
  meter: RouteMeter;
  /** Of the surface. */
  surface: Surface | null;
  /** Of the path, once a route has been found. */
  params: Params | null;
  /** Once it is known. */
  caller: Caller | null;
}

const RIGHTS_CHANGED: Refusal = refuse(
  'ServiceUnavailableError',
  'The rights of the caller changed while the request arrived; send it again.',
);

export interface Api {
  readonly handle: RequestHandler;
  /** Whether the body of a request is worth memory: false for one that `handle` refuses with 404, 405, 401 or 403. */
  readonly admit: (head: TransportRequestHead) => boolean;
  /** The response to a request that the transport refuses. */
  readonly refuse: TransportOptions['refuse'];
  /** One for each route, and one for requests without a route. */
  readonly meters: readonly RouteMeter[];
  /** Responses with 401 since the start. */
  refusedLogins(): number;
  readonly longRequests: Pick<LongRequests, 'waitingCount' | 'waitedCount'>;
}

export function createApi(options: ApiOptions): Api {
  const dispatcher = new Dispatcher(options);
  const { handle, admit, refuse, meters, longRequests } = dispatcher;
  const refusedLogins = (): number => dispatcher.requestLog.refusedLogins;
  return { handle, admit, refuse, meters, refusedLogins, longRequests };
}

class Dispatcher {
  readonly #options: ApiOptions;
  readonly #world: World;
  readonly #engine: Engine;
  readonly #matcher: RouteMatcher<BoundRoute>;
  readonly #unmatched = new RouteMeter('', 'none');
  readonly meters: RouteMeter[] = [this.#unmatched];
  /** Of all routes, with the prefix of every path: a mistyped path may be near to one. */
  readonly #patterns: readonly string[];
  readonly requestLog: RequestLog;
  readonly #isTimed: boolean;
  readonly longRequests: LongRequests;
  #crossOrigin: CrossOrigin;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#world = options.engine.world;
    this.longRequests = new LongRequests(options.engine.loopAccounts, options.monotonicMs);
    this.requestLog = new RequestLog(options.log, options.monotonicMs);
    this.#isTimed = options.metered || this.requestLog.hasAccess;
    const { configuredOrigins } = options.instance;
    this.#crossOrigin = crossOriginOf(frontendOrigins(this.#world.directory.settings, configuredOrigins));
    // From events, which are durable by then: the state may be ahead of them (invariant 4).
    options.engine.feed.subscribe((changes) => {
      for (const { events } of changes) for (const event of events) this.#noteOrigins(event as DomainEvent);
    });
    this.#matcher = compileRoutes(
      options.surfaces.flatMap((surface) => surface.routes.map((route) => this.#bind(surface, route))),
      options.basePath,
    );
    this.#patterns = this.meters
      .filter((meter) => meter !== this.#unmatched)
      .map(({ route }) => options.basePath + route);
  }

  #bind(surface: Surface, route: Route | PlainRoute): Compiled<BoundRoute> {
    const { method } = route;
    const pattern = surface.prefix + route.path;
    const meter = new RouteMeter(method, pattern);
    this.meters.push(meter);
    return { method, pattern, value: bindRoute(surface, route, meter) };
  }

  #noteOrigins(event: DomainEvent): void {
    if (event.type !== 'setting-created' && event.type !== 'setting-updated') return;
    this.#crossOrigin = crossOriginOf(event.data.frontendApiOrigins);
  }

  readonly handle: RequestHandler = (request, responder) => {
    const startedAt = this.#isTimed ? this.#options.monotonicMs() : 0;
    const call: Call = {
      request,
      responder,
      startedAt,
      meter: this.#unmatched,
      surface: null,
      params: null,
      caller: null,
    };
    try {
      this.#route(call);
    } catch (error) {
      this.#fail(call, error);
    }
  };

  readonly admit = (head: TransportRequestHead): boolean => {
    const match = this.#matcher.match(head.method, head.path);
    if (match.kind !== 'found') return false;
    const { found, params } = match;
    return found.route.kind !== 'plain' && !isRefusal(this.#identify(head, found, found.route, params));
  };

  /** The response to a request that the transport refuses: worded as its surface words errors, and logged as others are. */
  readonly refuse: TransportOptions['refuse'] = (status, reason, head) => {
    const surface = head === null ? null : this.#surfaceOf(head.path);
    const shape = surface?.errors ?? COMMON_ERRORS;
    if (this.#options.metered) this.#unmatched.counted(status);
    const errorId = randomUUID();
    const response = errorResponse(errorOfTransport(status, reason), { shape, id: errorId, params: null });
    const requestId = this.requestLog.idOf(head, errorId);
    this.requestLog.responded({ head, requestId, errorId }, response);
    return this.#finished(response, { head, surface, requestId });
  };

  /** Sends every response, counts it, and has it logged. `errorId`: the id in the body of an error; empty for a success. */
  #send(call: Call, response: HttpResponse, errorId = ''): void {
    const { request, surface, responder } = call;
    const requestId = this.requestLog.idOf(request, errorId);
    if (this.#isTimed || response.status === 401) this.#record(call, response, { requestId, errorId });
    responder.send(this.#finished(response, { head: request, surface, requestId }));
  }

  /** The response with the headers that depend on who asked. */
  #finished(
    response: HttpResponse,
    {
      head,
      surface,
      requestId,
    }: Pick<Call, 'surface'> & { head: TransportRequestHead | null; requestId: string },
  ): HttpResponse {
    const { status, headers, body } = response;
    const named =
      requestId === '' ? response : { status, headers: headers.with('x-request-id', requestId), body };
    return head !== null && surface?.isForPages === true ? this.#crossOrigin.allow(head, named) : named;
  }

  #record(call: Call, response: HttpResponse, ids: Pick<ServedRequest, 'requestId' | 'errorId'>): void {
    const durationMs = this.#options.monotonicMs() - call.startedAt;
    if (this.#options.metered) call.meter.responded(response.status, durationMs);
    if (response.status === 401 || this.requestLog.hasAccess)
      this.requestLog.responded({ ...servedBy(call), ...ids }, response, durationMs);
  }

  #route(call: Call): void {
    const { request } = call;
    const match = this.#matcher.match(request.method, request.path);
    if (match.kind === 'found') {
      const bound = match.found;
      call.meter = bound.meter;
      call.surface = bound.surface;
      const { route } = bound;
      if (route.kind === 'plain') this.#respondToPlain(call, route);
      else if (this.#options.cluster === null) this.#authorize(call, bound, route, match.params);
      else
        this.#whenReached(call, this.#options.cluster, () =>
          this.#authorize(call, bound, route, match.params),
        );
      return;
    }
    call.surface = this.#surfaceOf(request.path);
    const isPreflight = request.method === 'OPTIONS' && call.surface?.isForPages === true;
    if (isPreflight) this.#send(call, this.#crossOrigin.preflight(request));
    else
      this.#refuse(call, ...unmatched(request, match, { matcher: this.#matcher, patterns: this.#patterns }));
  }

  #surfaceOf(path: string): Surface | null {
    const { basePath, surfaces } = this.#options;
    return surfaceAt(surfaces, path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path) ?? null;
  }

  #respondToPlain(call: Call, route: PlainRoute): void {
    const response = route.respond(call.request);
    if (!(response instanceof Promise)) return this.#send(call, response);
    response.then(
      (late) => this.#guarded(call, () => this.#send(call, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #authorize(call: Call, bound: BoundRoute, route: Route, params: readonly string[]): void {
    const caller = this.#identify(call.request, bound, route, params);
    if (!isRefusal(caller)) {
      const { cluster } = this.#options;
      if (cluster !== null && route.kind === 'write' && !cluster.isLeading()) {
        call.caller = caller;
        return this.#forward(call, cluster);
      }
      return this.#start(call, bound, route, { caller, params });
    }
    this.#refuseCaller(call, bound, caller);
  }

  /** Starts the request now, unless its caller has held the event loop for too long. */
  #start(
    call: Call,
    bound: BoundRoute,
    route: Route,
    { caller, params }: { readonly caller: Caller; readonly params: readonly string[] },
  ): void {
    const { longRequests } = this;
    const { surface } = bound;
    if (isSpared(call, surface)) return this.#prepare(call, bound, route, { caller, params });
    if (longRequests.hasDebtors) {
      const name = chargedName(call, surface, caller);
      if (longRequests.mustWait(name)) return this.#waitForTurn(call, bound, route, { name, params });
    }
    const { monotonicMs, cluster } = this.#options;
    // A request to a cluster may have waited for an event since it came.
    const begunAt = this.#isTimed && cluster === null ? call.startedAt : monotonicMs();
    this.#prepare(call, bound, route, { caller, params });
    const heldMs = monotonicMs() - begunAt;
    // The name is made for the few requests that count.
    if (longRequests.counts(heldMs)) longRequests.charge(chargedName(call, surface, caller), heldMs);
  }

  /** Asks for the caller again when its turn has come: it may have lost the right. */
  #waitForTurn(
    call: Call,
    bound: BoundRoute,
    route: Route,
    { name, params }: { readonly name: string; readonly params: readonly string[] },
  ): void {
    const { signal } = call.responder;
    const run = (): void => {
      const caller = this.#identify(call.request, bound, route, params);
      if (isRefusal(caller)) this.#refuseCaller(call, bound, caller);
      else this.#prepare(call, bound, route, { caller, params });
    };
    this.longRequests.inTurn({ name, signal }, call.request.body.byteLength, run).then(
      (refusal) => refusal !== undefined && this.#refuse(call, refusal),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #refuseCaller(call: Call, bound: BoundRoute, caller: Refusal): void {
    // An unauthenticated caller must not wait for changes of others, because it would hold a connection and memory.
    const isUnknown = caller === bound.surface.access?.unauthenticated;
    this.#refuseSettled(call, caller, isUnknown ? this.#world.directory.accessRevision : undefined);
  }

  /** Goes on when this node has the event that the request asks for, if it asks for one. */
  #whenReached(call: Call, cluster: ClusterAccess, proceed: () => void): void {
    const header = call.request.header(AT_LEAST_HEADER);
    if (header === '') return proceed();
    const goOn = (refusal: Refusal | null): void =>
      this.#guarded(call, () => (refusal === null ? proceed() : this.#refuse(call, refusal)));
    const reached = cluster.atLeast.check(header, goOn);
    if (reached !== undefined) goOn(reached);
  }

  /** Another node leads: it responds to a write, and decides about everything itself. */
  #forward(call: Call, cluster: ClusterAccess): void {
    if (call.request.bodyDropped) return this.#refuse(call, RIGHTS_CHANGED);
    cluster.forward(call.request, call.responder.signal).then(
      (response) =>
        this.#guarded(call, () =>
          isRefusal(response) ? this.#refuse(call, response) : this.#send(call, response),
        ),
      (error: unknown) => this.#fail(call, error),
    );
  }

  /** The caller, or why it may not use the route: 401 or 403. */
  #identify(
    head: TransportRequestHead,
    bound: BoundRoute,
    route: Route,
    params: readonly string[],
  ): Caller | Refusal {
    const { access } = bound.surface;
    if (access === null) return NOBODY;
    const authorization = head.header('authorization');
    const session =
      authorization === '' && access.takesSessions === true ? tokenInCookie(head.header('cookie')) : '';
    const caller = this.#options.authenticator.authenticate(session || authorization);
    if (caller === null) return access.unauthenticated;
    // What a browser sends of its own accord, any page could make it send.
    const isAmbient = session !== '' || caller.kind === 'anyone';
    const crossSite = isAmbient && isChange(route) ? refuseCrossSite(head, caller.kind) : null;
    if (crossSite !== null) return crossSite;
    return access.refuse(this.#world, caller, route.permission, this.#projectOf(bound, params)) ?? caller;
  }

  #projectOf({ projectAt, flagAt }: BoundRoute, params: readonly string[]): string | null {
    if (projectAt >= 0) return params[projectAt] ?? null;
    if (flagAt >= 0) return this.#world.directory.flagProjects.get(params[flagAt] ?? '') ?? null;
    return null;
  }

  #prepare(
    call: Call,
    bound: BoundRoute,
    route: Route,
    { caller, params: values }: { readonly caller: Caller; readonly params: readonly string[] },
  ): void {
    call.caller = caller;
    // What refused the caller when the head arrived has changed since; the body is lost.
    if (call.request.bodyDropped) return this.#refuse(call, RIGHTS_CHANGED);
    const params = paramsOf(bound.paramNames, values);
    call.params = params;
    const located = route.locate?.(this.#world, params);
    if (isRefusal(located)) return this.#refuseSettled(call, located);
    const body = readBody(route, call.request);
    if (isRefusal(body)) return this.#refuse(call, body);
    const context = new Context(this.#options, call, { caller, params, body: body.value });
    if (route.kind === 'read') return this.#read(call, route, context, located);
    if (route.kind === 'stream') return this.#stream(call, route.open(context));
    const mayStart = this.#starter(call, bound, route, values);
    const command = route.command(context, located);
    if (!(command instanceof Promise)) return this.#submit(call, route, context, { command, mayStart });
    command.then(
      (late) => this.#guarded(call, () => this.#submit(call, route, context, { command: late, mayStart })),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #read(call: Call, route: ReadRoute, context: RequestContext<unknown>, located: unknown): void {
    const response = route.read(context, located);
    if (!(response instanceof Promise)) return this.#respondToRead(call, response);
    response.then(
      (late) => this.#guarded(call, () => this.#respondToRead(call, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #stream(call: Call, opened: ReturnType<StreamRoute['open']>): void {
    if (isRefusal(opened)) return this.#refuseSettled(call, opened);
    if (!(opened instanceof Promise)) {
      return this.#engine.whenDurable(opened.revision, () => this.#beginStream(call, opened));
    }
    opened.then(
      (late) => this.#guarded(call, () => this.#stream(call, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #beginStream(call: Call, opened: StreamOpening): void {
    if (!call.responder.isWanted) return;
    const head: HttpResponse = { status: 200, headers: opened.headers, body: null };
    const { request, surface } = call;
    const requestId = this.requestLog.idOf(request, '');
    const { status, headers } = this.#finished(head, { head: request, surface, requestId });
    const stream = call.responder.stream({ status, headers });
    if (stream === null) return this.#refuse(call, NO_MORE_STREAMS);
    if (this.#isTimed) this.#record(call, head, { requestId, errorId: '' });
    try {
      opened.begin(stream);
    } catch (error) {
      stream.close();
      this.requestLog.failed({ ...servedBy(call), requestId, errorId: '' }, error);
    }
  }

  #respondToRead(call: Call, read: ReadResponse | Refusal): void {
    if (isRefusal(read)) return this.#refuseSettled(call, read);
    const response = unlessKnown(read.response, call.request);
    if (read.revision <= this.#engine.durableId) this.#send(call, response);
    else this.#engine.whenDurable(read.revision, () => this.#send(call, response));
  }

  /**
   * Asks again, when the turn of a command has come, whether anybody still waits for it and its caller may still do it:
   * reading what a command needs, and its mailbox, may have taken seconds.
   */
  #starter(call: Call, bound: BoundRoute, route: Route, values: readonly string[]): MayStart {
    return () => {
      if (!call.responder.isAwaited) return NOT_WANTED;
      const caller = this.#identify(call.request, bound, route, values);
      return isRefusal(caller) ? caller : null;
    };
  }

  #submit(
    call: Call,
    route: WriteRoute,
    context: RequestContext<unknown>,
    { command, mayStart }: { readonly command: Command | Refusal; readonly mayStart: MayStart },
  ): void {
    if (isRefusal(command)) return this.#refuseSettled(call, command);
    const { request } = call;
    const retry = retryOf(request, (body) => redacted(body, route.secretField));
    if (isRefusal(retry)) return this.#refuseSettled(call, retry);
    const precondition = flagPrecondition(request.header('if-match'), context.params);
    this.#engine.submit({
      command,
      actor: context.caller.actor,
      mayStart,
      retry,
      precondition,
      respond: responseMaker(route, context, command),
      done: this.#outcomeTaker(call),
    });
  }

  #outcomeTaker(call: Call): (outcome: Outcome<HttpResponse>) => void {
    return (outcome) => this.#respondToWrite(call, outcome);
  }

  #respondToWrite(call: Call, outcome: Outcome<HttpResponse>): void {
    if (!call.responder.isWanted) return;
    if (outcome.kind === 'response') this.#send(call, this.#withEventId(outcome.response));
    else if (outcome.kind === 'refusal') this.#refuse(call, outcome.refusal);
    else this.#fail(call, outcome.error);
  }

  /** In a cluster, the event that reads elsewhere have to ask for to show what the write made. */
  #withEventId(response: HttpResponse): HttpResponse {
    if (this.#options.cluster === null) return response;
    const { status, headers, body } = response;
    return { status, headers: headers.with(EVENT_ID_HEADER, String(this.#engine.durableId)), body };
  }

  /**
   * Sends a refusal that depends on the state once that state is durable: all of it, or up to `revision`.
   */
  #refuseSettled(call: Call, refusal: Refusal, revision = this.#engine.lastId): void {
    this.#engine.whenDurable(revision, () => this.#refuse(call, refusal));
  }

  #refuse(call: Call, refusal: Refusal, extraHeaders: readonly string[] = []): void {
    this.#sendError(call, errorOfRefusal(refusal), randomUUID(), extraHeaders);
  }

  #sendError(call: Call, error: HttpError, errorId: string, extraHeaders: readonly string[] = []): void {
    const shape = call.surface?.errors ?? COMMON_ERRORS;
    this.#send(
      call,
      errorResponse(error, { shape, id: errorId, params: call.params, extraHeaders }),
      errorId,
    );
  }

  /** Catches everything, because otherwise a request would get no response. */
  #guarded(call: Call, proceed: () => void): void {
    try {
      proceed();
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #fail(call: Call, error: unknown): void {
    const { request, responder } = call;
    // What a reader gives up because no response is awaited is no failure.
    if (responder.signal.aborted && error === responder.signal.reason) {
      if (responder.isWanted) this.#refuse(call, NOT_WANTED);
      return;
    }
    const errorId = randomUUID();
    const requestId = this.requestLog.idOf(request, errorId);
    this.requestLog.failed({ ...servedBy(call), requestId, errorId }, error);
    this.#sendError(call, errorOfFault(errorId), errorId);
  }
}

const NO_MORE_STREAMS = refuse(
  'ServiceUnavailableError',
  'No further stream can be opened at the moment: too many are open, or the server stops.',
);

/** Hardly anybody sees it: the client is gone, was told at the deadline that the request had failed, or sends no more. */
const NOT_WANTED = refuse(
  'ServiceUnavailableError',
  'The client closed its side of the connection while the request waited for its turn; nothing was done.',
);

/** Whether somebody who may only read must not use it. Applications report without a page, or from pages of any site. */
function isChange(route: Route): boolean {
  return route.kind === 'write' || (route.kind === 'read' && route.changesUsage === true);
}

function servedBy({ request, caller }: Call): Pick<ServedRequest, 'head' | 'actor'> {
  return { head: request, actor: caller?.actor.name };
}

/** Of pages: what a visitor's context takes. Evaluating for it costs about the same for everybody. */
const SPARED_BODY_BYTES_MAX = 4 * 1024;

/**
 * The pages of an application have one token for all of their visitors, and one of them must not make the others wait. So each
 * address counts alone there, and small requests count nothing.
 */
function isSpared({ request }: Call, { isForPages }: Surface): boolean {
  return isForPages === true && request.body.byteLength <= SPARED_BODY_BYTES_MAX;
}

/** Who is charged for the time that a request takes. */
function chargedName({ request }: Call, { isForPages }: Surface, { actor }: Caller): string {
  const name = callerName(actor);
  return isForPages === true ? `${name} ${request.remoteAddress()}` : name;
}

function bindRoute(surface: Surface, route: Route | PlainRoute, meter: RouteMeter): BoundRoute {
  const paramNames = paramNamesOf(route.path);
  return {
    surface,
    route,
    meter,
    paramNames,
    projectAt: paramNames.indexOf('projectId'),
    flagAt: paramNames.indexOf('featureName'),
  };
}

// The functions that each request needs are returned and not assigned. An assigned function has a name, and the loader
// (tsx) sets each name at run time, which took a seventh of a cached read.

function responseMaker(
  route: WriteRoute,
  context: RequestContext<unknown>,
  command: Command,
): (world: World, events: readonly DomainEvent[]) => HttpResponse {
  return (_, events) => route.respond(context, events, command);
}

/** The response, or 304 when the client has it already. */
function unlessKnown(response: HttpResponse | TaggedResponse, request: TransportRequest): HttpResponse {
  return response instanceof TaggedResponse && isNotModified(request, response.etag)
    ? response.notModified
    : response;
}

/** The body without the secret in it. */
function redacted(body: string, secretField: string | undefined): string {
  if (secretField === undefined) return body;
  return JSON.stringify({ ...JSON.parse(body), [secretField]: null });
}
