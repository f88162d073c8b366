/**
 * The record of what happened, as clients saw it and as the engine decided it: the oracle of the simulation.
 *
 * It holds every command that was ever applied, in order, with the state right after it, and the newest event that
 * anybody was shown: the floor. After each recovery it insists that
 * (a) nothing below the floor is missing: what was acknowledged, or read, is there;
 * (b) the events on disk are the first ones of those submitted, without a hole, content and all;
 * (c) they end where a command ends: an unacknowledged one is wholly in or wholly out;
 * (d) the recovered state is the one that was live at that event, by its hash, and by a second opinion (shadow.ts);
 * (e) its memory is counted as that of the live one was, and is within the budget that the live one was held to;
 * (f) times never go backwards, whatever the clock did.
 * What was recovered is then shown to everybody: it becomes the floor.
 */
import assert from 'node:assert/strict';
import type { Engine } from '../../src/actors/engine.ts';
import { sectionsHash, snapshotSections } from '../../src/actors/state/world-snapshot.ts';
import type { DomainEvent } from '../../src/domain/state/events.ts';
import { stateBytes } from '../../src/domain/state/records.ts';
import type { LoggedEvent } from '../../src/persistence/event-log/logged-event.ts';
import type { SnapshotSection } from '../../src/persistence/snapshots/snapshot-writer.ts';
import { recountStateBytes } from './recounted-memory.ts';
import { shadowOf } from './shadow.ts';

export interface AppliedCommand {
  /** The number of the request; 0 for the first events of a new folder. */
  readonly request: number;
  readonly firstId: number;
  readonly lastId: number;
  readonly events: readonly DomainEvent[];
  /** Milliseconds since 1970, as recorded. */
  readonly at: number;
  /** Taken when the next command is about to be decided, or the process ends: until then nothing changes. */
  state: readonly SnapshotSection[] | null;
  /** The memory of that state, as the server counts it. */
  stateBytes: number;
}

export class Witness {
  #applied: AppliedCommand[] = [];
  #floor = 0;
  #left: (() => void) | null = null;
  #hadRetention = false;
  #isNewestHidden = false;

  /** Events that somebody was shown, or acknowledged: no recovery may end below. */
  get floor(): number {
    return this.#floor;
  }

  get lastId(): number {
    return this.#applied.at(-1)?.lastId ?? 0;
  }

  /** Commands that the journal holds, or that were under way when the process ended. */
  get applied(): readonly AppliedCommand[] {
    return this.#applied;
  }

  /** To be called between decision and append, in the same step. */
  decided(engine: Engine, command: Pick<AppliedCommand, 'request' | 'events' | 'at'>): void {
    const firstId = engine.lastId + 1;
    assert.equal(firstId, this.lastId + 1, 'commands follow each other without a gap');
    const lastId = engine.lastId + command.events.length;
    this.#applied.push({ ...command, firstId, lastId, state: null, stateBytes: 0 });
  }

  /** To be called before each decision and at the end of a life: keeps the state that the last command left. */
  look(engine: Engine): void {
    const last = this.#applied.at(-1);
    if (last !== undefined && last.state === null && last.lastId === engine.lastId) {
      last.state = snapshotSections(engine.world);
      last.stateBytes = stateBytes(engine.world);
    }
  }

  /** Somebody was shown the state as of this event. */
  shown(id: number): void {
    assert(id <= this.lastId, `event ${id} was shown and never decided`);
    this.#floor = Math.max(this.#floor, id);
  }

  /** The time at which this request was carried out; null when it was not, or when a crash took it back. */
  lastTimeApplied(request: number): number | null {
    return this.#applied.findLast((one) => one.request === request)?.at ?? null;
  }

