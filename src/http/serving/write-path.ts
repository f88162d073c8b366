/** From a checked request to the command that it is, into its mailbox, and to the response when its event is durable (invariant 3). */
import type { Engine } from '../../actors/engine.ts';
import type { Outcome, Submission } from '../../actors/submission.ts';
import type { Command } from '../../domain/decide/decide.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { HttpResponse } from '../transport/transport.ts';
import type { BoundRoute, Call } from './call.ts';
import type { CallerCheck } from './caller-check.ts';
import { type ClusterAccess, EVENT_ID_HEADER } from './cluster.ts';
import { flagPrecondition, recordPrecondition } from './conditional.ts';
import { retryOf } from './idempotency.ts';
import { NOT_WANTED, type ResponseSender } from './response-sender.ts';
import type { RequestContext, WriteRoute } from './route.ts';
import { type RuleWarning, ruleWarnings } from './rule-warnings.ts';
import { partSeenBy, worldSeenBy } from './visible-world.ts';

/** What the author of rules should hear of them. */
const WARNINGS_HEADER = 'flagstaff-warnings';

type Turn = Pick<Submission<HttpResponse>, 'mayStart' | 'seenBy'>;

/** What the checks of a request have made of it. */
export interface PreparedWrite {
  readonly route: WriteRoute;
  readonly context: RequestContext<unknown>;
  /** What the path names. */
  readonly located: unknown;
  /** The values in the path, in its order. */
  readonly params: readonly string[];
}

export class WritePath {
  readonly #engine: Engine;
  readonly #sender: ResponseSender;
  readonly #callers: CallerCheck;
  readonly #isClustered: boolean;

  constructor(engine: Engine, sender: ResponseSender, callers: CallerCheck, isClustered: boolean) {
    this.#engine = engine;
    this.#sender = sender;
    this.#callers = callers;
    this.#isClustered = isClustered;
  }

  write(call: Call, bound: BoundRoute, prepared: PreparedWrite): void {
    const command = prepared.route.command(prepared.context, prepared.located);
    if (!(command instanceof Promise)) return this.#submit(call, bound, prepared, command);
    command.then(
      (late) => this.#sender.guarded(call, () => this.#submit(call, bound, prepared, late)),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  /** Another node leads: it responds to a write, and decides about everything itself. */
  forward(call: Call, cluster: ClusterAccess): void {
    cluster.forward(call.request, call.responder.signal).then(
      (response) =>
        this.#sender.guarded(call, () =>
          isRefusal(response) ? this.#sender.refuse(call, response) : this.#sender.send(call, response),
        ),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  /**
   * Asks, when the turn of a command has come, whether anybody still waits for it and its caller may do all that it needs:
   * reading what a command needs, and its mailbox, may have taken seconds since the route let the caller in.
   */
  #turnOf(call: Call, bound: BoundRoute, { route, context, params }: PreparedWrite, command: Command): Turn {
    let { caller } = context;
    return {
      mayStart: (world) => {
        call.trace?.begun();
        if (!call.responder.isAwaited) return NOT_WANTED;
        const found = this.#callers.identify(call.request, bound, route, params);
        if (isRefusal(found)) return found;
        caller = found;
        return bound.surface.access?.refuseCommand?.(worldSeenBy(world, caller), caller, command) ?? null;
      },
      seenBy: (world) => partSeenBy(world, caller),
    };
  }

  #submit(call: Call, bound: BoundRoute, prepared: PreparedWrite, command: Command | Refusal): void {
    if (isRefusal(command)) return this.#sender.refuseSettled(call, command);
    const { route, context } = prepared;
    const { request } = call;
    const retry = retryOf(request, context.caller, route);
    if (isRefusal(retry)) return this.#sender.refuseSettled(call, retry);
    const ifMatch = request.header('if-match');
    const precondition =
      flagPrecondition(ifMatch, context.params) ?? recordPrecondition(ifMatch, context.params, route.pinned);
    call.trace?.queued();
    this.#engine.submit({
      command,
      actor: route.actor?.(this.#engine.world, command) ?? context.caller.actor,
      ...this.#turnOf(call, bound, prepared, command),
      retry,
      precondition,
      respond: responseMaker(call, route, context, command),
      done: this.#outcomeTaker(call),
    });
  }

  #outcomeTaker(call: Call): (outcome: Outcome<HttpResponse>) => void {
    return (outcome) => this.#respond(call, outcome);
  }

  #respond(call: Call, outcome: Outcome<HttpResponse>): void {
    if (!call.responder.isWanted) return;
    if (outcome.kind === 'response') this.#sender.send(call, this.#withEventId(outcome.response));
    else if (outcome.kind === 'refusal') this.#sender.refuse(call, outcome.refusal);
    else this.#sender.fail(call, outcome.error);
  }

  /** Adds, in a cluster, the event that reads elsewhere have to ask for to show what the write made. */
  #withEventId(response: HttpResponse): HttpResponse {
    if (!this.#isClustered) return response;
    const { status, headers, body } = response;
    return { status, headers: headers.with(EVENT_ID_HEADER, String(this.#engine.durableId)), body };
  }
}

// The functions that each request needs are returned and not assigned. An assigned function has a name, and the loader
// (tsx) sets each name at run time, which took a seventh of a cached read.

function responseMaker(
  { trace }: Call,
  route: WriteRoute,
  context: RequestContext<unknown>,
  command: Command,
): (world: World, events: readonly DomainEvent[]) => HttpResponse {
  return (world, events) => {
    trace?.appended();
    const response = route.respond(context, events, command);
    const warnings = ruleWarnings(world, events);
    return warnings.length === 0 ? response : withWarnings(response, warnings);
  };
}

/** JSON in ASCII, because names may have any characters. */
function withWarnings(response: HttpResponse, warnings: readonly RuleWarning[]): HttpResponse {
  const { status, headers, body } = response;
  const text = JSON.stringify(warnings).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { status, headers: headers.with(WARNINGS_HEADER, text), body };
}
