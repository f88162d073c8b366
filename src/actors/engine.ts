/**
 * The engine: the state, the mailboxes before it, the journal behind it.
 *
 * A command waits in the mailbox of the actor that it addresses. In its turn it is decided against the state, its
 * events are applied, and appended to the journal as one frame. The response is made at that moment, from the state
 * right after the command, and is sent when the frame is durable. Everything except the wait happens in one
 * synchronous step, so commands never interleave.
 *
 * On failure: a refusal changes nothing. A decision that throws changes nothing, and its response is an internal
 * error. An event that cannot be applied, or a journal that cannot be written, stops the process (invariant 6):
 * the state in memory would no longer be what a restart rebuilds.
 */

import assert from 'node:assert/strict';
import { decide } from '../domain/decide/decide.ts';
import type { Actor, DecideContext } from '../domain/decide/decision.ts';
import { DEFAULT_GROWTH_LIMITS, type GrowthLimits } from '../domain/flags/growth-limits.ts';
import { applyChange } from '../domain/state/apply.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import {
  RESPONSE_LIFETIME_MS,
  type RememberedResponse,
  withinLimit,
} from '../domain/state/idempotency-cache.ts';
import { invalidOperation, isRefusal, type Refusal, refuse } from '../domain/state/refusal.ts';
import type { RecordedEvent } from '../domain/state/upgrade/recorded-event.ts';
import { RULES_VERSION } from '../domain/state/upgrade/replay-rules.ts';
import type { World } from '../domain/state/world.ts';
import { EncodingError } from '../persistence/codec/message-pack.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import { FRAME_BYTES_MAX, type FramePosition, lastEventId } from '../persistence/journal/frame.ts';
import { type FrameBody, isNewer, ownBody } from '../persistence/journal/frame-format.ts';
import { decodePayload, FrameEncoder } from '../persistence/journal/frame-payload.ts';
import type { Journal } from '../persistence/journal/journal.ts';
import { addressOf } from './address.ts';
import { type Change, ChangeFeed } from './change-feed.ts';
import { DurabilityWaiters } from './durability-waiters.ts';
import { LoopAccounts } from './loop-accounts.ts';
import { Scheduler } from './scheduler.ts';
import type { Outcome, Retry, Submission } from './submission.ts';
import { auditWorld } from './world-audit.ts';

/**
 * What may be appended and not yet synced. When the disk hangs, this bounds the memory, whatever the number of
 * requests. With frames of 300 bytes it is far more than one batch of the fastest disk, so it never slows down a good
 * disk.
 */
export const UNSYNCED_FRAMES_MAX = 8192;
export const UNSYNCED_BYTES_MAX = 32 * 1024 * 1024;

/** A command that waited longer is not started: its client has given up, or will before the response. */
export const QUEUE_DEADLINE_MS = 10_000;

/** How long commands run before other requests are let in between. */
const TURN_MS = 5;

/**
 * Bytes that the events of one command may take in the journal. Leaves room for the response in a frame, and bounds how
 * long one command holds everybody up while it is encoded. What is recorded before there are requests may fill a frame.
 */
export const CHANGE_BYTES_MAX = 4 * 2 ** 20;

export interface EngineClock {
  /** Milliseconds since 1970. The clock may jump, but recorded times never go backwards. */
  now(): number;
  /** Milliseconds, monotonic: how long commands wait does not depend on a clock that jumps. */
  monotonic(): number;
  /** Runs `turn` after the current callbacks of the event loop. */
  defer(turn: () => void): void;
}

