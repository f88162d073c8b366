/**
 * Takes a request to its response. The order of checks is fixed (docs/specification/common.md#order-of-checks): path,
 * method, 401, 403, 404 for what the path names, 400 for the body, 409. Each step below is one of them.
 *
 * A response that shows state waits until that state is durable (invariants 3 and 4): a read waits for the newest
 * event that it shows, a refusal that depends on the state for all of it, and a write for its own event.
 */
import type { Engine } from '../../actors/engine.ts';
import type { LogReads } from '../../actors/log-reads.ts';
import type { Asker } from '../../actors/read-queue.ts';
import type { Outcome } from '../../actors/submission.ts';
import type { Usage } from '../../actors/usage.ts';
import type { Command } from '../../domain/decide/decide.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type {
  HttpResponse,
  RequestHandler,
  Responder,
  TransportRequest,
  TransportRequestHead,
} from '../transport/transport.ts';
import { type Authenticator, type Caller, NOBODY } from './access.ts';
import { flagPrecondition, isNotModified } from './conditional.ts';
import { type CrossOrigin, crossOriginOf } from './cross-origin.ts';
import { refuseCrossSite } from './cross-site.ts';
import { COMMON_ERRORS, type ErrorShape } from './errors.ts';
import { retryOf } from './idempotency.ts';
import type { Instance } from './instance.ts';
import { TaggedResponse } from './json-response.ts';
import { loggedPath } from './logged-path.ts';
import { RouteMeter } from './meters.ts';
import { type ParamName, type Params, paramNamesOf, paramsOf } from './params.ts';
import { readBody } from './request-body.ts';
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
import {
  type Route as Compiled,
  compileRoutes,
  type RouteMatch,
  type RouteMatcher,
} from './route-matcher.ts';
import { type Surface, surfaceAt } from './surface.ts';