  /** Asserts that readers are shown what was submitted. */
  recognizes(event: LoggedEvent): void {
    const command = this.#applied.find(({ firstId, lastId }) => firstId <= event.id && event.id <= lastId);
    assert(command !== undefined, `event ${event.id} was never submitted`);
    const submitted = command.events[event.id - command.firstId];
    assert(submitted !== undefined);
    assert.equal(essence(event), essence(submitted), `event ${event.id} is the one that was submitted`);
  }

  /** Notes that in this life the state is shown without what is not durable yet, so nobody may have seen it after the newest change. */
  hidesNewest(isHidden: boolean): void {
    this.#isNewestHidden ||= isHidden;
  }

  /** From now on old events may be gone, for a retention was set. */
  mayMissOldEvents(): void {
    this.#hadRetention = true;
  }

  /**
   * Holds a recovered engine against all of the above. `events` are all that its journal holds. The state is compared at once, or
   * only by `compareLeft`: comparing decodes all flags, and a server decodes them when commands come to them.
   */
  recovered(
    engine: Engine,
    { events, compares }: { readonly events: readonly LoggedEvent[]; readonly compares: 'now' | 'later' },
  ): void {
    const last = engine.lastId;
    assert(
      last >= this.#floor,
      `event ${this.#floor} was acknowledged or shown, the journal ends with ${last}`,
    );
    assert(last <= this.lastId, `the journal ends with event ${last}, of ${this.lastId} that were submitted`);
    const missing = last - events.length;
    assert(missing === 0 || this.#hadRetention, `${missing} old events are gone, and no retention was set`);
    assert.deepEqual(
      events.map(({ id }) => id),
      Array.from({ length: events.length }, (_, index) => missing + index + 1),
      'the journal has no hole, and goes to the end',
    );
    for (const event of events) this.recognizes(event);
    timesAscend(events);
    this.#applied = this.#applied.filter(({ firstId }) => firstId <= last);
    assert.equal(this.lastId, last, 'a command is wholly in or wholly out');
    this.#compareStates(engine, compares);
    this.#floor = last;
  }

  /** Compares what a recovery gave, and is to be compared later. */
  compareLeft(): void {
    this.#left?.();
    this.#left = null;
  }

  #compareStates(engine: Engine, when: 'now' | 'later'): void {
    const command = this.#applied.at(-1);
    if (command === undefined) return;
    const { state } = command;
    if (state === null) {
      assert(this.#isNewestHidden, `the state after event ${command.lastId} was seen`);
      return shadowOf(this.#applied.flatMap(({ events }) => events)).compare(engine.world);
    }
    assert.equal(stateBytes(engine.world), command.stateBytes, 'it takes the memory that the live one did');
    const recovered = snapshotSections(engine.world);
    this.#left = () => compareSections(recovered, state);
    if (when === 'later') return;
    this.compareLeft();
    assert.equal(stateBytes(engine.world), recountStateBytes(engine.world), 'and that is counted right');
    shadowOf(this.#applied.flatMap(({ events }) => events)).compare(engine.world);
  }
}

function compareSections(recovered: readonly SnapshotSection[], live: readonly SnapshotSection[]): void {
  if (sectionsHash(recovered) === sectionsHash(live)) return;
  const listed = (sections: readonly SnapshotSection[]) =>
    sections.map(({ name, records }) => ({ name, records: [...records] }));
  assert.deepStrictEqual(listed(recovered), listed(live), 'the recovered state is the live one');
  assert.fail('the hashes differ, and the states do not');
}

/** The part of an event that is its own: the log adds author, time and tags. */
function essence(event: LoggedEvent | DomainEvent): string {
  const { type, project, featureName, environment, data, preData } = event;
  return JSON.stringify([type, project, featureName, environment, data ?? null, preData ?? null]);
}

function timesAscend(events: readonly LoggedEvent[]): void {
  let newest = '';
  for (const { id, createdAt } of events) {
    assert(createdAt >= newest, `event ${id} is of ${createdAt}, the one before it of ${newest}`);
    newest = createdAt;
  }
}
