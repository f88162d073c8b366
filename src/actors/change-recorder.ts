/**
 * The one way to change what the process holds: a change is applied to the state, appended to the journal as one frame, and
 * noted in the event log and in the feed, which therefore never differ (invariants 1 and 2). Commands decided here, events
 * recorded without one, and the changes of another node all go through it.
 *
 * On failure: an event that cannot be applied, or a frame that cannot be appended, stops the process (invariant 6), because the
 * state in memory would no longer be what a restart rebuilds.
 */
import assert from 'node:assert/strict';
import { applyTo } from '../domain/state/apply.ts';
import type { Actor } from '../domain/state/decision.ts';
import type { DomainEvent, RecordedEvent } from '../domain/state/events.ts';
import type { RememberedResponse } from '../domain/state/idempotency-cache.ts';
import { RULES_VERSION } from '../domain/state/replay-rules.ts';
import { type Draft, directoryIn, draftOf, type World } from '../domain/state/world.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import type { FileJournal } from '../persistence/journal/file-journal.ts';
import { type FramePosition, lastEventId } from '../persistence/journal/frame.ts';
import type { FrameBody } from '../persistence/journal/frame-format.ts';
import type { Change, ChangeFeed } from './change-feed.ts';

export interface RecorderOptions {
  readonly world: World;
  readonly journal: FileJournal;
  readonly eventLog: EventLog;
  /** A random name of eight hexadecimal digits for what this start records (lineage.ts). */
  newName(): string;
  /** Time of the newest event in the journal; 0 in a new one. */
  readonly lastAt: number;
  /** Called when the state can no longer be trusted; must end the process. */
  stop(error: Error): void;
}

interface Applied {
  readonly isOwn: boolean;
  /** The rules of replay by which it is applied; the newest unless given. */
  readonly rules?: number;
  /** The state after its events, where they have been applied already. */
  readonly after?: World | null;
  /** The edit that it shares with the change before, whose state nobody has seen. */
  readonly edit?: World['edit'] | undefined;
}

export class ChangeRecorder {
  readonly #options: RecorderOptions;
  /** The state after the newest change, durable or not. Nothing else changes it: a field, because each request reads it. */
  world: Draft;
  readonly #journal: FileJournal;
  readonly #eventLog: EventLog;
  readonly #feed: ChangeFeed;
  #lastAt: number;
  /** Whether the newest name in the lineage is this start's own. */
  #hasName = false;

  constructor(options: RecorderOptions, feed: ChangeFeed) {
    this.#options = options;
    this.world = draftOf(options.world);
    this.#journal = options.journal;
    this.#eventLog = options.eventLog;
    this.#feed = feed;
    this.#lastAt = options.lastAt;
    assert(feed.durableId === options.journal.durableId, 'the feed begins with what is on disk');
  }

  /** Id of the newest event, durable or not. */
  get lastId(): number {
    return this.#journal.appendedId;
  }

  /** Time of the newest event, durable or not; 0 without one. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** The first change that this start records gives it a name. */
  change(actor: Actor, events: readonly RecordedEvent[], at: number): Change {
    assert(events.length > 0, 'a change has an event');
    const change = { id: this.lastId + 1, at, by: actor.name, userId: actor.userId, events };
    if (this.#hasName) return change;
    return { ...change, lineage: this.world.lineage.mark(this.#options.newName()) };
  }

  /** Applies the next change to the state. `isOwn`: whether it was made here, and not followed. */
  apply(
    change: Change,
    createdAt: string,
    { isOwn, rules = RULES_VERSION, after = null, edit }: Applied,
  ): void {
    const { id, lineage } = change;
    const events = change.events as readonly DomainEvent[];
    assert(id === this.lastId + 1, 'what is applied is the next change');
    assert(!isOwn || this.#hasName || lineage !== undefined, 'what this start records has its name');
    const draft = draftOf(after ?? this.world, edit);
    try {
      // Before anything that the change makes is shown: its ETag carries the name.
      if (lineage !== undefined) draft.lineage = draft.lineage.adopted(id, lineage);
      if (after === null) applyTo(draft, events, { id, createdAt, rules });
      const { revision, accessRevision } = draft.directory;
      assert(
        revision < id + events.length && accessRevision < id + events.length,
        'no part of the state is newer than its last event',
      );
    } catch (error) {
      this.#options.stop(
        new Error(`the change that begins with event ${id} could not be applied to the state`, {
          cause: error,
        }),
      );
      throw error;
    }
    this.#hasName = isOwn;
    this.world = draft;
  }

  /** Appends one frame, all of which survives a crash or nothing (invariant 2). */
  append(change: Change, response: RememberedResponse | undefined, body: FrameBody): void {
    assert(change.at >= this.#lastAt, 'recorded times never go back');
    assert(this.#feed.durableId < change.id, 'nobody has heard of a change before it is appended');
    const position = this.#appendToJournal(change, body);
    assert(position.length > body.payload.length, 'a frame is longer than its payload');
    assert(this.lastId === lastEventId(change), 'the journal ends with what was appended last');
    this.#lastAt = change.at;
    this.#eventLog.add(change, position);
    assert(this.#eventLog.lastId === this.lastId, 'the event log has each event that the journal has');
    this.#feed.add(change, position.length);
    if (response === undefined) return;
    const directory = directoryIn(this.world);
    const { edit } = this.world;
    directory.responses = directory.responses.remembered(response, change, body.rules, edit);
  }

  /**
   * The state already holds the events, so a frame that cannot be encoded would leave it ahead of the journal for
   * good.
   */
  #appendToJournal(change: Change, body: FrameBody): FramePosition {
    try {
      return this.#journal.append(change, body);
    } catch (error) {
      this.#options.stop(
        new Error(`event ${change.id} could not be appended to the journal`, { cause: error }),
      );
      throw error;
    }
  }
}
