/** A request on its way to its response, as routes, the caller check and the log see it. */
import type { Engine } from '../../actors/engine.ts';
import type { LogReads } from '../../actors/log-reads.ts';
import { callerName } from '../../actors/loop-accounts.ts';
import type { ServedState } from '../../actors/served-state.ts';
import type { Requester } from '../../actors/turn.ts';
import type { UsageView } from '../../actors/usage-view.ts';
import type { World } from '../../domain/state/world.ts';
import type { Responder, TransportRequest, TransportRequestHead } from '../transport/transport.ts';
import type { Caller } from './access.ts';
import type { Instance } from './instance.ts';
import type { RouteMeter } from './meters.ts';
import { NO_PARAMS, type Params } from './params.ts';
import type { ServedRequest } from './request-log.ts';
import type { ContextSources, HashPassword, PlainRoute, RequestContext, Route, Site } from './route.ts';
import type { Surface } from './surface.ts';
import { worldSeenBy } from './visible-world.ts';

/** A route of a surface, whose responses are counted. */
export type BoundRoute<R extends Route | PlainRoute = Route | PlainRoute> = R & {
  readonly surface: Surface;
  readonly meter: RouteMeter;
};

/** The context of a handler, and its requester. Most requests use little of it, so shared parts are not copied. */
export class Call implements RequestContext<unknown>, Requester {
  readonly request: TransportRequest;
  readonly responder: Responder;
  readonly startedAt: number;
  /** Null where no traces are recorded. */
  readonly trace: RequestTrace | null;
  /** The time of its response; -1 before that, and where it is not measured. */
  endedAt = -1;
  /** The meter of the route; that of unknown paths until a route is found. */
  meter: RouteMeter;
  /** The surface that the path belongs to. */
  surface: Surface | null = null;
  params: Params = NO_PARAMS;
  /** Absent before it is known. */
  caller!: Caller;
  body: unknown;
  readonly #sources: ContextSources;

  constructor(
    sources: ContextSources,
    { request, responder }: { readonly request: TransportRequest; readonly responder: Responder },
    { startedAt, trace, meter }: Pick<Call, 'startedAt' | 'trace' | 'meter'>,
  ) {
    this.#sources = sources;
    this.request = request;
    this.responder = responder;
    this.startedAt = startedAt;
    this.trace = trace;
    this.meter = meter;
  }

  get world(): World {
    return worldSeenBy(this.#sources.state.world, this.caller);
  }

  get state(): ServedState {
    return this.#sources.state;
  }

  get engine(): Engine {
    return this.#sources.engine;
  }

  get reads(): LogReads {
    return this.#sources.reads;
  }

  get instance(): Instance {
    return this.#sources.instance;
  }

  get usage(): UsageView {
    return this.#sources.usage;
  }

  get hashPassword(): HashPassword {
    return this.#sources.hashPassword;
  }

  get site(): Site {
    return this.#sources.site;
  }

  get now(): () => number {
    return this.#sources.now;
  }

  get requester(): Requester {
    return this;
  }

  get name(): string {
    return callerName(this.caller.actor);
  }

  get signal(): AbortSignal {
    return this.responder.signal;
  }

  get isGone(): boolean {
    return !this.responder.isAwaited;
  }

  get charge(): (heldMs: number) => void {
    return (heldMs) => this.#sources.state.loopAccounts.charge(this.caller.actor, heldMs);
  }

  remoteAddress(): string {
    return this.request.remoteAddress();
  }

  host(): string {
    return this.request.host();
  }

  get rawQuery(): string {
    return this.request.query;
  }

  header(name: string): string {
    return this.request.header(name);
  }

  query(name: string): string {
    const { query } = this.request;
    return query === '' ? '' : (new URLSearchParams(query).get(name) ?? '');
  }

  queryAll(name: string): readonly string[] {
    const { query } = this.request;
    return query === '' ? [] : new URLSearchParams(query).getAll(name);
  }

  /** Its fields in the log. */
  get served(): Pick<ServedRequest, 'head' | 'actor'> {
    const caller: Caller | undefined = this.caller;
    return { head: this.request, actor: caller?.actor.name };
  }
}

// The events of a request that are reported to a tracer. Without a tracer a request costs one more comparison with null.

export interface Tracer {
  begin(head: TransportRequestHead): RequestTrace;
}

/** Called in this order. A request that is no command is only ended, and one that is refused may end at any point. */
export interface RequestTrace {
  /** The command is in its mailbox. */
  queued(): void;
  /** Its turn has come. */
  begun(): void;
  /** Its events are appended, and its response waits until they are durable. */
  appended(): void;
  /** `route`: the pattern that the path matched; `none` without a match. */
  ended(route: string, status: number): void;
}
