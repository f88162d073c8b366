/**
 * The description of a route. The table of routes of each surface is the one source of routing, authentication,
 * rights, validation and the description of the interface; a handler only chooses what is read, or the command
 * and the response to its outcome.
 */
import assert from 'node:assert/strict';
import type * as v from 'valibot';
import type { Engine } from '../../actors/engine.ts';
import type { LogReads } from '../../actors/log-reads.ts';
import type { ServedState } from '../../actors/served-state.ts';
import type { Requester } from '../../actors/turn.ts';
import type { UsageView } from '../../actors/usage-view.ts';
import { type Need, permissionByName, type Right } from '../../domain/access/permissions.ts';
import type { Command } from '../../domain/decide/decide.ts';
import type { Actor } from '../../domain/state/decision.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { present, type Refusal, type RefusalName } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { ResponseHeaders } from '../transport/response.ts';
import type { HttpResponse, ResponseStream, TransportRequest } from '../transport/transport.ts';
import type { Caller } from './access.ts';
import type { Instance } from './instance.ts';
import { emptyResponse, jsonResponse, type TaggedResponse } from './json-response.ts';
import type { Params } from './params.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Schema = v.GenericSchema;

/** The sender of a new password. */
export interface Sender {
  readonly address: string;
  /** Null for callers who are not signed in. */
  readonly userId: number | null;
}

/** The hash to keep of a new password, or a refusal. */
export type HashPassword = (password: string, sender: Sender) => Promise<string | Refusal>;

/** The sources that all requests share. */
export interface ContextSources {
  readonly state: ServedState;
  /** The engine behind the state, for routes that decide or read history. */
  readonly engine: Engine;
  readonly reads: LogReads;
  /** Figures of the process. */
  readonly instance: Instance;
  /** Uses of flags and secrets. */
  readonly usage: UsageView;
  readonly hashPassword: HashPassword;
  readonly site: Site;
  /** Milliseconds since 1970, now. */
  readonly now: () => number;
}

/** The part of a request that a handler sees. */
export interface RequestContext<Body> extends ContextSources {
  /** The state as the caller sees it (visible-world.ts). */
  readonly world: World;
  readonly caller: Caller;
  /** The caller, for the queues of reads; its signal is aborted once no response is wanted any more. */
  readonly requester: Requester;
  readonly params: Params;
  /** A parameter of the query string, by name; empty when absent. */
  query(name: string): string;
  /** All values of a parameter that may be repeated. */
  queryAll(name: string): readonly string[];
  /** The query string as it was sent, without the question mark; empty when there is none. */
  readonly rawQuery: string;
  /** A header of the request, by its name in lower case; empty when absent. */
  header(name: string): string;
  /** The address of the caller, from trusted proxies; empty once the client has disconnected. */
  remoteAddress(): string;
  /** The host that the caller named. */
  host(): string;
  readonly body: Body;
}

/** The server as clients reach it. */
export interface Site {
  /** Whether no token is needed. */
  readonly isOpen: boolean;
  /** The prefix of every path in responses. */
  readonly basePath: string;
  /** The address at which people reach the server, such as `https://flags.example`; null where the operator does not say. */
  readonly publicOrigin: string | null;
}

export interface QueryParameter {
  readonly description: string;
  /** JSON Schema; a string when absent. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

export type Locate<Located extends object> = (world: World, params: Params) => Located | Refusal;

interface RouteBase extends Need {
  readonly method: Method;
  /** Below the prefix of the surface, with `:name` for parameters. */
  readonly path: string;
  readonly operationId: string;
  /** The heading under which the description lists it. */
  readonly tag: string;
  /** One sentence. */
  readonly summary: string;
  /** Finds what the path names, or refuses before the body is read. */
  readonly locate?: Locate<object>;
  /** Parameters of the query string, all optional, by name: for the description. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** The schema of the request's body; absent where no body is read. */
  readonly body?: v.GenericSchema;
  /** True: a request without a body counts as one with `{}`. */
  readonly bodyIsOptional?: true;
  /** Status of the success, and the schema of its body; null for none, or for a text, whose media type is `text`. */
  readonly success: { readonly status: number; readonly schema: Schema | null; readonly text?: string };
  /** Refusals beyond those that every route of its kind can give. */
  readonly refusals?: readonly RefusalName[];
}

