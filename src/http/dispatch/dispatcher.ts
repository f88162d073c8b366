/**
 * Takes a request to its response. The order of checks is fixed (docs/specification/common.md#order-of-checks): path,
 * method, 401, 403, 404 for what the path names, 400 for the body, 409. Each step below is one of them.
 *
 * Every answer that shows state waits until what it shows is durable (invariants 3 and 4): reads for the newest
 * event in them, refusals that looked at the state for all of it, writes for their own event.
 */
import type { Engine, Outcome } from '../../actors/engine.ts';
import type { FlagHistory } from '../../actors/flag-history.ts';
import type { Command } from '../../domain/decide/decide.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { Reply, RequestHandler, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { AUTHENTICATION_REQUIRED, type Authenticator, type Caller, mayDo, noAccess } from './access.ts';
import { flagPrecondition, isNotModified, notModifiedReply } from './conditional.ts';
import { internalErrorReply, refusalReply } from './errors.ts';
import { retryOf } from './idempotency.ts';
import type { Instance } from './instance.ts';
import type { TaggedReply } from './json-reply.ts';
import { RouteMeter } from './meters.ts';
import { type ParamName, type Params, paramNamesOf, paramsOf } from './params.ts';
import { readBody } from './request-body.ts';
import type { ReadAnswer, ReadRoute, RequestContext, Route, WriteRoute } from './route.ts';
import { compileRoutes, type RouteMatcher } from './route-matcher.ts';

/** A path outside the table of routes: health, pages. Answers without looking at the state's flags. */
export interface PlainRoute {
  readonly method: 'GET';
  readonly path: string;
  answer(request: TransportRequest): Reply | Promise<Reply>;
}

