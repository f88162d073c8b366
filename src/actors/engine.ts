/**
 * The engine: the state, the mailboxes before it, the journal behind it.
 *
 * A command waits in the mailbox of the actor that it addresses. In its turn it is decided against the state, its
 * events are applied, and appended to the journal as one frame. The response is made at that moment, from the state
 * right after the command, and is sent when the frame is durable. Everything except the wait happens in one
 * synchronous step, so commands never interleave.
 *
 * On failure: a refusal changes nothing. A decision that throws changes nothing, and its response is an internal
 * error. An event that cannot be applied, or a journal that cannot be written, stops the process (change-recorder.ts).
 */
import assert from 'node:assert/strict';
import type { Actor } from '../domain/state/decision.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import type { RememberedResponse } from '../domain/state/idempotency-cache.ts';
import type { World } from '../domain/state/world.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import type { FileJournal } from '../persistence/journal/file-journal.ts';
import { FRAME_BYTES_MAX, lastEventId } from '../persistence/journal/frame.ts';
import { type FrameBody, isNewer, ownBody } from '../persistence/journal/frame-format.ts';
import { decodePayload, FrameEncoder, refuseUnreadable } from '../persistence/journal/frame-payload.ts';
import { type Change, ChangeFeed } from './change-feed.ts';
import { ChangeRecorder, type RecorderOptions } from './change-recorder.ts';
import {
  CommandDecider,
  type Decided,
  type DeciderOptions,
  rememberable,
  type TurnTime,
} from './command-decider.ts';
import { DurabilityWaiters, MAY_HAVE_HAPPENED, NOTHING_DONE } from './durability-waiters.ts';
import type { Notice } from './journal-observer.ts';
import { LoopAccounts } from './loop-accounts.ts';
import { addressOf, mailboxFull, Scheduler } from './scheduler.ts';
import type { Outcome, Submission } from './submission.ts';
import { Uncommitted } from './uncommitted.ts';
import { WriteAllowances } from './write-allowances.ts';

/**
 * Bounds of frames appended and not yet synced. When the disk hangs, they bound the memory, whatever the number of
 * requests. With frames of 300 bytes they hold far more than one batch of the fastest disk, so they never slow down a good
 * disk.
 */
export const UNSYNCED_FRAMES_MAX = 8192;
export const UNSYNCED_BYTES_MAX = 16 * 1024 * 1024;

/** How long commands run before other requests are let in between. */
const TURN_MS = 5;

export interface EngineClock {
  /** Milliseconds since 1970. The clock may jump, but recorded times never go backwards. */
  now(): number;
  /** Milliseconds, monotonic: how long commands wait does not depend on a clock that jumps. */
  monotonic(): number;
  /** Milliseconds of processor time that the event loop has used; absent where it cannot be measured. */
  readonly coreUsed?: () => number;
  /** Runs `turn` after the current callbacks of the event loop. */
  defer(turn: () => void): void;
}

export interface EngineOptions extends RecorderOptions, DeciderOptions {
  readonly clock: EngineClock;
  /** Told what a listener of the change feed threw: its own fault, which stops nothing. */
  onListenerFault(error: unknown): void;
  readonly mailboxLengthMax?: number;
  /** True in a cluster: it may be long until a change is committed, and the state is shown without it until then. */
  readonly showsCommittedOnly?: boolean;
  /** Goes through the state after each turn, and then through mailboxes and waiters; for the simulation. */
  readonly audit?: (world: World, lastId: number) => void;
}

interface Queued {
  readonly submission: Submission<unknown>;
  readonly queuedAt: number;
}

