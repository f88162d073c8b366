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
import type {
  RequestHandler,
  Responder,
  TransportRequest,
  TransportRequestHead,
} from '../transport/transport.ts';
import type { Authenticator, Caller } from './access.ts';
import { type BoundRoute, Call, type Tracer } from './call.ts';
import { CallerCheck } from './caller-check.ts';
import { AT_LEAST_HEADER, type ClusterAccess } from './cluster.ts';
import { RouteMeter } from './meters.ts';
import { ReadPath } from './read-path.ts';
import { LargeBodies, readBody } from './request-body.ts';
import { type RefuseUnread, ResponseSender, type SenderOptions } from './response-sender.ts';
import type { ContextSources, ReadRoute, Route } from './route.ts';
import { compileRoutes, type RouteMatcher, unmatched } from './route-matcher.ts';
import type { SessionCookies } from './session-cookie.ts';
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
  /** The caller that the body of a request counts for; null for one that `handle` refuses with 404, 405, 401 or 403. */
  readonly admit: (head: TransportRequestHead) => string | null;
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

class Dispatcher {
  readonly #options: ApiOptions;
  readonly #matcher: RouteMatcher<BoundRoute>;
  readonly sender: ResponseSender;
  readonly #callers: CallerCheck;
  readonly #reads: ReadPath;
  readonly #writes: WritePath;
  readonly #largeBodies = new LargeBodies();
  readonly meters: RouteMeter[];
  /** The paths of all routes, with their prefixes: a mistyped path may be near to one. */
  readonly #patterns: readonly string[];
  readonly #accounts: LoopAccounts;