export interface ApiLog {
  error(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

export interface ApiOptions {
  readonly engine: Engine;
  readonly reads: LogReads;
  readonly instance: Instance;
  readonly authenticator: Authenticator;
  readonly usage: Usage;
  readonly surfaces: readonly Surface[];
  /** `BASE_URI_PATH`, the prefix of every path. */
  readonly basePath: string;
  /** Origins of pages whose requests browsers let through, for surfaces that pages call; `*` for any. */
  readonly frontendOrigins: readonly string[];
  readonly log: ApiLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  /** Whether responses are counted and timed. */
  readonly metered: boolean;
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
}

const RIGHTS_CHANGED: Refusal = refuse(
  'ServiceUnavailableError',
  'The rights of the caller changed while the request arrived; send it again.',
);

export interface Api {
  readonly handle: RequestHandler;
  /** Whether the body of a request is worth memory: false for one that `handle` refuses with 404, 405, 401 or 403. */
  readonly admit: (head: TransportRequestHead) => boolean;
  /** One for each route, and one for requests without a route. */
  readonly meters: readonly RouteMeter[];
}

export function createApi(options: ApiOptions): Api {
  const dispatcher = new Dispatcher(options);
  return { handle: dispatcher.handle, admit: dispatcher.admit, meters: dispatcher.meters };
}

class Dispatcher {
  readonly #options: ApiOptions;
  readonly #world: World;
  readonly #engine: Engine;
  readonly #matcher: RouteMatcher<BoundRoute>;
  readonly #unmatched = new RouteMeter('', 'none');
  readonly meters: RouteMeter[] = [this.#unmatched];
  readonly #logsAccess: boolean;
  readonly #isTimed: boolean;
  readonly #crossOrigin: CrossOrigin;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#world = options.engine.world;
    this.#logsAccess = options.log.isLevelEnabled('debug');
    this.#isTimed = options.metered || this.#logsAccess;
    this.#crossOrigin = crossOriginOf(options.frontendOrigins);
    this.#matcher = compileRoutes(
      options.surfaces.flatMap((surface) => surface.routes.map((route) => this.#bind(surface, route))),
      options.basePath,
    );
  }

  #bind(surface: Surface, route: Route | PlainRoute): Compiled<BoundRoute> {
    const { method } = route;
    const pattern = surface.prefix + route.path;
    const meter = new RouteMeter(method, pattern);
    this.meters.push(meter);
    return { method, pattern, value: bindRoute(surface, route, meter) };
  }

  readonly handle: RequestHandler = (request, responder) => {
    const startedAt = this.#isTimed ? this.#options.monotonicMs() : 0;
    const call: Call = { request, responder, startedAt, meter: this.#unmatched, surface: null, params: null };
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

  /** Sends every response, counts it, and writes it to the access log at the level debug. */
  #send(call: Call, response: HttpResponse): void {
    if (this.#isTimed) this.#record(call, response.status);
    call.responder.send(this.#readable(call, response));
  }

  /** The response, with headers that let pages of other origins read it where the surface is for them. */
  #readable(call: Call, response: HttpResponse): HttpResponse {
    const isForPages = call.surface?.isForPages === true;
    return isForPages ? this.#crossOrigin.allow(call.request, response) : response;
  }

  #record(call: Call, status: number): void {
    const durationMs = this.#options.monotonicMs() - call.startedAt;
    if (this.#options.metered) call.meter.responded(status, durationMs);
    if (!this.#logsAccess) return;
    const { method, path } = call.request;
    this.#options.log.debug({ method, path: loggedPath(path), status, durationMs }, 'answered');
  }

  #route(call: Call): void {
    const { request } = call;
    const match = this.#matcher.match(request.method, request.path);
    if (match.kind === 'found') {
      const bound = match.found;
      call.meter = bound.meter;
      call.surface = bound.surface;
      if (bound.route.kind === 'plain') this.#respondToPlain(call, bound.route);
      else this.#authorize(call, bound, bound.route, match.params);
      return;
    }
    call.surface = surfaceAt(this.#options.surfaces, this.#belowBase(request.path)) ?? null;
    const isPreflight = request.method === 'OPTIONS' && call.surface?.isForPages === true;
    if (isPreflight) this.#send(call, this.#crossOrigin.preflight(request));
    else this.#refuse(call, ...unmatched(request, match));
  }

  #belowBase(path: string): string {
    const { basePath } = this.#options;
    return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
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
    if (!isRefusal(caller)) return this.#prepare(call, bound, route, caller, params);
    // An unauthenticated caller must not wait for changes of others, because it would hold a connection and memory.
    const isUnknown = caller === bound.surface.access?.unauthenticated;
    this.#refuseSettled(call, caller, isUnknown ? this.#world.directory.accessRevision : undefined);
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
    const caller = this.#options.authenticator.authenticate(head.header('authorization'));
    if (caller === null) return access.unauthenticated;
    const crossSite = caller.kind === 'anyone' && route.kind === 'write' ? refuseCrossSite(head) : null;
    if (crossSite !== null) return crossSite;
    return access.refuse(this.#world, caller, route.permission, this.#projectOf(bound, params)) ?? caller;
  }

  #projectOf({ projectAt, flagAt }: BoundRoute, params: readonly string[]): string | null {
    if (projectAt >= 0) return params[projectAt] ?? null;
    if (flagAt >= 0) return this.#world.directory.flagProjects.get(params[flagAt] ?? '') ?? null;
    return null;
  }

  #prepare(call: Call, bound: BoundRoute, route: Route, caller: Caller, values: readonly string[]): void {
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
    const { status, headers } = this.#readable(call, head);
    const stream = call.responder.stream({ status, headers });
    if (stream === null) return this.#refuse(call, NO_MORE_STREAMS);
    if (this.#isTimed) this.#record(call, status);
    try {
      opened.begin(stream);
    } catch (error) {
      stream.close();
      this.#logFault(call, error);
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
      if (!call.responder.isWanted) return NOT_WANTED;
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
    if (outcome.kind === 'response') this.#send(call, outcome.response);
    else if (outcome.kind === 'refusal') this.#refuse(call, outcome.refusal);
    else this.#fail(call, outcome.error);
  }

  /**
   * Sends a refusal that depends on the state once that state is durable: all of it, or up to `revision`.
   */
  #refuseSettled(call: Call, refusal: Refusal, revision = this.#engine.lastId): void {
    this.#engine.whenDurable(revision, () => this.#refuse(call, refusal));
  }

  #refuse(call: Call, refusal: Refusal, extraHeaders?: readonly string[]): void {
    this.#send(call, errorsOf(call).refusal(refusal, extraHeaders, call.params));
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
    const { responder } = call;
    // What a reader gives up because no response is wanted is no failure.
    if (responder.signal.aborted && error === responder.signal.reason) return;
    const { errorId, response } = errorsOf(call).fault();
    this.#logFault(call, error, errorId);
    this.#send(call, response);
  }

  #logFault({ request: { method, path } }: Call, error: unknown, errorId?: string): void {
    this.#options.log.error({ err: error, errorId, method, path: loggedPath(path) }, 'request failed');
  }
}

const NO_MORE_STREAMS = refuse(
  'ServiceUnavailableError',
  'No further stream can be opened at the moment: too many are open, or the server stops.',
);

/** Nobody gets to see it: the client is gone, or was told at the deadline that the request had failed. */
const NOT_WANTED = refuse('ServiceUnavailableError', 'The client no longer waits for this request.');

function errorsOf({ surface }: Call): ErrorShape {
  return surface?.errors ?? COMMON_ERRORS;
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

/**
 * Most requests use little of it, so shared parts are not copied, and the query is parsed only on demand.
 */
class Context implements RequestContext<unknown> {
  readonly #shared: ApiOptions;
  readonly #request: TransportRequest;
  readonly #responder: Responder;
  readonly caller: Caller;
  readonly params: Params;
  readonly body: unknown;

  constructor(
    shared: ApiOptions,
    { request, responder }: Pick<Call, 'request' | 'responder'>,
    { caller, params, body }: Pick<RequestContext<unknown>, 'caller' | 'params' | 'body'>,
  ) {
    this.#shared = shared;
    this.#request = request;
    this.#responder = responder;
    this.caller = caller;
    this.params = params;
    this.body = body;
  }

  get world(): World {
    return this.#shared.engine.world;
  }

  get engine(): Engine {
    return this.#shared.engine;
  }

  get reads(): LogReads {
    return this.#shared.reads;
  }

  get asker(): Asker {
    const { name, userId } = this.caller.actor;
    return { name: `${userId} ${name}`, signal: this.#responder.signal };
  }

  get instance(): Instance {
    return this.#shared.instance;
  }

  get usage(): Usage {
    return this.#shared.usage;
  }

  get now(): () => number {
    return this.#shared.now;
  }

  remoteAddress(): string {
    return this.#request.remoteAddress();
  }

  get rawQuery(): string {
    return this.#request.query;
  }

  header(name: string): string {
    return this.#request.header(name);
  }

  query(name: string): string {
    const { query } = this.#request;
    return query === '' ? '' : (new URLSearchParams(query).get(name) ?? '');
  }

  queryAll(name: string): readonly string[] {
    const { query } = this.#request;
    return query === '' ? [] : new URLSearchParams(query).getAll(name);
  }
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

/** A path as a message repeats it: whole, unless it is absurdly long. */
function shortened(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 200)}…`;
}

/** What is told where no route matches, and the headers that belong to it. */
function unmatched(
  { method, path }: TransportRequest,
  match: Exclude<RouteMatch<BoundRoute>, { kind: 'found' }>,
): [Refusal, (readonly string[])?] {
  const named = shortened(path);
  if (match.kind === 'not-found') return [notFound(`There is nothing at the path ${named}.`)];
  if (match.kind === 'bad-encoding') {
    return [refuse('ValidationError', `The path ${named} is not valid percent-encoded UTF-8.`)];
  }
  const allowed = match.allowed.join(', ');
  const message = `The path ${named} does not support ${method}; it supports ${allowed}.`;
  return [refuse('MethodNotAllowedError', message), ['allow', allowed]];
}