export interface ApiLog {
  error(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

export interface ApiOptions {
  readonly engine: Engine;
  readonly history: FlagHistory;
  readonly instance: Instance;
  readonly authenticator: Authenticator;
  readonly routes: readonly Route[];
  readonly plainRoutes: readonly PlainRoute[];
  /** What stands before the path of every one of `routes`. */
  readonly prefix: string;
  /** `BASE_URI_PATH`: what stands before every path. */
  readonly basePath: string;
  readonly log: ApiLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  clock(): number;
  /** Whether answers are counted and timed. */
  readonly metered: boolean;
}

interface BoundRoute {
  readonly route: Route;
  readonly meter: RouteMeter;
  readonly paramNames: readonly ParamName[];
  /** Position of `:projectId` among the parameters; -1 without one. */
  readonly projectAt: number;
  /** Position of `:featureName`, which tells the project where the path does not; -1 without one. */
  readonly flagAt: number;
}

type Target = { readonly api: BoundRoute } | { readonly plain: PlainRoute; readonly meter: RouteMeter };

interface Call {
  readonly request: TransportRequest;
  readonly response: TransportResponse;
  readonly startedAt: number;
  /** Of the route; that of unknown paths until one is found. */
  meter: RouteMeter;
}

export interface Api {
  readonly handle: RequestHandler;
  /** One for each route, and one for what no route answers. */
  readonly meters: readonly RouteMeter[];
}

export function createApi(options: ApiOptions): Api {
  const dispatcher = new Dispatcher(options);
  return { handle: dispatcher.handle, meters: dispatcher.meters };
}

class Dispatcher {
  readonly #options: ApiOptions;
  readonly #world: World;
  readonly #engine: Engine;
  readonly #matcher: RouteMatcher<Target>;
  readonly #unmatched = new RouteMeter('', 'none');
  readonly meters: RouteMeter[] = [this.#unmatched];
  readonly #logsAccess: boolean;
  readonly #isTimed: boolean;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#world = options.engine.world;
    this.#logsAccess = options.log.isLevelEnabled('debug');
    this.#isTimed = options.metered || this.#logsAccess;
    this.#matcher = compileRoutes<Target>(
      [
        ...options.routes.map((route) => ({
          method: route.method,
          pattern: options.prefix + route.path,
          value: { api: bind(route, this.#meter(route.method, options.prefix + route.path)) },
        })),
        ...options.plainRoutes.map((plain) => ({
          method: plain.method,
          pattern: plain.path,
          value: { plain, meter: this.#meter(plain.method, plain.path) },
        })),
      ],
      options.basePath,
    );
  }

  #meter(method: string, route: string): RouteMeter {
    const meter = new RouteMeter(method, route);
    this.meters.push(meter);
    return meter;
  }

  readonly handle: RequestHandler = (request, response) => {
    const startedAt = this.#isTimed ? this.#options.clock() : 0;
    const call: Call = { request, response, startedAt, meter: this.#unmatched };
    try {
      this.#route(call);
    } catch (error) {
      this.#fail(call, error);
    }
  };

  /** Every answer leaves through here: counted, and in the access log when that is asked for. */
  #send(call: Call, reply: Reply): void {
    if (this.#isTimed) this.#record(call, reply.status);
    call.response.send(reply);
  }

  #record(call: Call, status: number): void {
    const durationMs = this.#options.clock() - call.startedAt;
    if (this.#options.metered) call.meter.answered(status, durationMs);
    if (!this.#logsAccess) return;
    const { method, path } = call.request;
    this.#options.log.debug({ method, path, status, durationMs }, 'answered');
  }

  #route(call: Call): void {
    const { request } = call;
    const match = this.#matcher.match(request.method, request.path);
    switch (match.kind) {
      case 'found':
        if ('plain' in match.found) this.#answerPlain(call, match.found);
        else this.#authorize(call, match.found.api, match.params);
        return;
      case 'not-found':
        this.#send(
          call,
          refusalReply(refuse('NotFoundError', `There is nothing at the path ${shortened(request.path)}.`)),
        );
        return;
      case 'method-not-allowed':
        this.#send(call, methodNotAllowed(request, match.allowed));
        return;
      case 'bad-encoding':
        this.#send(
          call,
          refusalReply(
            refuse(
              'ValidationError',
              `The path ${shortened(request.path)} is not valid percent-encoded UTF-8.`,
            ),
          ),
        );
    }
  }

  #answerPlain(call: Call, { plain, meter }: Extract<Target, { plain: PlainRoute }>): void {
    call.meter = meter;
    const reply = plain.answer(call.request);
    if (!(reply instanceof Promise)) return this.#send(call, reply);
    reply.then(
      (late) => this.#guarded(call, () => this.#send(call, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #authorize(call: Call, bound: BoundRoute, params: readonly string[]): void {
    call.meter = bound.meter;
    const caller = this.#options.authenticator.authenticate(call.request.header('authorization'));
    // Who may not come in must not be kept waiting for other people's changes, holding a connection and memory.
    if (caller === null) {
      return this.#refuseSettled(call, AUTHENTICATION_REQUIRED, this.#world.directory.accessRevision);
    }
    const { permission } = bound.route;
    const projectId = this.#projectOf(bound, params);
    if (!mayDo(this.#world, caller, permission, projectId)) {
      return this.#refuseSettled(call, noAccess(caller, permission, projectId));
    }
    this.#prepare(call, bound, caller, params);
  }

  #projectOf({ projectAt, flagAt }: BoundRoute, params: readonly string[]): string | null {
    if (projectAt >= 0) return params[projectAt] ?? null;
    if (flagAt >= 0) return this.#world.directory.flagProjects.get(params[flagAt] ?? '') ?? null;
    return null;
  }

  #prepare(call: Call, { route, paramNames }: BoundRoute, caller: Caller, values: readonly string[]): void {
    const params = paramsOf(paramNames, values);
    const missing = route.locate?.(this.#world, params);
    if (isRefusal(missing)) return this.#refuseSettled(call, missing);
    const body = readBody(route, call.request);
    if (isRefusal(body)) {
      this.#send(call, refusalReply(body));
      return;
    }
    const context = new Context(this.#options, call.request.query, caller, params, body.value);
    if (route.kind === 'read') this.#read(call, route, context);
    else this.#write(call, route, context);
  }

  #read(call: Call, route: ReadRoute, context: RequestContext<unknown>): void {
    const answer = route.read(context);
    if (!(answer instanceof Promise)) return this.#answerRead(call, answer);
    answer.then(
      (late) => this.#guarded(call, () => this.#answerRead(call, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #answerRead(call: Call, answer: ReadAnswer | Refusal): void {
    if (isRefusal(answer)) return this.#refuseSettled(call, answer);
    const reply = unlessKnown(answer.reply, call.request);
    if (answer.revision <= this.#engine.durableId) this.#send(call, reply);
    else this.#engine.whenDurable(answer.revision, () => this.#send(call, reply));
  }

  #write(call: Call, route: WriteRoute, context: RequestContext<unknown>): void {
    const command = route.command(context);
    if (!(command instanceof Promise)) return this.#submit(call, route, context, command);
    command.then(
      (late) => this.#guarded(call, () => this.#submit(call, route, context, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #submit(call: Call, route: WriteRoute, context: RequestContext<unknown>, command: Command | Refusal): void {
    if (isRefusal(command)) return this.#refuseSettled(call, command);
    const { request } = call;
    const retry = retryOf(request, (body) => redacted(body, route.secretField));
    if (isRefusal(retry)) return this.#refuseSettled(call, retry);
    const precondition = flagPrecondition(request.header('if-match'), context.params);
    this.#engine.submit({
      command,
      actor: context.caller.actor,
      retry,
      precondition,
      answer: answerMaker(route, context, command),
      done: this.#outcomeTaker(call),
    });
  }

  #outcomeTaker(call: Call): (outcome: Outcome<Reply>) => void {
    return (outcome) => this.#answerWrite(call, outcome);
  }

  #answerWrite(call: Call, outcome: Outcome<Reply>): void {
    if (outcome.kind === 'answer') this.#send(call, outcome.answer);
    else if (outcome.kind === 'refusal') this.#send(call, refusalReply(outcome.refusal));
    else this.#fail(call, outcome.error);
  }

