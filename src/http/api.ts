/**
 * From a request to its answer. The order of checks is decided (decisions.md §1): path → method → 401 → 403 →
 * 404 of what the path names → 400 of the body → 409; each step below is one of them.
 *
 * Every answer that shows state waits until what it shows is durable (invariants 3 and 4): reads for the newest
 * event in them, refusals that looked at the state for all of it, writes for their own event.
 */
import type { Engine, Outcome } from '../actors/engine.ts';
import { isRefusal, type Refusal, refuse } from '../domain/refusal.ts';
import type { World } from '../domain/world.ts';
import { AUTHENTICATION_REQUIRED, type Authenticator, type Caller, mayDo, noAccess } from './access.ts';
import { flagPrecondition, isNotModified, notModifiedReply } from './conditional.ts';
import { internalErrorReply, refusalReply } from './errors.ts';
import { retryOf } from './idempotency.ts';
import { readBody } from './request-body.ts';
import type { Params, ReadAnswer, ReadRoute, RequestContext, Route, WriteRoute } from './route.ts';
import { compileRoutes, type RouteMatcher } from './route-matcher.ts';
import type { Reply, RequestHandler, TransportRequest, TransportResponse } from './transport.ts';

/** A path outside the table of routes: health, pages. Answers without looking at the state's flags. */
export interface PlainRoute {
  readonly method: 'GET';
  readonly path: string;
  answer(request: TransportRequest): Reply;
}

export interface ApiLog {
  error(fields: object, message: string): void;
}

export interface ApiOptions {
  readonly engine: Engine;
  readonly authenticator: Authenticator;
  readonly routes: readonly Route[];
  readonly plainRoutes: readonly PlainRoute[];
  /** What stands before the path of every one of `routes`. */
  readonly prefix: string;
  /** `BASE_URI_PATH`: what stands before every path. */
  readonly basePath: string;
  readonly log: ApiLog;
  /** Milliseconds since 1970. */
  now(): number;
}

interface BoundRoute {
  readonly route: Route;
  readonly paramNames: readonly string[];
  /** Position of `:projectId` among the parameters; -1 without one. */
  readonly projectAt: number;
  /** Position of `:featureName`, which tells the project where the path does not; -1 without one. */
  readonly flagAt: number;
}

type Target = { readonly api: BoundRoute } | { readonly plain: PlainRoute };

interface Call {
  readonly request: TransportRequest;
  readonly response: TransportResponse;
}

export function createApi(options: ApiOptions): RequestHandler {
  const api = new Api(options);
  return (request, response) => api.handle({ request, response });
}