export class Engine {
  readonly journal: FileJournal;
  readonly eventLog: EventLog;
  /** Tells of each change once it is durable. */
  readonly feed: ChangeFeed;
  /** Charges callers whose requests hold the event loop for long. */
  readonly loopAccounts: LoopAccounts;
  /** How much each user may still have written. */
  readonly writeAllowances: WriteAllowances;
  /** The newest notice to clients that copy the log; null before the first one. */
  notice: Notice | null = null;
  readonly #options: EngineOptions;
  readonly #scheduler: Scheduler<Queued>;
  readonly #durabilityWaiters: DurabilityWaiters;
  readonly #encoder = new FrameEncoder();
  readonly #recorder: ChangeRecorder;
  readonly #decider: CommandDecider;
  /** Null for a server that stands alone: its disk decides within milliseconds. */
  readonly #uncommitted: Uncommitted | null;
  /** The start of the running turn, which all of its commands share; null between turns. */
  #turnTime: TurnTime | null = null;
  /** The end of the last command of the running turn, where the next one begins; milliseconds, monotonic. */
  #ranUntil = 0;
  #refusedCount = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.journal = options.journal;
    this.eventLog = options.eventLog;
    this.loopAccounts = new LoopAccounts(options.clock.monotonic, options.clock.coreUsed);
    this.writeAllowances = new WriteAllowances(this, options.clock.monotonic);
    const { durableId, appendedId } = options.journal;
    assert(durableId === appendedId, 'recovery has made all that the journal holds durable');
    const { firstId, lastId } = options.eventLog;
    assert(
      firstId === 0 || lastId === appendedId,
      'the event log has every event of the journal, and no other',
    );
    assert(options.world.directory.revision <= appendedId, 'the state has nothing that the journal has not');
    this.#durabilityWaiters = new DurabilityWaiters(durableId);
    this.feed = new ChangeFeed({ durableId, onFault: options.onListenerFault });
    this.#recorder = new ChangeRecorder(options, this.feed);
    this.#decider = new CommandDecider(options, this.#recorder, this.#encoder);
    this.#uncommitted =
      options.showsCommittedOnly === true
        ? new Uncommitted({ world: options.world, at: options.lastAt })
        : null;
    this.#scheduler = new Scheduler({
      run: (_actor, item) => this.#run(item),
      canRun: () => this.#hasRoom || this.#decider.refusesAll,
      isTurnOver: () => this.#turnTime !== null && this.#ranUntil - this.#turnTime.monotonic > TURN_MS,
      afterTurn: () => {
        assert(this.#turnTime !== null, 'a turn that ran something has a time');
        this.#turnTime = null;
        options.journal.commit();
        if (options.audit !== undefined) this.#audit(options.audit);
      },
      defer: options.clock.defer,
      ...(options.mailboxLengthMax === undefined ? {} : { mailboxLengthMax: options.mailboxLengthMax }),
    });
  }

  /** Whether more may be appended before what is under way is durable. */
  get #hasRoom(): boolean {
    const { pendingFrames, pendingBytes } = this.journal;
    return pendingFrames < UNSYNCED_FRAMES_MAX && pendingBytes < UNSYNCED_BYTES_MAX;
  }

  /** The decided state where that is all that is shown now: commands see all of it. */
  get #committed(): Uncommitted['committed'] | null {
    const uncommitted = this.#uncommitted;
    return uncommitted === null || uncommitted.isEmpty || this.#turnTime !== null
      ? null
      : uncommitted.committed;
  }

  /** The state as it is shown now. */
  get world(): World {
    return this.#uncommitted === null
      ? this.#recorder.world
      : (this.#committed?.world ?? this.#recorder.world);
  }

  /** Id of the newest event that the state has, durable or not. */
  get lastId(): number {
    return this.#committed === null ? this.journal.appendedId : this.journal.durableId;
  }

  get durableId(): number {
    return this.journal.durableId;
  }

  /** The time of that event. */
  get lastAt(): number {
    return this.#committed?.at ?? this.#recorder.lastAt;
  }

  /** The checksum of its frame: what a snapshot of this moment has to carry. */
  get lastChain(): number {
    return this.#committed === null ? this.journal.appendedChain : this.journal.durableChain;
  }

  get queuedCount(): number {
    return this.#scheduler.queuedCount;
  }

  get deepestMailbox(): number {
    return this.#scheduler.deepest;
  }

  get memoryBudgetBytes(): number {
    return this.#decider.memoryBudgetBytes;
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

  execute<T>(submission: Omit<Submission<T>, 'done'>): Promise<Outcome<T>> {
    return new Promise((resolve) => this.submit({ ...submission, done: resolve }));
  }

  /**
   * Records events that were decided elsewhere, such as those of a new data folder or of an import; resolves when
   * they are durable. They must fit the state.
   */
  record(actor: Actor, events: readonly DomainEvent[]): Promise<void> {
    assert(this.#turnTime === null, 'nothing is recorded in the middle of a turn');
    const at = this.nextTime();
    const change = this.#recorder.change(actor, events, at);
    const payload = refuseUnreadable(this.#encoder.encode(change, FRAME_BYTES_MAX));
    this.#recorder.apply(change, new Date(at).toISOString(), { isOwn: true });
    this.#recorder.append(change, undefined, ownBody(payload));
    this.#noteUncommitted(change);
    this.journal.commit();
    const { appendedId } = this.journal;
    return new Promise((resolve) => this.whenDurable(appendedId, resolve));
  }

  /**
   * Applies a change that another node decided, and appends it as the same bytes: the same ids, the same chain, the
   * same state. The caller commits the journal, and may give one edit for changes between which nobody sees the state. Throws,
   * having changed nothing, on a payload that cannot be read, and on any but the next change.
   */
  follow(body: FrameBody, edit?: World['edit']): void {
    if (isNewer(body))
      throw new Error('another node runs a newer version, whose changes cannot be read here');
    const decoded = decodePayload(body.payload, body);
    if (decoded.problem !== null) throw new Error(`another node's change cannot be read: ${decoded.problem}`);
    assert(this.#turnTime === null, 'nothing is followed in the middle of a turn');
    const { answer: response, rules, ...change } = decoded.frame;
    if (change.id !== this.lastId + 1) {
      throw new Error(
        `another node's change begins with event ${change.id}, and event ${this.lastId} is the last one here`,
      );
    }
    this.#recorder.apply(change, new Date(change.at).toISOString(), { isOwn: false, rules, edit });
    this.#recorder.append(change, response as RememberedResponse | undefined, body);
    this.#uncommitted?.follow({ world: this.#recorder.world, at: change.at });
  }

  /** The time for an event recorded now: never earlier than that of the previous event, even if the clock jumps back. */
  nextTime(): number {
    return Math.max(this.#options.clock.now(), this.#recorder.lastAt);
  }

  /** Runs `resume` when everything up to event `id` is durable; at once when it is (invariant 4). */
  whenDurable(id: number, resume: () => void): void {
    assert(id <= this.journal.appendedId, 'no request waits for an event that does not exist');
    this.#durabilityWaiters.whenDurable(id, resume);
  }

  /**
   * To be called where nothing is decided in time. Requests that wait for a change get a response that it may have happened; it still may.
   * Requests that wait for a turn get one that nothing was done, as no command may be decided then.
   */
  giveUp(): void {
    assert(this.#decider.refusesAll, 'no command is decided any more');
    this.#scheduler.drain();
    this.#durabilityWaiters.giveUp();
  }

  /** Refuses every waiting command before the process ends. */
  giveUpForGood(): void {
    this.#decider.refuseAll();
    this.giveUp();
  }

  /** Called by the journal when events up to `id` are on disk. Caches get a change before its response is sent. */
  durable(id: number): void {
    this.#uncommitted?.commit(id);
    assert(id === this.durableId && id <= this.lastId, 'the journal tells of all that is on disk');
    this.feed.advance(id);
    assert(this.feed.durableId === id, 'the feed has told of all that is on disk');
    this.#durabilityWaiters.advance(id);
    assert(this.#durabilityWaiters.durableId === this.durableId, 'the waiters know of all that is on disk');
    this.#scheduler.wake();
  }

  #audit(auditWorld: (world: World, lastId: number) => void): void {
    auditWorld(this.world, this.lastId);
    assert.equal(this.feed.durableId, this.durableId, 'the feed has told of all that is on disk');
    assert.equal(
      this.#durabilityWaiters.durableId,
      this.durableId,
      'the waiters know of all that is on disk',
    );
    this.journal.audit();
    this.eventLog.audit();
    this.feed.audit();
    this.loopAccounts.audit();
    this.#scheduler.audit();
    this.#durabilityWaiters.audit();
  }

  #run({ submission, queuedAt }: Queued): void {
    const { clock } = this.#options;
    const begunAt = this.#turnTime === null ? clock.monotonic() : this.#ranUntil;
    assert(begunAt >= queuedAt, 'a command runs after it was queued');
    this.#turnTime ??= this.#newTurnTime(begunAt);
    this.#runWithin(this.#turnTime, submission, queuedAt);
    this.#ranUntil = clock.monotonic();
    this.loopAccounts.charge(submission.actor, this.#ranUntil - begunAt);
  }

  #runWithin(turnTime: TurnTime, submission: Submission<unknown>, queuedAt: number): void {
    const refusal = this.writeAllowances.refuse(submission);
    if (refusal !== null) return this.#finish(submission, { kind: 'refusal', refusal });
    let decided: Outcome<unknown> | Decided;
    try {
      decided = this.#decider.decide(submission, queuedAt, turnTime);
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
    return { at, clockMs: clock.now(), createdAt: new Date(at).toISOString(), monotonic };
  }

  /** Applies the events, makes the response, and only then appends, because the frame may hold the response. */
  #carryOut(
    submission: Submission<unknown>,
    { events, after, change, payload }: Decided,
    createdAt: string,
  ): void {
    assert((change === null) === (events.length === 0), 'a change has events, and nothing else has');
    if (change === null) return this.#finish(submission, this.#respond(submission, events));
    this.#recorder.apply(change, createdAt, { isOwn: true, after });
    const outcome = this.#respond(submission, events);
    const response = rememberable(submission.retry, outcome);
    const complete = response === undefined ? payload : this.#encoder.addResponse(response);
    this.#recorder.append(change, response, ownBody(complete));
    this.#noteUncommitted(change);
    this.writeAllowances.charge(submission.actor, events.length, complete.length);
    this.#finish(submission, outcome, MAY_HAVE_HAPPENED);
  }

  #noteUncommitted(change: Change): void {
    this.#uncommitted?.add({ lastId: lastEventId(change), at: change.at, world: this.#recorder.world });
  }

  #respond(submission: Submission<unknown>, events: readonly DomainEvent[]): Outcome<unknown> {
    try {
      return { kind: 'response', response: submission.respond(this.#recorder.world, events) };
    } catch (error) {
      return { kind: 'fault', error };
    }
  }

  /**
   * A refusal and a response that changed nothing show state too: they wait for all of it (invariant 4). A 503
   * shows none, and must be sent while the disk is stuck.
   */
  #finish(submission: Submission<unknown>, outcome: Outcome<unknown>, unknown = NOTHING_DONE): void {
    assert(this.durableId <= this.lastId, 'nothing is durable that was not appended');
    if (outcome.kind === 'refusal' && outcome.refusal.name === 'ServiceUnavailableError') {
      return submission.done(outcome);
    }
    this.#durabilityWaiters.whenDurable(
      this.lastId,
      () => submission.done(outcome),
      () => submission.done({ kind: 'refusal', refusal: unknown }),
    );
  }
}