/** The result of a read: a response that is ready, and the newest event that it shows. */
export interface ReadResponse {
  readonly revision: number;
  /** A client that already has a tagged response gets 304. */
  readonly response: HttpResponse | TaggedResponse;
}

/** The place of many items in a body. */
export interface ItemsOfBody {
  /** Names of fields from the top. */
  readonly place: readonly string[];
  /** How many the schema lets through; absent when that is any number. */
  readonly countMax?: number;
}

export interface ReadRoute<Body = unknown, Located = unknown> extends RouteBase {
  readonly kind: 'read';
  /** SDKs ask for it again and again, nearly always in vain. Its path has no parameters. */
  readonly isPolled?: true;
  /** True: of a cluster, only the leader has what it shows or does. */
  readonly isForLeader?: true;
  /** Whether a POST responds 304 to a matching If-None-Match, as every GET does. */
  readonly honoursIfNoneMatch?: true;
  /** True: it changes something that is no part of the state, so pages of other sites must not call it where no token is needed. */
  readonly changesUsage?: true;
  /** Lists and objects of the body that may have hundreds of items: those of a large body are checked some at a time. Such a route has no `locate`. */
  readonly bodyItems?: readonly ItemsOfBody[];
  /** `located` is what `locate` found in the same synchronous step. */
  read(
    context: RequestContext<Body>,
    located: Located,
  ): ReadResponse | Refusal | Promise<ReadResponse | Refusal>;
}

/**
 * Refuses the result of a command: rights that depend on its body and on the state. Called in the turn of the command, with the
 * rights that the caller has then, and not where nothing changes. `world` is the state before.
 */
export type Guard = (
  world: World,
  caller: Caller,
  events: readonly DomainEvent[],
  command: Command,
) => Refusal | null;

/** The command of a route whose commands are all of this type. */
export function commandOf<T extends Command['type']>(command: Command, type: T): Command<T> {
  assert.equal(command.type, type);
  return command as unknown as Command<T>;
}

export interface WriteRoute<Body = unknown, Located = unknown> extends RouteBase {
  readonly kind: 'write';
  /**
   * Makes the command. `located` is what `locate` found in the same synchronous step. It may read from the disk first;
   * the command is decided against the state in its own turn.
   */
  command(context: RequestContext<Body>, located: Located): Command | Refusal | Promise<Command | Refusal>;
  /** The author of the change where it is not the caller, but identified by the body. */
  actor?(world: World, command: Command): Actor;
  /** Absent where the check of the route's rights is all. */
  readonly guard?: Guard;
  /** The part of the state that the write changes, which `If-Match` pins where the path names no flag (locators.ts). */
  readonly pinned?: Locate<object>;
  /** The field of the response that holds a secret, which is shown only once and never kept. */
  readonly secretField?: string | readonly string[];
  /** Fields of the body that hold a secret, of which not even a digest is kept for retries. */
  readonly secretsInBody?: readonly string[];
  /** Makes the response from the state right after the command. `events` is empty when nothing changed. */
  respond(context: RequestContext<Body>, events: readonly DomainEvent[], command: Command): HttpResponse;
}

/** The start of a permitted stream: the newest event that it shows at first, and the source that writes to it. */
export interface StreamOpening {
  readonly revision: number;
  /** The headers of the response, whose status is 200. */
  readonly headers: ResponseHeaders;
  /** Called when everything up to `revision` is durable and the response has begun. */
  begin(stream: ResponseStream): void;
}

/** A route whose response stays open: server-sent events. */
export interface StreamRoute<Body = unknown> extends RouteBase {
  readonly kind: 'stream';
  /** `whoCalls` gives the caller with the rights of any later time; null where it may not use the route any more. */
  open(
    context: RequestContext<Body>,
    whoCalls: () => Caller | null,
  ): StreamOpening | Refusal | Promise<StreamOpening | Refusal>;
}

export interface PlainDescription {
  readonly operationId: string;
  readonly tag: string;
  /** One sentence. */
  readonly summary: string;
  readonly contentType: string;
  /** The meaning of each status. */
  readonly statuses: Readonly<Record<number, string>>;
}