  constructor(given: ApiOptions) {
    const surfaces = alike(given.surfaces);
    const options = { ...given, surfaces };
    const { state, basePath } = options;
    this.#options = options;
    this.#accounts = state.loopAccounts;
    this.sender = new ResponseSender(options);
    this.#callers = new CallerCheck(state, options);
    this.#reads = new ReadPath(state, this.sender);
    this.#writes = new WritePath(options.engine, this.sender, this.#callers);
    const routes = alike<BoundRoute>(
      surfaces.flatMap((surface) =>
        surface.routes.map((route) => {
          const meter = new RouteMeter(route.method, surface.prefix + route.path);
          return { ...route, surface, meter };
        }),
      ),
    );
    this.#matcher = compileRoutes(
      routes.map((value) => ({ method: value.method, pattern: value.meter.route, value })),
      basePath,
    );
    this.meters = [this.sender.unmatched, ...routes.map(({ meter }) => meter)];
    this.#patterns = routes.map(({ meter }) => basePath + meter.route);
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
    const startedAt = this.sender.isTimed ? monotonicMs() : 0;
    const trace = tracer === null ? null : tracer.begin(request);
    return new Call(
      this.#options,
      { request, responder },
      { startedAt, trace, meter: this.sender.unmatched },
    );
  }

  readonly admit = (request: TransportRequestHead): string | null => {
    const match = this.#matcher.match(request.method, request.path);
    if (match.kind !== 'found' || match.found.kind === 'plain') return null;
    const caller = this.#callers.identify(request, match.found, match.params);
    if (isRefusal(caller)) return null;
    return chargedName(request, match.found, caller);
  };

  #route(call: Call): void {
    const { request } = call;
    const match = this.#matcher.match(request.method, request.path);
    if (match.kind === 'found') {
      const route = match.found;
      call.meter = route.meter;
      call.surface = route.surface;
      call.params = match.params;
      const { cluster } = this.#options;
      if (route.kind === 'plain') this.#start(call, route);
      else if (cluster === null) this.#authorize(call, route);
      else this.#whenReached(call, route, cluster);
      return;
    }
    call.surface = this.sender.surfaceOf(request.path);
    if (request.method === 'OPTIONS' && call.surface?.isForPages === true)
      return this.sender.sendPreflight(call);
    const known = { matcher: this.#matcher, patterns: this.#patterns };
    this.sender.refuse(call, ...unmatched(request, match, known));
  }

  #authorize(call: Call, route: BoundRoute<Route>): void {
    const { request, params } = call;
    const found = this.#callers.identify(request, route, params);
    const asksAgain = isRefusal(found) && isKeyed(request, route) && !request.bodyDropped;
    const caller = asksAgain
      ? (this.#callers.identifyWithoutProject(request, route, params) ?? found)
      : found;
    if (isRefusal(caller)) return this.#refuseCaller(call, caller);
    call.caller = caller;
    const { cluster } = this.#options;
    if (cluster !== null && isForLeader(route) && !cluster.isLeading()) {
      if (request.bodyDropped) return this.sender.refuse(call, RIGHTS_CHANGED);
      return this.#writes.forward(call, cluster);
    }
    if (isRefusal(found)) this.#prepare(call, route, found);
    else this.#start(call, route);
  }

  /** Starts the request now, unless its caller has held the event loop for too long. */
  #start(call: Call, route: BoundRoute): void {
    const accounts = this.#accounts;
    if (isSpared(call, route)) return this.#run(call, route);
    if (!accounts.isEmpty) {
      const name = chargedName(call.request, route, call.caller);
      if (accounts.mustWait(name)) return this.#waitForTurn(call, route, name);
    }
    const { monotonicMs, cluster } = this.#options;
    // A request to a cluster may have waited for an event.
    const begunAt = this.sender.isTimed && cluster === null ? call.startedAt : monotonicMs();
    const { chargedMs } = accounts;
    this.#run(call, route);
    // Reading the clock is a good part of the time of a cached read.
    const endedAt = call.endedAt === -1 ? monotonicMs() : call.endedAt;
    const heldMs = Math.max(0, endedAt - begunAt - (accounts.chargedMs - chargedMs));
    // The name is made for the few requests that count.
    if (accounts.counts(heldMs)) accounts.chargeCaller(chargedName(call.request, route, call.caller), heldMs);
  }

  #run(call: Call, route: BoundRoute): void {
    if (route.kind !== 'plain') return this.#prepare(call, route);
    const response = route.respond(call.request);
    if (!(response instanceof Promise)) return this.sender.send(call, response);
    this.sender.later(call, response, (late) => this.sender.send(call, late));
  }

  /** Identifies the caller again in its turn: it may have lost the right. */
  #waitForTurn(call: Call, route: BoundRoute, name: string): void {
    const run = (): void => {
      if (route.kind !== 'plain') {
        const caller = this.#callers.identify(call.request, route, call.params);
        if (isRefusal(caller)) return this.#refuseCaller(call, caller);
        call.caller = caller;
      }
      this.#run(call, route);
    };
    const { signal } = call.responder;
    const ran = this.#accounts.inTurn({ name, signal, bodyBytes: call.request.body.byteLength, run });
    this.sender.later(call, ran, (refusal) => refusal !== undefined && this.sender.refuse(call, refusal));
  }

  #refuseCaller(call: Call, caller: Refusal): void {
    // An unauthenticated caller must not wait for changes of others, because it would hold a connection and memory.
    const isUnknown = caller.name === 'AuthenticationRequired';
    this.sender.refuseSettled(call, caller, isUnknown ? this.#revisionOfCallers() : undefined);
  }

  /** Changes when tokens, users or sessions do. */
  #revisionOfCallers(): number {
    const { accessRevision, sessionsRevision } = this.#options.state.world.directory;
    return Math.max(accessRevision, sessionsRevision);
  }

  /** Continues once this node has the event that the request names, or the one that began its session. */
  #whenReached(call: Call, route: BoundRoute<Route>, { atLeast }: ClusterAccess): void {
    const { request } = call;
    const asked = request.header(AT_LEAST_HEADER);
    const begunBy = asked === '' ? this.#callers.unknownSession(request, route.surface) : null;
    if (asked === '' && begunBy === null) return this.#authorize(call, route);
    // The caller check refuses a session that does not arrive.
    const goOn = (refusal: Refusal | null): void =>
      this.sender.guarded(call, () =>
        refusal === null || begunBy !== null
          ? this.#authorize(call, route)
          : this.sender.refuse(call, refusal),
      );
    const isKnown = begunBy === null && !isRefusal(this.#callers.identify(request, route, call.params));
    const waiting = { bytes: request.body.byteLength, isKnown };
    const reached = atLeast.check(begunBy === null ? asked : String(begunBy), waiting, goOn);
    if (reached !== undefined) goOn(reached);
  }

  /** `refused`: why the caller may only get the response to an earlier request. */
  #prepare(call: Call, route: BoundRoute<Route>, refused?: Refusal): void {
    const { request, params } = call;
    // What refused the caller when the head arrived has changed since; the body is lost.
    if (request.bodyDropped) return this.sender.refuse(call, RIGHTS_CHANGED);
    const located = refused ?? route.locate?.(call.world, params);
    if (isRefusal(located) && !isKeyed(request, route)) return this.sender.refuseSettled(call, located);
    if (route.kind === 'read' && route.bodyItems !== undefined && this.#largeBodies.takes(request)) {
      return this.#readInTurns(call, route);
    }
    let warnings: readonly Warning[] = [];
    if (route.body !== undefined) {
      const outcome = readBody(route, request);
      if (isRefusal(outcome)) {
        if (isRefusal(located)) return this.sender.refuseSettled(call, located);
        return this.sender.refuse(call, outcome);
      }
      call.body = outcome.value;
      warnings = outcome.warnings ?? warnings;
    }
    if (route.kind === 'read') return this.#reads.read(call, route, located);
    if (route.kind === 'write') return this.#writes.write({ call, route, warnings }, located);
    const whoCalls = (): Caller | null => {
      const found = this.#callers.identify(request, route, params);
      return isRefusal(found) ? null : found;
    };
    this.#reads.stream(call, route.open(call, whoCalls));
  }

  /** Reads the body in brief turns, then runs the route. */
  #readInTurns(call: Call, route: ReadRoute): void {
    const { signal, charge } = call;
    this.sender.later(call, this.#largeBodies.read(route, call.request, { signal, charge }), (body) => {
      if (isRefusal(body)) return this.sender.refuse(call, body);
      call.body = body.value;
      this.#reads.read(call, route, undefined);
    });
  }
}

