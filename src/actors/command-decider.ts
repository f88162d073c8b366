/**
 * From a command in its turn to its result: events that are encoded and not yet applied, or an outcome without any. Nothing
 * is changed here, so a fault in a rule fails the one command and affects no other.
 */
import assert from 'node:assert/strict';
import { decide, decideWithinLimits } from '../domain/decide/decide.ts';
import { guardedEvents } from '../domain/decide/event-guard.ts';
import { DEFAULT_GROWTH_LIMITS, type GrowthLimits } from '../domain/flags/growth-limits.ts';
import type { DecideContext, Kept } from '../domain/state/decision.ts';
import type { DomainEvent, RecordedEvent } from '../domain/state/events.ts';
import {
  RESPONSE_LIFETIME_MS,
  type RememberedResponse,
  withinLimit,
} from '../domain/state/idempotency-cache.ts';
import { invalidOperation, isRefusal, type Refusal, refuse } from '../domain/state/refusal.ts';
import type { World } from '../domain/state/world.ts';
import { EncodingError } from '../persistence/codec/message-pack.ts';
import type { FileJournal } from '../persistence/journal/file-journal.ts';
import type { FrameEncoder } from '../persistence/journal/frame-payload.ts';
import type { Change } from './change-feed.ts';
import type { ChangeRecorder } from './change-recorder.ts';
import type { Outcome, Retry, Submission } from './submission.ts';

/** A command that waited longer is not started: its client has given up, or will before the response. */
export const QUEUE_DEADLINE_MS = 10_000;

/**
 * Bytes that the events of one command may take in the journal. Leaves room for the response in a frame, and bounds how
 * long encoding one command holds the event loop. What is recorded before there are requests may fill a frame.
 */
export const CHANGE_BYTES_MAX = 4 * 2 ** 20;

export interface DeciderOptions {
  readonly journal: FileJournal;
  newId(): string;
  readonly limits?: GrowthLimits;
  /** The bytes of memory that the state may take; without a bound unless given. */
  readonly memoryBudgetBytes?: number;
  /** Why no command may be decided here, because another node leads; null when one may. One always may unless given. */
  refusalToDecide?(): string | null;
}

/** The time at which a command's turn began. */
export interface TurnTime {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds since 1970, by the clock as it is. */
  readonly clockMs: number;
  /** `at` as ISO 8601, UTC. */
  readonly createdAt: string;
  /** Milliseconds from any fixed point. */
  readonly monotonic: number;
}

/** The result of a command, encoded and not yet applied; `change` is null when it changes nothing. */
export interface Decided extends Kept {
  readonly change: Change | null;
  /** Without the response; overwritten by the next change. */
  readonly payload: Buffer;
}

const UNCHANGED: Decided = { events: [], after: null, change: null, payload: Buffer.alloc(0) };

export class CommandDecider {
  readonly #options: DeciderOptions;
  readonly #recorder: ChangeRecorder;
  readonly #encoder: FrameEncoder;
  readonly memoryBudgetBytes: number;
  #isOver = false;

  constructor(options: DeciderOptions, recorder: ChangeRecorder, encoder: FrameEncoder) {
    this.#options = options;
    this.#recorder = recorder;
    this.#encoder = encoder;
    this.memoryBudgetBytes = options.memoryBudgetBytes ?? Number.POSITIVE_INFINITY;
    assert(this.memoryBudgetBytes >= 0, 'a budget is a number of bytes');
  }

  /** Whether no command can change anything, so that there is nothing to wait for. */
  get refusesAll(): boolean {
    return this.#elsewhere !== null;
  }

  get #elsewhere(): string | null {
    if (this.#isOver) return 'This node ends; send the request again, to any node.';
    return this.#options.refusalToDecide?.() ?? null;
  }

  /** From now on all commands are refused. */
  refuseAll(): void {
    this.#isOver = true;
  }