export interface EngineOptions {
  readonly world: World;
  readonly journal: Journal;
  readonly eventLog: EventLog;
  readonly clock: EngineClock;
  newId(): string;
  /** A random name of eight hexadecimal digits for what this start records (lineage.ts). */
  newName(): string;
  /** Time of the newest event in the journal; 0 in a new one. */
  readonly lastAt: number;
  /** Called when the state can no longer be trusted; must end the process. */
  stop(error: Error): void;
  /** Told what a listener of the change feed threw: its own fault, which stops nothing. */
  onListenerFault(error: unknown): void;
  readonly mailboxLengthMax?: number;
  /** Goes through state, mailboxes and waiters after each turn; for the simulation. */
  readonly audited?: boolean;
  readonly limits?: GrowthLimits;
  /** What the state may take of memory, in bytes; without a bound unless given. */
  readonly memoryBudgetBytes?: number;
  /** Why no command may be decided here, because another node leads; null when one may. One always may unless given. */
  refusalToDecide?(): string | null;
}

interface TurnTime {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds since 1970, by the clock as it is. */
  readonly clockMs: number;
  /** `at` as ISO 8601, UTC. */
  readonly createdAt: string;
  /** Milliseconds from any fixed point. */
  readonly monotonic: number;
}

/** What a command comes to, encoded and not yet applied; `change` is null when it changes nothing. */
interface Decided {
  readonly events: readonly DomainEvent[];
  readonly change: Change | null;
  /** Without the response; overwritten by the next change. */
  readonly payload: Buffer;
}

interface Queued {
  readonly submission: Submission<unknown>;
  readonly queuedAt: number;
}

