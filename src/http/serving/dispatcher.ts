/**
 * Takes a request to its response. The order of checks is fixed (docs/specification/common.md#order-of-checks): path,
 * method, 401, 403, 404 for what the path names, 400 for the body, 409. Each step below is one of them.
 *
 * A response that shows state waits until that state is durable (invariants 3 and 4): a read waits for the newest
 * event that it shows, a refusal that depends on the state for all of it, and a write for its own event.
 */
import { callerName, type LoopAccounts } from '../../actors/loop-accounts.ts';
import { networkOf } from '../../domain/flags/address.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type {
  RequestHandler,
  Responder,
  TransportRequest,
  TransportRequestHead,
} from '../transport/transport.ts';
import type { Authenticator, Caller } from './access.ts';
import { type BoundRoute, bindRoute, type Call, type Tracer } from './call.ts';
import { CallerCheck } from './caller-check.ts';
import { AT_LEAST_HEADER, type ClusterAccess } from './cluster.ts';
import { RouteMeter } from './meters.ts';
import { type Params, paramsOf } from './params.ts';
import { ReadPath } from './read-path.ts';
import { PiecesOfBodies, readBody } from './request-body.ts';
import { Context, type ContextSources } from './request-context.ts';
import { type RefuseUnread, ResponseSender, type SenderOptions } from './response-sender.ts';
import type { PlainRoute, ReadRoute, Route } from './route.ts';
import { type Route as Compiled, compileRoutes, type RouteMatcher, unmatched } from './route-matcher.ts';
import type { SessionCookies } from './session-cookie.ts';
import { type Surface, surfaceInFull } from './surface.ts';
import { worldSeenBy } from './visible-world.ts';
import type { Warning } from './warnings.ts';
import { WritePath } from './write-path.ts';

export interface ApiOptions extends ContextSources, SenderOptions {
  readonly authenticator: Authenticator;
  readonly cookies: SessionCookies;
  /** Null where one node serves. */
  readonly cluster: ClusterAccess | null;
  /** Null where no traces are recorded. */
  readonly tracer: Tracer | null;
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
  readonly refuse: RefuseUnread;
  /** Responds to a request that is refused before it is routed, as its surface words errors. */
  readonly refuseEarly: (request: TransportRequest, responder: Responder, refusal: Refusal) => void;
  /** One for each route, and one for requests without a route. */
  readonly meters: readonly RouteMeter[];
  /** Responses with 401 since the start. */
  refusedLogins(): number;
}

export function createApi(options: ApiOptions): Api {
  const { handle, admit, refuseEarly, meters, sender } = new Dispatcher(options);
  const refusedLogins = (): number => sender.refusedLogins;
  return { handle, admit, refuse: sender.refuseUnread, refuseEarly, meters, refusedLogins };
}

/** A request that goes on. */
interface Checked {
  readonly caller: Caller;
  readonly params: readonly string[];
  /** The response, unless the request is a retry. */
  readonly refusal?: Refusal;
}

/** A request to a node of a cluster, whose path is one of the route. */
interface FoundInCluster {
  readonly cluster: ClusterAccess;
  readonly route: Route;
  readonly params: readonly string[];
}

class Dispatcher {
  readonly #options: ApiOptions;
  readonly #world: World;
  readonly #matcher: RouteMatcher<BoundRoute>;
  readonly sender: ResponseSender;
  readonly #callers: CallerCheck;
  readonly #reads: ReadPath;
  readonly #writes: WritePath;
  readonly #pieces = new PiecesOfBodies();
  readonly meters: RouteMeter[];
  /** The paths of all routes, with their prefixes: a mistyped path may be near to one. */
  readonly #patterns: readonly string[];
  readonly #accounts: LoopAccounts;