class Api {
  readonly #options: ApiOptions;
  readonly #world: World;
  readonly #engine: Engine;
  readonly #matcher: RouteMatcher<Target>;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#world = options.engine.world;
    this.#matcher = compileRoutes<Target>(
      [
        ...options.routes.map((route) => ({
          method: route.method,
          pattern: options.prefix + route.path,
          value: { api: bind(route) },
        })),
        ...options.plainRoutes.map((plain) => ({
          method: plain.method,
          pattern: plain.path,
          value: { plain },
        })),
      ],
      options.basePath,
    );
  }

  handle(call: Call): void {
    try {
      this.#route(call);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #route(call: Call): void {
    const { request, response } = call;
    const match = this.#matcher.match(request.method, request.path);
    switch (match.kind) {
      case 'found':
        if ('plain' in match.found) response.send(match.found.plain.answer(request));
        else this.#authorize(call, match.found.api, match.params);
        return;
      case 'not-found':
        response.send(
          refusalReply(refuse('NotFoundError', `There is nothing at the path ${shortened(request.path)}.`)),
        );
        return;
      case 'method-not-allowed':
        response.send(methodNotAllowed(request, match.allowed));
        return;
      case 'bad-encoding':
        response.send(
          refusalReply(
            refuse(
              'ValidationError',
              `The path ${shortened(request.path)} is not valid percent-encoded UTF-8.`,
            ),
          ),
        );
    }
  }

  #authorize(call: Call, bound: BoundRoute, params: readonly string[]): void {
    const caller = this.#options.authenticator.authenticate(call.request.header('authorization'));
    if (caller === null) return this.#refuseSettled(call, AUTHENTICATION_REQUIRED);
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
    const params = nameParams(paramNames, values);
    const missing = route.locate?.(this.#world, params);
    if (isRefusal(missing)) return this.#refuseSettled(call, missing);
    const body = readBody(route, call.request);
    if (isRefusal(body)) {
      call.response.send(refusalReply(body));
      return;
    }
    const { request } = call;
    const context: RequestContext<unknown> = {
      world: this.#world,
      engine: this.#engine,
      caller,
      params,
      query: (name) => new URLSearchParams(request.query).get(name) ?? '',
      body: body.value,
      now: this.#options.now(),
    };
    if (route.kind === 'read') this.#read(call, route, context);
    else this.#write(call, route, context);
  }

  #read(call: Call, route: ReadRoute, context: RequestContext<unknown>): void {
    const answer = route.read(context);
    if (!(answer instanceof Promise)) return this.#answerRead(call, answer);
    answer.then(
      (late) => this.handleLate(call, () => this.#answerRead(call, late)),
      (error: unknown) => this.#fail(call, error),
    );
  }

  #answerRead(call: Call, answer: ReadAnswer | Refusal): void {
    if (isRefusal(answer)) return this.#refuseSettled(call, answer);
    const { etag } = answer;
    const known = etag !== undefined && isNotModified(call.request.header('if-none-match'), etag);
    const reply = known ? notModifiedReply(etag) : answer.reply;
    if (answer.revision <= this.#engine.durableId) call.response.send(reply);
    else this.#engine.whenDurable(answer.revision, () => call.response.send(reply));
  }

  #write(call: Call, route: WriteRoute, context: RequestContext<unknown>): void {
    const command = route.command(context);
    if (isRefusal(command)) return this.#refuseSettled(call, command);
    const { request } = call;
    const retry = retryOf(request, (body) => redacted(body, route.secretField));
    if (isRefusal(retry)) return this.#refuseSettled(call, retry);
    const precondition = flagPrecondition(request.header('if-match'), context.params);
    this.#engine.submit({
      command,
      actor: context.caller.actor,
      ...(retry === undefined ? {} : { retry }),
      ...(precondition === undefined ? {} : { precondition }),
      answer: (_world, events) => route.answer(context, events),
      done: (outcome: Outcome<Reply>) => this.#answerWrite(call, outcome),
    });
  }

  #answerWrite(call: Call, outcome: Outcome<Reply>): void {
    if (outcome.kind === 'answer') call.response.send(outcome.answer);
    else if (outcome.kind === 'refusal') call.response.send(refusalReply(outcome.refusal));
    else this.#fail(call, outcome.error);
  }

  /** A refusal that says something about the state leaves when that state is settled. */
  #refuseSettled(call: Call, refusal: Refusal): void {
    this.#engine.whenDurable(this.#engine.lastId, () => call.response.send(refusalReply(refusal)));
  }

  /** For what goes on after the handler returned: nobody else would catch what it throws. */
  handleLate(call: Call, proceed: () => void): void {
    try {
      proceed();
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #fail({ request, response }: Call, error: unknown): void {
    const { errorId, ...reply } = internalErrorReply();
    this.#options.log.error(
      { err: error, errorId, method: request.method, path: request.path },
      'request failed',
    );
    response.send(reply);
  }
}

function bind(route: Route): BoundRoute {
  const paramNames = route.path
    .split('/')
    .filter((segment) => segment.startsWith(':'))
    .map((segment) => segment.slice(1));
  return {
    route,
    paramNames,
    projectAt: paramNames.indexOf('projectId'),
    flagAt: paramNames.indexOf('featureName'),
  };
}

/** The body without the secret in it. */
function redacted(body: string, secretField: string | undefined): string {
  if (secretField === undefined) return body;
  return JSON.stringify({ ...JSON.parse(body), [secretField]: null });
}

function nameParams(names: readonly string[], values: readonly string[]): Params {
  const params: Record<string, string> = {};
  for (let at = 0; at < names.length; at += 1) params[names[at] ?? ''] = values[at] ?? '';
  return params as Params;
}

/** A path as a message repeats it: whole, unless it is absurdly long. */
function shortened(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 200)}…`;
}

function methodNotAllowed(request: TransportRequest, allowed: readonly string[]): Reply {
  const refusal = refuse(
    'MethodNotAllowedError',
    `${request.method} is not possible at ${shortened(request.path)}; possible: ${allowed.join(', ')}.`,
  );
  return refusalReply(refusal, ['allow', allowed.join(', ')]);
}