/** A route that shows no state, so it waits for nothing: probes, pages. */
export interface PlainRoute {
  readonly kind: 'plain';
  readonly method: 'GET';
  readonly path: string;
  /** For the description, which leaves the route out where this is absent. */
  readonly described?: PlainDescription;
  /** Whether the response is large, so that its time is charged to the network of the caller. */
  readonly isLarge?: true;
  respond(request: TransportRequest): HttpResponse | Promise<HttpResponse>;
}

/** A route as the dispatcher sees it: the body has the type that the route's schema accepts. */
export type Route = ReadRoute | WriteRoute | StreamRoute;

type BodyOf<S extends v.GenericSchema | undefined> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

/** A route with the heading of its group, unless it has its own. */
export type RouteDraft = Route extends infer R
  ? R extends Route
    ? Omit<R, 'tag'> & { readonly tag?: string }
    : never
  : never;

/** The routes under one heading. */
export function underTag(tag: string, drafts: readonly RouteDraft[]): readonly Route[] {
  return drafts.map((draft) => ({ tag, ...draft }));
}

/** Fields that `readRoute` and `writeRoute` find out themselves, or have a default for. */
type Given = 'kind' | 'method' | 'path' | 'tag' | 'permission' | 'body' | 'locate' | 'success';

interface Declared<S extends v.GenericSchema | undefined, Located extends object> {
  readonly tag?: string;
  /** The right of which the permissions that are needed are parts, when absent. */
  readonly permission?: Right;
  readonly body?: S;
  readonly locate?: Locate<Located>;
  /** 200 without a body when absent. */
  readonly success?: RouteBase['success'];
  /**
   * The body of the response, made of the state alone: of a read, or of a write right after it, with what the path names by then and
   * what has happened.
   */
  shows?(context: RequestContext<BodyOf<S>>, located: Located, events: readonly DomainEvent[]): unknown;
}

const DONE: RouteBase['success'] = { status: 200, schema: null };

/**
 * A route that reads, such as `GET /projects`; the types of `context.body` and of what is located come from its schema and its
 * `locate`. Every reader may use it unless it names a permission. What it `shows` waits for all of the state (invariant 4).
 */
export function readRoute<
  S extends v.GenericSchema | undefined = undefined,
  Located extends object = Record<never, never>,
>(
  head: `${Method} ${string}`,
  {
    shows,
    ...route
  }: Omit<ReadRoute<BodyOf<S>, Located>, Given | 'read'> &
    Declared<S, Located> & { readonly read?: ReadRoute<BodyOf<S>, Located>['read'] },
): RouteDraft {
  const read = (context: RequestContext<BodyOf<S>>, located: Located): ReadResponse => ({
    revision: context.engine.lastId,
    response: jsonResponse(200, shows?.(context, located, [])),
  });
  const permission = rightOf(route) ?? 'read';
  return { ...placeOf(head), kind: 'read', permission, success: DONE, read, ...route } as RouteDraft;
}

/** A route that writes, with the permission it needs. Without a schema its response is only a status. */
export function writeRoute<
  S extends v.GenericSchema | undefined = undefined,
  Located extends object = Record<never, never>,
>(
  head: `${Method} ${string}`,
  {
    shows,
    ...route
  }: Omit<WriteRoute<BodyOf<S>, Located>, Given | 'respond'> &
    Declared<S, Located> & { readonly respond?: WriteRoute<BodyOf<S>, Located>['respond'] },
): RouteDraft {
  const { success = DONE, locate } = route;
  assert((route.respond ?? shows) !== undefined || success.schema === null, `${head} makes its body`);
  const respond: WriteRoute<BodyOf<S>, Located>['respond'] = (context, events) => {
    if (shows === undefined) return emptyResponse(success.status);
    const located = present(locate?.(context.world, context.params) ?? ({} as Located));
    return jsonResponse(success.status, shows(context, located, events));
  };
  const { permission = rightOf(route) } = route;
  assert(permission !== undefined, `${head} says who may use it`);
  return { ...placeOf(head), kind: 'write', permission, success, respond, ...route } as RouteDraft;
}

function rightOf({ needs, needsOneOf }: Omit<Need, 'permission'>): Right | undefined {
  const [name] = needs ?? needsOneOf ?? [];
  return name === undefined ? undefined : permissionByName(name)?.within;
}

function placeOf(head: string): Pick<RouteBase, 'method' | 'path'> {
  const space = head.indexOf(' ');
  return { method: head.slice(0, space) as Method, path: head.slice(space + 1) };
}