  constructor(given: ApiOptions) {
    const surfaces = given.surfaces.map(surfaceInFull);
    const options = { ...given, surfaces };
    const { state, basePath } = options;
    this.#options = options;
    this.#world = state.world;
    this.#accounts = state.loopAccounts;
    this.sender = new ResponseSender(options);
    this.#callers = new CallerCheck(state.world, options);
    this.#reads = new ReadPath(state, this.sender);
    this.#writes = new WritePath(options.engine, this.sender, this.#callers);
    const routes = surfaces.flatMap((surface) => surface.routes.map((route) => compiled(surface, route)));
    this.#matcher = compileRoutes(routes, basePath);
    this.meters = [this.sender.unmatched, ...routes.map(({ value }) => value.meter)];
    this.#patterns = routes.map(({ pattern }) => basePath + pattern);
  }

  readonly handle: RequestHandler = (request, responder) => {
    const call = this.#callOf(request, responder);
    try {
      this.#route(call);
    } catch (error) {
      this.sender.fail(call, error);
    }
  };

  readonly refuseEarly: Api['refuseEarly'] = (request, responder, refusal) => {
    const call = this.#callOf(request, responder);
    call.surface = this.sender.surfaceOf(request.path);
    this.sender.refuse(call, refusal);
  };

  #callOf(request: TransportRequest, responder: Responder): Call {
    const { tracer, monotonicMs } = this.#options;
    return {
      request,
      responder,
      startedAt: this.sender.isTimed ? monotonicMs() : 0,
      endedAt: -1,
      trace: tracer === null ? null : tracer.begin(request),
      meter: this.sender.unmatched,
      surface: null,
      params: null,
      caller: null,
    };
  }

  readonly admit = (head: TransportRequestHead): boolean => {
    const match = this.#matcher.match(head.method, head.path);
    if (match.kind !== 'found') return false;
    const { found, params } = match;
    return (
      found.route.kind !== 'plain' && !isRefusal(this.#callers.identify(head, found, found.route, params))
    );
  };

  #route(call: Call): void {
    const { request } = call;
    const match = this.#matcher.match(request.method, request.path);
    if (match.kind === 'found') {
      const bound = match.found;
      call.meter = bound.meter;
      call.surface = bound.surface;
      const { route } = bound;
      if (route.kind === 'plain') this.#startPlain(call, route);
      else if (this.#options.cluster === null) this.#authorize(call, bound, route, match.params);
      else this.#whenReached(call, bound, { cluster: this.#options.cluster, route, params: match.params });
      return;
    }
    call.surface = this.sender.surfaceOf(request.path);
    const isPreflight = request.method === 'OPTIONS' && call.surface?.isForPages === true;
    if (isPreflight) this.sender.sendPreflight(call);
    else
      this.sender.refuse(
        call,
        ...unmatched(request, match, { matcher: this.#matcher, patterns: this.#patterns }),
      );
  }

  /** Large requests without a token are charged to their address. */
  #startPlain(call: Call, route: PlainRoute): void {
    if (route.isLarge !== true) return this.#respondToPlain(call, route);
    const name = `page ${call.request.remoteAddress()}`;
    const run = (): void => this.#respondToPlain(call, route);
    if (!this.#accounts.isEmpty && this.#accounts.mustWait(name)) return this.#inTurn(call, name, run);
    const begunAt = this.#options.monotonicMs();
    run();
    const heldMs = this.#options.monotonicMs() - begunAt;
    if (this.#accounts.counts(heldMs)) this.#accounts.chargeCaller(name, heldMs);
  }

  #respondToPlain(call: Call, route: PlainRoute): void {
    const response = route.respond(call.request);
    if (!(response instanceof Promise)) return this.sender.send(call, response);
    response.then(
      (late) => this.sender.guarded(call, () => this.sender.send(call, late)),
      (error: unknown) => this.sender.fail(call, error),
    );
  }

  #authorize(call: Call, bound: BoundRoute, route: Route, params: readonly string[]): void {
    const { request } = call;
    const found = this.#callers.identify(request, bound, route, params);
    const asksAgain = isRefusal(found) && isKeyed(request, route) && !request.bodyDropped;
    const caller = asksAgain
      ? (this.#callers.identifyWithoutProject(request, bound, route, params) ?? found)
      : found;
    if (isRefusal(caller)) return this.#refuseCaller(call, caller);
    const { cluster } = this.#options;
    if (cluster !== null && route.kind === 'write' && !cluster.isLeading()) {
      call.caller = caller;
      if (request.bodyDropped) return this.sender.refuse(call, RIGHTS_CHANGED);
      return this.#writes.forward(call, cluster);
    }
    if (isRefusal(found)) return this.#prepare(call, bound, route, { caller, params, refusal: found });
    this.#start(call, bound, route, { caller, params });
  }

  /** Starts the request now, unless its caller has held the event loop for too long. */
  #start(call: Call, bound: BoundRoute, route: Route, { caller, params }: Checked): void {
    const accounts = this.#accounts;
    const { surface } = bound;
    if (isSpared(call.request, surface)) return this.#prepare(call, bound, route, { caller, params });
    if (!accounts.isEmpty) {
      const name = chargedName(call.request, surface, caller);
      if (accounts.mustWait(name)) return this.#waitForTurn(call, bound, route, { name, params });
    }
    const { monotonicMs, cluster } = this.#options;
    // A request to a cluster may have waited for an event since it came.
    const begunAt = this.sender.isTimed && cluster === null ? call.startedAt : monotonicMs();
    const { chargedMs } = accounts;
    this.#prepare(call, bound, route, { caller, params });
    // Reading the clock is a good part of the time of a cached read.
    const endedAt = call.endedAt === -1 ? monotonicMs() : call.endedAt;
    const heldMs = Math.max(0, endedAt - begunAt - (accounts.chargedMs - chargedMs));
    // The name is made for the few requests that count.
    if (accounts.counts(heldMs)) accounts.chargeCaller(chargedName(call.request, surface, caller), heldMs);
  }

  /** Asks for the caller again when its turn has come: it may have lost the right. */
  #waitForTurn(
    call: Call,
    bound: BoundRoute,
    route: Route,
    { name, params }: { readonly name: string; readonly params: readonly string[] },
  ): void {
    this.#inTurn(call, name, () => {
      const caller = this.#callers.identify(call.request, bound, route, params);
      if (isRefusal(caller)) this.#refuseCaller(call, caller);
      else this.#prepare(call, bound, route, { caller, params });
    });
  }

  #inTurn(call: Call, name: string, run: () => void): void {
    const { signal } = call.responder;
    this.#accounts.inTurn({ name, signal, bodyBytes: call.request.body.byteLength, run }).then(
      (refusal) => refusal !== undefined && this.sender.refuse(call, refusal),
      (error: unknown) => this.sender.fail(call, error),
    );
  }

  #refuseCaller(call: Call, caller: Refusal): void {
    // An unauthenticated caller must not wait for changes of others, because it would hold a connection and memory.
    const isUnknown = caller.name === 'AuthenticationRequired';
    this.sender.refuseSettled(call, caller, isUnknown ? this.#revisionOfCallers() : undefined);
  }

  /** Changes when tokens, users or sessions do. */
  #revisionOfCallers(): number {
    const { accessRevision, sessionsRevision } = this.#world.directory;
    return Math.max(accessRevision, sessionsRevision);
  }

  /** Continues once this node has the event that the request asks for, if any. */
  #whenReached(call: Call, bound: BoundRoute, found: FoundInCluster): void {
    const { cluster, route, params } = found;
    const header = call.request.header(AT_LEAST_HEADER);
    if (header === '') return this.#whenSessionIsKnown(call, bound, found);
    const goOn = (refusal: Refusal | null): void =>
      this.sender.guarded(call, () =>
        refusal === null ? this.#authorize(call, bound, route, params) : this.sender.refuse(call, refusal),
      );
    const isKnown = !isRefusal(this.#callers.identify(call.request, bound, route, params));
    const reached = cluster.atLeast.check(header, { bytes: call.request.body.byteLength, isKnown }, goOn);
    if (reached !== undefined) goOn(reached);
  }

  /** Waits for a session that has just begun on another node; the caller check then accepts or refuses it. */
  #whenSessionIsKnown(call: Call, bound: BoundRoute, { cluster, route, params }: FoundInCluster): void {
    const begunBy = this.#callers.unknownSession(call.request, bound);
    const goOn = (): void => this.sender.guarded(call, () => this.#authorize(call, bound, route, params));
    if (begunBy === null) return goOn();
    const waiting = { bytes: call.request.body.byteLength, isKnown: false };
    if (cluster.atLeast.check(String(begunBy), waiting, goOn) !== undefined) goOn();
  }

  #prepare(call: Call, bound: BoundRoute, route: Route, { caller, params: values, refusal }: Checked): void {
    call.caller = caller;
    // What refused the caller when the head arrived has changed since; the body is lost.
    if (call.request.bodyDropped) return this.sender.refuse(call, RIGHTS_CHANGED);
    const params = paramsOf(bound.paramNames, values);
    call.params = params;
    const located = refusal ?? route.locate?.(worldSeenBy(this.#world, caller), params);
    if (isRefusal(located) && !isKeyed(call.request, route)) return this.sender.refuseSettled(call, located);
    if (route.kind === 'read' && route.bodyItems !== undefined && this.#pieces.takes(call.request)) {
      return this.#readInPieces(call, route, { caller, params });
    }
    let body: unknown;
    let warnings: readonly Warning[] = [];
    if (route.body !== undefined) {
      const outcome = readBody(route, call.request);
      if (isRefusal(outcome)) {
        if (isRefusal(located)) return this.sender.refuseSettled(call, located);
        return this.sender.refuse(call, outcome);
      }
      body = outcome.value;
      warnings = outcome.warnings ?? warnings;
    }
    const context = new Context(this.#options, call, { caller, params, body });
    if (route.kind === 'read') return this.#reads.read(call, route, context, located);
    if (route.kind === 'stream') {
      const whoCalls = (): Caller | null => {
        const found = this.#callers.identify(call.request, bound, route, values);
        return isRefusal(found) ? null : found;
      };
      return this.#reads.stream(call, route.open(context, whoCalls));
    }
    this.#writes.write(call, bound, { route, context, located, warnings, params: values });
  }

  /** Reads the body in brief turns, then runs the route. */
  #readInPieces(
    call: Call,
    route: ReadRoute,
    { caller, params }: { readonly caller: Caller; readonly params: Params },
  ): void {
    const charge = (heldMs: number): void => this.#accounts.charge(caller.actor, heldMs);
    this.#pieces.read(route, call.request, { signal: call.responder.signal, charge }).then(
      (body) =>
        this.sender.guarded(call, () => {
          if (isRefusal(body)) return this.sender.refuse(call, body);
          const context = new Context(this.#options, call, { caller, params, body: body.value });
          this.#reads.read(call, route, context, undefined);
        }),
      (error: unknown) => this.sender.fail(call, error),
    );
  }
}

/** Whether the request may be a retry, whose response does not depend on what there is by now. */
function isKeyed(request: TransportRequest, route: Route): boolean {
  return route.kind === 'write' && request.header('idempotency-key') !== '';
}

/** Bytes of the largest context of a visitor that is charged to nobody: evaluating for it costs about the same for all. */
const SPARED_BODY_BYTES_MAX = 4 * 1024;

/**
 * Whether nobody is charged: the pages of an application have one token for all of their visitors, and one of them must not make the
 * others wait. So each address counts alone there, and small requests count nothing.
 */
function isSpared(request: TransportRequest, { isForPages }: Surface): boolean {
  return isForPages === true && request.body.byteLength <= SPARED_BODY_BYTES_MAX;
}

/** The name under which the time that a request takes is charged. */
function chargedName(request: TransportRequest, { isForPages }: Surface, { actor }: Caller): string {
  const name = callerName(actor);
  return isForPages === true ? `${name} ${networkOf(request.remoteAddress())}` : name;
}

function compiled(surface: Surface, route: Route | PlainRoute): Compiled<BoundRoute> {
  const { method } = route;
  const pattern = surface.prefix + route.path;
  return { method, pattern, value: bindRoute(surface, route, new RouteMeter(method, pattern)) };
}
