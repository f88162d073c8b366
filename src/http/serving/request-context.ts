/** The request, as the handler of a route sees it. */
import type { Engine } from '../../actors/engine.ts';
import type { LogReads } from '../../actors/log-reads.ts';
import { callerName, type LoopAccounts } from '../../actors/loop-accounts.ts';
import type { ServedState } from '../../actors/served-state.ts';
import type { Requester } from '../../actors/turn.ts';
import type { UsageView } from '../../actors/usage-view.ts';
import type { World } from '../../domain/state/world.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { Responder, TransportRequest } from '../transport/transport.ts';
import type { Caller } from './access.ts';
import type { Instance } from './instance.ts';
import type { Params } from './params.ts';
import type { RequestContext, Site } from './route.ts';
import { worldSeenBy } from './visible-world.ts';

/** The sources that all requests share. */
export interface ContextSources {
  readonly state: ServedState;
  /** The engine behind the state, for routes that decide or read history. */
  readonly engine: Engine;
  readonly reads: LogReads;
  readonly instance: Instance;
  readonly usage: UsageView;
  readonly passwords: Passwords;
  readonly site: Site;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Most requests use little of it, so shared parts are not copied, and the query is parsed only on demand.
 */
export class Context implements RequestContext<unknown> {
  readonly #shared: ContextSources;
  readonly #request: TransportRequest;
  readonly #responder: Responder;
  readonly caller: Caller;
  readonly params: Params;
  readonly body: unknown;

  constructor(
    shared: ContextSources,
    { request, responder }: { readonly request: TransportRequest; readonly responder: Responder },
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
    return worldSeenBy(this.#shared.state.world, this.caller);
  }

  get state(): ServedState {
    return this.#shared.state;
  }

  get engine(): Engine {
    return this.#shared.engine;
  }

  get reads(): LogReads {
    return this.#shared.reads;
  }

  get requester(): Requester {
    return new RequestRequester(this.caller.actor, this.#responder, this.#shared.state.loopAccounts);
  }

  get instance(): Instance {
    return this.#shared.instance;
  }

  get usage(): UsageView {
    return this.#shared.usage;
  }

  get passwords(): Passwords {
    return this.#shared.passwords;
  }

  get site(): Site {
    return this.#shared.site;
  }

  get now(): () => number {
    return this.#shared.now;
  }

  remoteAddress(): string {
    return this.#request.remoteAddress();
  }

  host(): string {
    return this.#request.host();
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

/** Values that few reads need, made on demand. */
class RequestRequester implements Requester {
  readonly name: string;
  readonly #actor: Caller['actor'];
  readonly #responder: Responder;
  readonly #accounts: LoopAccounts;

  constructor(actor: Caller['actor'], responder: Responder, accounts: LoopAccounts) {
    this.name = callerName(actor);
    this.#actor = actor;
    this.#responder = responder;
    this.#accounts = accounts;
  }

  get signal(): AbortSignal {
    return this.#responder.signal;
  }

  get isGone(): boolean {
    return !this.#responder.isAwaited;
  }

  get charge(): (heldMs: number) => void {
    return chargerOf(this.#accounts, this.#actor);
  }
}

/** A function that is returned and not assigned gets no name, which the loader (tsx) sets at run time. */
function chargerOf(accounts: LoopAccounts, actor: Caller['actor']): (heldMs: number) => void {
  return (heldMs) => accounts.charge(actor, heldMs);
}