  /** The events to record, or the outcome of a command that records nothing. Changes nothing. */
  decide(submission: Submission<unknown>, queuedAt: number, turnTime: TurnTime): Outcome<unknown> | Decided {
    const { command, actor, retry } = submission;
    // All changes, durable or not.
    const { world } = this.#recorder;
    const unwanted = submission.mayStart?.(world) ?? null;
    if (unwanted !== null) return { kind: 'refusal', refusal: unwanted };
    const earlier = retry === undefined ? null : earlierOutcome(world, retry, turnTime.at);
    if (earlier !== null) return earlier;
    if (isRefusal(command)) return { kind: 'refusal', refusal: command };
    const refusal =
      this.#refusalBefore(turnTime.monotonic - queuedAt) ?? submission.precondition?.(world) ?? null;
    if (refusal !== null) return { kind: 'refusal', refusal };
    const { createdAt: now, clockMs } = turnTime;
    const { newId, limits = DEFAULT_GROWTH_LIMITS } = this.#options;
    const { memoryBudgetBytes } = this;
    const nextId = this.#recorder.lastId + 1;
    const context: DecideContext = { now, clockMs, actor, limits, memoryBudgetBytes, nextId, newId };
    const isOnWhole = !isRefusal(command) && command.type === 'own' && command.onWholeState === true;
    const part = isOnWhole ? null : (submission.seenBy?.(world) ?? null);
    const seen = part === null ? null : decide(part, command, context);
    if (seen !== null && isRefusal(seen)) return { kind: 'refusal', refusal: seen };
    if (seen?.length === 0) return UNCHANGED;
    const decision = decideWithinLimits(world, command, context);
    assert(this.#recorder.world === world, 'a decision changes nothing');
    if (isRefusal(decision)) return { kind: 'refusal', refusal: decision };
    if (decision.events.length === 0) return UNCHANGED;
    const forbidden = submission.guard?.(world, decision.events) ?? null;
    if (forbidden !== null) return { kind: 'refusal', refusal: forbidden };
    const events = guardedEvents(world, decision.events, actor);
    if (isRefusal(events)) return { kind: 'refusal', refusal: events };
    const kept = events === decision.events ? decision : { events, after: null };
    return this.#encode(kept, this.#recorder.change(actor, tagged(world, events), turnTime.at));
  }

  /** Encodes the frame before anything of it is applied, so that a change which cannot be recorded never happens. */
  #encode({ events, after }: Kept, change: Change): Outcome<unknown> | Decided {
    assert(change.at >= this.#recorder.lastAt, 'a change is not older than the one before');
    try {
      return { events, after, change, payload: this.#encoder.encode(change, CHANGE_BYTES_MAX) };
    } catch (error) {
      if (!(error instanceof EncodingError)) throw error;
      return { kind: 'refusal', refusal: tooLarge(error) };
    }
  }

  #refusalBefore(waitedMs: number): Refusal | null {
    const elsewhere = this.#elsewhere;
    if (elsewhere !== null) return refuse('ServiceUnavailableError', elsewhere);
    const { journal } = this.#options;
    if (!journal.writable) {
      return refuse('ServiceUnavailableError', journal.refusalReason ?? 'The journal accepts no writes.');
    }
    if (waitedMs > QUEUE_DEADLINE_MS) {
      return refuse(
        'ServiceUnavailableError',
        'The command waited too long for the disk and was not started.',
      );
    }
    return null;
  }
}

/** The outcome that a retry gets; null for a request that was not seen before. */
function earlierOutcome(world: World, retry: Retry<unknown>, now: number): Outcome<unknown> | null {
  const remembered = world.directory.responses.get(retry.key);
  if (remembered === undefined || remembered.at + RESPONSE_LIFETIME_MS <= now) return null;
  assert(remembered.at <= now, 'a response that is remembered was made before');
  if (remembered.fingerprint === retry.fingerprint) {
    return { kind: 'response', response: retry.fromMemory(remembered) };
  }
  const message = 'The Idempotency-Key was sent with another request before; a new request needs a new key.';
  return { kind: 'refusal', refusal: invalidOperation(message) };
}

/** The events, each about a flag with the flag's tags as they were before it. */
function tagged(world: World, events: readonly DomainEvent[]): readonly RecordedEvent[] {
  return events.map((event) => {
    // A new flag has no tags, and looking for what is not there is dear among many flags.
    if (event.featureName === null || event.type === 'feature-created') return event;
    const tags = world.projects.get(event.project)?.flags.get(event.featureName)?.flag.tags;
    return tags === undefined || tags.length === 0 ? event : { ...event, tags };
  });
}

/** Returns the response that a retry of the command will get; undefined where the retry is decided again. */
export function rememberable(
  retry: Retry<unknown> | undefined,
  outcome: Outcome<unknown>,
): RememberedResponse | undefined {
  if (retry === undefined || outcome.kind !== 'response') return undefined;
  const { key, fingerprint } = retry;
  return withinLimit({ key, fingerprint, ...retry.toRemember(outcome.response) });
}

function tooLarge({ message }: EncodingError): Refusal {
  return refuse(
    'PayloadTooLargeError',
    `The change cannot be recorded, because it has ${message}. Split it into parts.`,
  );
}