  /**
   * A refusal that says something about the state leaves when that state is settled: all of it, or up to `revision`.
   */
  #refuseSettled(call: Call, refusal: Refusal, revision = this.#engine.lastId): void {
    this.#engine.whenDurable(revision, () => this.#send(call, refusalReply(refusal)));
  }

  /** Nobody else would catch what is thrown here, and a request without an answer would hang. */
  #guarded(call: Call, proceed: () => void): void {
    try {
      proceed();
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #fail(call: Call, error: unknown): void {
    const { request } = call;
    const { errorId, ...reply } = internalErrorReply();
    this.#options.log.error(
      { err: error, errorId, method: request.method, path: request.path },
      'request failed',
    );
    this.#send(call, reply);
  }
}

function bind(route: Route, meter: RouteMeter): BoundRoute {
  const paramNames = paramNamesOf(route.path);
  return {
    route,
    meter,
    paramNames,
    projectAt: paramNames.indexOf('projectId'),
    flagAt: paramNames.indexOf('featureName'),
  };
}

/**
 * Most requests look at little of it, so what is the same for all is not copied, and the query parsed when asked for.
 */
class Context implements RequestContext<unknown> {
  readonly #shared: ApiOptions;
  readonly #query: string;
  readonly caller: Caller;
  readonly params: Params;
  readonly body: unknown;

  constructor(shared: ApiOptions, query: string, caller: Caller, params: Params, body: unknown) {
    this.#shared = shared;
    this.#query = query;
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

  get history(): FlagHistory {
    return this.#shared.history;
  }

  get instance(): Instance {
    return this.#shared.instance;
  }

  get now(): () => number {
    return this.#shared.now;
  }

  query(name: string): string {
    return this.#query === '' ? '' : (new URLSearchParams(this.#query).get(name) ?? '');
  }
}

// The functions that each request needs are returned, not assigned: what is assigned has a name, and the loader (tsx)
// sets each name at run time, which took a seventh of answering a flag that is kept.

function answerMaker(
  route: WriteRoute,
  context: RequestContext<unknown>,
  command: Command,
): (world: World, events: readonly DomainEvent[]) => Reply {
  return (_, events) => route.answer(context, events, command);
}

/** The reply, or 304 in its place where the client has said that it has it. */
function unlessKnown(reply: Reply | TaggedReply, request: TransportRequest): Reply {
  if (!('etag' in reply) || !isNotModified(request, reply.etag)) return reply;
  return notModifiedReply(reply.etag);
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

function methodNotAllowed(request: TransportRequest, allowed: readonly string[]): Reply {
  const refusal = refuse(
    'MethodNotAllowedError',
    `The path ${shortened(request.path)} does not support ${request.method}; it supports ${allowed.join(', ')}.`,
  );
  return refusalReply(refusal, ['allow', allowed.join(', ')]);
}