function isForLeader(route: Route): boolean {
  return route.kind === 'write' || (route.kind === 'read' && route.isForLeader === true);
}

/** Whether the request may be a retry, whose response does not depend on what there is by now. */
function isKeyed(request: TransportRequest, route: Route): boolean {
  return route.kind === 'write' && request.header('idempotency-key') !== '';
}

/** Bytes of the largest context of a visitor that is not charged: evaluating for it costs about the same for all. */
const SPARED_BODY_BYTES_MAX = 4 * 1024;

/**
 * Whether no caller is charged: the pages of an application have one token for all of their visitors, and one of them must not make the
 * others wait. So each address counts alone there, and small requests count nothing.
 */
function isSpared({ request }: Call, route: BoundRoute): boolean {
  if (route.kind === 'plain') return route.isLarge !== true;
  return route.surface.isForPages === true && request.body.byteLength <= SPARED_BODY_BYTES_MAX;
}

/** The name under which the time that a request takes, and its body, are charged. Without a token it is the network of the client. */
function chargedName(head: TransportRequestHead, { kind, surface }: BoundRoute, caller: Caller): string {
  const name = kind === 'plain' ? 'page' : callerName(caller.actor);
  return kind === 'plain' || surface.isForPages === true
    ? `${name} ${networkOf(head.remoteAddress())}`
    : name;
}

/** Objects with the fields of all of them, so that V8 gives them one shape. */
function alike<T extends object>(objects: readonly T[]): readonly T[] {
  const names = new Set(objects.flatMap((object) => Object.keys(object)));
  const shape = Object.fromEntries([...names].map((name) => [name, undefined]));
  return objects.map((object) => ({ ...shape, ...object }));
}