export class Engine {
  readonly world: World;
  readonly journal: Journal;
  readonly eventLog: EventLog;
  /** Tells of each change once it is durable. */
  readonly feed: ChangeFeed;
  /** Who held the event loop for long. */
  readonly loopAccounts: LoopAccounts;
  readonly #options: EngineOptions;
  readonly #scheduler: Scheduler<Queued>;
  readonly #durabilityWaiters: DurabilityWaiters;
  readonly #encoder = new FrameEncoder();
  #lastAt: number;
  /** Whether the newest name in the lineage is this start's own. */
  #hasName = false;
  /** When the turn that runs now began; null between turns. All of its commands share it. */
  #turnTime: TurnTime | null = null;
  #refusedCount = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.world = options.world;
    this.journal = options.journal;
    this.eventLog = options.eventLog;
    this.#lastAt = options.lastAt;
    this.loopAccounts = new LoopAccounts(options.clock.monotonic);
    const { durableId, appendedId } = options.journal;
    assert(durableId === appendedId, 'recovery has made all that the journal holds durable');
    const { firstId, lastId } = options.eventLog;
    assert(
      firstId === 0 || lastId === appendedId,
      'the event log has every event of the journal, and no other',
    );
    this.#durabilityWaiters = new DurabilityWaiters(durableId);
    this.feed = new ChangeFeed({ durableId, onFault: options.onListenerFault });
    this.#scheduler = new Scheduler({
      run: (_actor, item) => this.#run(item),
      canRun: () =>
        options.journal.pendingFrames < UNSYNCED_FRAMES_MAX &&
        options.journal.pendingBytes < UNSYNCED_BYTES_MAX,
      isTurnOver: () =>
        this.#turnTime !== null && options.clock.monotonic() - this.#turnTime.monotonic > TURN_MS,
      afterTurn: () => {
        this.#turnTime = null;
        options.journal.commit();
        if (options.audited) this.#audit();
      },
      defer: options.clock.defer,
      ...(options.mailboxLengthMax === undefined ? {} : { mailboxLengthMax: options.mailboxLengthMax }),
    });
  }

  /** Id of the newest event, durable or not. */
  get lastId(): number {
    return this.journal.appendedId;
  }

  get durableId(): number {
    return this.journal.durableId;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  get queuedCount(): number {
    return this.#scheduler.queuedCount;
  }

  get deepestMailbox(): number {
    return this.#scheduler.deepest;
  }

  get memoryBudgetBytes(): number {
    return this.#options.memoryBudgetBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Commands refused because their mailbox was full. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** Puts a command into its actor's mailbox. `done` is called exactly once, possibly at once when it is refused. */
  submit<T>(submission: Submission<T>): void {
    const item: Queued = {
      submission: submission as Submission<unknown>,
      queuedAt: this.#options.clock.monotonic(),
    };
    const address = addressOf(submission.command);
    if (this.#scheduler.offer(address, item)) return;
    this.#refusedCount += 1;
    submission.done({ kind: 'refusal', refusal: mailboxFull(address) });
  }

  /** `submit` as a promise. */
  execute<T>(submission: Omit<Submission<T>, 'done'>): Promise<Outcome<T>> {
    return new Promise((resolve) => this.submit({ ...submission, done: resolve }));
  }

  /**
   * Records events that were decided elsewhere, such as those of a new data folder or of an import; resolves when
   * they are durable. They must fit the state.
   */
  record(actor: Actor, events: readonly DomainEvent[]): Promise<void> {
    const at = this.nextTime();
    const change = this.#change(actor, events, at);
    const payload = this.#encoder.encode(change, FRAME_BYTES_MAX);
    this.#adoptName(change, true);
    this.#applyAll(events, new Date(at).toISOString());
    this.#append(change, undefined, ownBody(payload));
    this.journal.commit();
    return new Promise((resolve) => this.whenDurable(this.lastId, resolve));
  }

  /**
   * Applies a change that another node decided, and appends it as the same bytes: the same ids, the same chain, the
   * same state. Throws, having changed nothing, on a payload that cannot be read, and on any but the next change.
   */
  follow(body: FrameBody): void {
    if (isNewer(body))
      throw new Error('another node runs a newer version, whose changes cannot be read here');
    const decoded = decodePayload(body.payload, body);
    if (decoded.problem !== null) throw new Error(`another node's change cannot be read: ${decoded.problem}`);
    const { answer: response, rules, ...change } = decoded.frame;
    if (change.id !== this.lastId + 1) {
      throw new Error(
        `another node's change begins with event ${change.id}, and event ${this.lastId} is the last one here`,
      );
    }
    this.#adoptName(change, false);
    this.#applyAll(change.events as readonly DomainEvent[], new Date(change.at).toISOString(), rules);
    this.#append(change, response as RememberedResponse | undefined, body);
    this.journal.commit();
  }

  /**
   * The time for an event recorded now. It is never earlier than that of the previous event, whatever the clock does.
   */
  nextTime(): number {
    return Math.max(this.#options.clock.now(), this.#lastAt);
  }

  /** Runs `resume` when everything up to event `id` is durable; at once when it is (invariant 4). */
  whenDurable(id: number, resume: () => void): void {
    this.#durabilityWaiters.whenDurable(id, resume);
  }

  /** The journal's word that events up to `id` are on disk. Caches hear of a change before who made it does. */
  durable(id: number): void {
    assert(
      id === this.durableId && id <= this.lastId,
      'the journal tells of all that is on disk, and no more',
    );
    this.feed.advance(id);
    assert(this.feed.durableId === id, 'the feed has told of all that is on disk');
    this.#durabilityWaiters.advance(id);
    this.#scheduler.wake();
  }

  #audit(): void {
    auditWorld(this.world, this.lastId);
    this.eventLog.audit();
    this.#scheduler.audit();
    this.#durabilityWaiters.audit();
  }

  #run({ submission, queuedAt }: Queued): void {
    const begunAt = this.#options.clock.monotonic();
    this.#turnTime ??= this.#newTurnTime(begunAt);
    this.#runWithin(this.#turnTime, submission, queuedAt);
    this.loopAccounts.charge(submission.actor, this.#options.clock.monotonic() - begunAt);
  }

  #runWithin(turnTime: TurnTime, submission: Submission<unknown>, queuedAt: number): void {
    let decided: Outcome<unknown> | Decided;
    try {
      decided = this.#decide(submission, queuedAt, turnTime);
    } catch (error) {
      // Nothing has been applied yet, so a fault in a rule fails this one command and affects no other.
      decided = { kind: 'fault', error };
    }
    if ('kind' in decided) this.#finish(submission, decided);
    else this.#carryOut(submission, decided, turnTime.createdAt);
  }

  #newTurnTime(monotonic: number): TurnTime {
    const at = this.nextTime();
    const { clock } = this.#options;
    return {
      at,
      clockMs: clock.now(),
      createdAt: new Date(at).toISOString(),
      monotonic,
    };
  }

  /** The events to record, or the outcome of a command that records nothing. Changes nothing. */
  #decide(
    { command, actor, mayStart, retry, precondition }: Submission<unknown>,
    queuedAt: number,
    turnTime: TurnTime,
  ): Outcome<unknown> | Decided {
    const unwanted = mayStart?.(this.world) ?? null;
    if (unwanted !== null) return { kind: 'refusal', refusal: unwanted };
    const earlier = this.#earlierOutcome(retry, turnTime.at);
    if (earlier !== null) return earlier;
    const refusal = this.#refusalBefore(turnTime.monotonic - queuedAt) ?? precondition?.(this.world) ?? null;
    if (refusal !== null) return { kind: 'refusal', refusal };
    const { createdAt: now, clockMs } = turnTime;
    const { newId, limits = DEFAULT_GROWTH_LIMITS } = this.#options;
    const { memoryBudgetBytes } = this;
    const context: DecideContext = { now, clockMs, actor, limits, memoryBudgetBytes, newId };
    const decision = decide(this.world, command, context);
    if (isRefusal(decision)) return { kind: 'refusal', refusal: decision };
    return this.#encode(actor, decision, turnTime.at);
  }

  /** What cannot be recorded never happens: the frame is encoded before anything of it is applied. */
  #encode(actor: Actor, events: readonly DomainEvent[], at: number): Outcome<unknown> | Decided {
    if (events.length === 0) return UNCHANGED;
    const change = this.#change(
      actor,
      events.map((event) => this.#withTags(event)),
      at,
    );
    try {
      return { events, change, payload: this.#encoder.encode(change, CHANGE_BYTES_MAX) };
    } catch (error) {
      if (!(error instanceof EncodingError)) throw error;
      return { kind: 'refusal', refusal: tooLarge(error) };
    }
  }

  #refusalBefore(waitedMs: number): Refusal | null {
    const elsewhere = this.#options.refusalToDecide?.() ?? null;
    if (elsewhere !== null) return refuse('ServiceUnavailableError', elsewhere);
    if (!this.journal.writable) {
      return refuse(
        'ServiceUnavailableError',
        this.journal.refusalReason ?? 'The journal accepts no writes.',
      );
    }
    if (waitedMs > QUEUE_DEADLINE_MS) {
      return refuse(
        'ServiceUnavailableError',
        'The command waited too long for the disk and was not started.',
      );
    }
    return null;
  }

  /** The outcome that a retry gets; null for a request that was not seen before. */
  #earlierOutcome(retry: Retry<unknown> | undefined, now: number): Outcome<unknown> | null {
    if (retry === undefined) return null;
    const remembered = this.world.directory.responses.get(retry.key);
    if (remembered === undefined || remembered.at + RESPONSE_LIFETIME_MS <= now) return null;
    if (remembered.fingerprint === retry.fingerprint) {
      return { kind: 'response', response: retry.fromMemory(remembered) };
    }
    const message =
      'The Idempotency-Key was sent with another request before; a new request needs a new key.';
    return { kind: 'refusal', refusal: invalidOperation(message) };
  }

  /** Applies the events, makes the response, and only then appends, because the frame may hold the response. */
  #carryOut(submission: Submission<unknown>, { events, change, payload }: Decided, createdAt: string): void {
    if (change !== null) this.#adoptName(change, true);
    this.#applyAll(events, createdAt);
    let outcome: Outcome<unknown>;
    try {
      outcome = { kind: 'response', response: submission.respond(this.world, events) };
    } catch (error) {
      outcome = { kind: 'fault', error };
    }
    if (change !== null) {
      const response = rememberable(submission.retry, outcome);
      const complete = response === undefined ? payload : this.#encoder.addResponse(response);
      this.#append(change, response, ownBody(complete));
    }
    this.#finish(submission, outcome);
  }

  #applyAll(events: readonly DomainEvent[], createdAt: string, rules = RULES_VERSION): void {
    const id = this.lastId + 1;
    try {
      applyChange(this.world, events, { id, createdAt, rules });
    } catch (error) {
      this.#options.stop(
        new Error(`the change that begins with event ${id} could not be applied to the state`, {
          cause: error,
        }),
      );
      throw error;
    }
  }

  /** Appends one frame, all of which survives a crash or nothing (invariant 2). */
  #append(change: Change, response: RememberedResponse | undefined, body: FrameBody): void {
    assert(change.at >= this.#lastAt, 'recorded times never go back');
    const position = this.#appendToJournal(change, body);
    assert(this.lastId === lastEventId(change), 'the journal ends with what was appended last');
    this.#lastAt = change.at;
    this.eventLog.add(change, position);
    assert(this.eventLog.lastId === this.lastId, 'the event log has each event that the journal has');
    this.feed.add(change, position.length);
    if (response !== undefined) this.world.directory.responses.remember(response, change.at, body.rules);
  }

  /** The first change that this start records gives it a name. */
  #change(actor: Actor, events: readonly RecordedEvent[], at: number): Change {
    const change = { id: this.lastId + 1, at, by: actor.name, userId: actor.userId, events };
    if (this.#hasName) return change;
    return { ...change, lineage: this.world.lineage.mark(this.#options.newName()) };
  }

  /** Before anything that the change makes is shown: its ETag carries the name. */
  #adoptName({ id, lineage }: Change, isOwn: boolean): void {
    if (lineage !== undefined) this.world.lineage.adopt(id, lineage);
    this.#hasName = isOwn;
  }

  /**
   * The state already holds the events, so a frame that cannot be encoded would leave it ahead of the journal for
   * good.
   */
  #appendToJournal(change: Change, body: FrameBody): FramePosition {
    try {
      return this.journal.append(change, body);
    } catch (error) {
      this.#options.stop(
        new Error(`event ${change.id} could not be appended to the journal`, { cause: error }),
      );
      throw error;
    }
  }

  /** An event about a flag carries the flag's tags as they were before it. */
  #withTags(event: DomainEvent): RecordedEvent {
    // A new flag has no tags, and looking for what is not there is dear among many flags.
    if (event.featureName === null || event.type === 'feature-created') return event;
    const tags = this.world.projects.get(event.project)?.flags.get(event.featureName)?.flag.tags;
    return tags === undefined || tags.length === 0 ? event : { ...event, tags };
  }

  /**
   * A refusal and a response that changed nothing show state too: they wait for all of it (invariant 4). That the
   * service is unavailable shows none, and must be told while the disk is stuck.
   */
  #finish(submission: Submission<unknown>, outcome: Outcome<unknown>): void {
    assert(this.durableId <= this.lastId, 'nothing is durable that was not appended');
    if (outcome.kind === 'refusal' && outcome.refusal.name === 'ServiceUnavailableError') {
      return submission.done(outcome);
    }
    this.#durabilityWaiters.whenDurable(this.lastId, () => submission.done(outcome));
  }
}

const UNCHANGED: Decided = { events: [], change: null, payload: Buffer.alloc(0) };

function tooLarge({ message }: EncodingError): Refusal {
  return refuse(
    'PayloadTooLargeError',
    `The change cannot be recorded, because it has ${message}. Split it into parts.`,
  );
}

function rememberable(
  retry: Retry<unknown> | undefined,
  outcome: Outcome<unknown>,
): RememberedResponse | undefined {
  if (retry === undefined || outcome.kind !== 'response') return undefined;
  const { key, fingerprint } = retry;
  return withinLimit({ key, fingerprint, ...retry.toRemember(outcome.response) });
}

function mailboxFull(address: string): Refusal {
  const whose = address === '' ? 'the service' : `the project "${address}"`;
  return refuse(
    'ServiceUnavailableError',
    `Too many commands are waiting for ${whose}; try again in a moment.`,
  );
}
