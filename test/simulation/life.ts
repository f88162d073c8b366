/**
 * One life of the process, from opening the data folder to its end, which may come at any call to the disk. It runs
 * the real store: engine, journal, snapshots and event log, on simulated time and a simulated disk.
 */

import assert from 'node:assert/strict';
import { openStore, type Store } from '../../src/actors/store.ts';
import { FLAG_BYTES_MAX } from '../../src/domain/growth/refuse-growth.ts';
import { jsonSize } from '../../src/domain/json/json.ts';
import { stateBytes } from '../../src/domain/state/records.ts';
import { seedEvents } from '../../src/domain/state/seed-events.ts';
import { type LoggedEvent, toLoggedEvent } from '../../src/persistence/event-log/logged-event.ts';
import { LocalCommitLog } from '../../src/persistence/journal/commit-log.ts';
import { inlineLogReader } from '../support/inline-log-reader.ts';
import { type Call, type CallKind, ioError, type MemoryFileSystem } from '../support/memory-file-system.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { auditWorld } from '../support/world-audit.ts';
import type { Client, Service } from './client.ts';
import { FOLDER } from './folder.ts';
import { isInjected } from './injected.ts';
import type { CallNumber, LifePlan } from './life-plan.ts';
import { SimulatedTime, settled } from './simulated-time.ts';
import type { Tally } from './tally.ts';
import type { Witness } from './witness.ts';

/** Bytes that small things, which no budget refuses, may add to a state: times, and empty parts of flags. */
const UNFORESEEN_BYTES_MAX = 2_000;

const NEVER = (): Promise<never> => new Promise(() => undefined);

const CHANGES: ReadonlySet<CallKind> = new Set([
  'write',
  'datasync',
  'sync',
  'truncate',
  'rename',
  'remove',
  'syncFolder',
]);

/** The things that outlive a process. */
export interface Surroundings {
  readonly random: SeededRandom;
  readonly witness: Witness;
  readonly clients: readonly Client[];
  readonly tally: Tally;
  readonly trace: (line: string) => void;
  newId(): string;
  newName(): string;
  /** Bytes of memory that the state may take, in every life. */
  readonly memoryBudgetBytes: number;
  /** The wall clock. */
  wallMs: number;
}

export class Life implements Service {
  readonly #disk: MemoryFileSystem;
  readonly #plan: LifePlan;
  readonly #around: Surroundings;
  readonly #time: SimulatedTime;
  #store: Store | null = null;
  #requestsLeft: number;
  readonly #calls: Record<CallNumber['of'], number> = { all: 0, changes: 0 };
  #hasFailedCall = false;
  /** How it ended; null while it lives. */
  #end: { readonly how: string; readonly disk: MemoryFileSystem } | null = null;
  /** The engine asked to be stopped, or an injected error came out: it ends with the step. */
  #stopping = false;
  #fault: unknown = null;

  constructor(disk: MemoryFileSystem, plan: LifePlan, around: Surroundings) {
    this.#disk = disk;
    this.#plan = plan;
    this.#around = around;
    this.#time = new SimulatedTime(around.wallMs + plan.offMs);
    this.#requestsLeft = plan.requests;
  }

  get engine(): Store['engine'] {
    assert(this.#store !== null, 'the store is open');
    return this.#store.engine;
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  /** Lives to the end; the disk that is left. Throws when anything happens that must not. */
  async live(): Promise<MemoryFileSystem> {
    this.#prepare();
    this.#main().then(
      () => this.#finish('closed', () => this.#disk.crash()),
      (error: unknown) => this.#excuse(error),
    );
    await settled();
    while (await this.#goesOn());
    if (this.#fault !== null) throw this.#fault;
    this.#around.witness.compareLeft();
    assert(this.#end !== null, 'nothing is left to happen, and yet somebody waits for a response');
    this.#around.wallMs = this.#time.wallMs;
    this.#around.trace(
      `  ${this.#end.how} after ${this.#calls.all} calls, floor ${this.#around.witness.floor}`,
    );
    return this.#end.disk;
  }

  async #goesOn(): Promise<boolean> {
    if (this.#stopping) this.#finish('stopped', () => this.#disk.crash());
    if (this.#fault !== null || this.#end !== null) return false;
    return this.#time.step();
  }

  #prepare(): void {
    const { roomBytes, clockJumps, clockFreezes } = this.#plan;
    const { random, tally } = this.#around;
    this.#disk.capacityBytes = Number.POSITIVE_INFINITY;
    if (roomBytes !== null) this.#disk.capacityBytes = usedBytes(this.#disk) + roomBytes;
    this.#disk.beforeCall = (call) => this.#beforeCall(call);
    for (const byMs of clockJumps) {
      this.#time.after(random.below(60), () => this.#time.jump(byMs));
      tally.clockJumps += 1;
    }
    if (this.#plan.eventRetentionDays !== null) this.#around.witness.mayMissOldEvents();
    this.#around.witness.hidesNewest(this.#plan.showsCommittedOnly);
    if (clockFreezes) this.#time.toggleFrozen();
  }

  async #main(): Promise<void> {
    const store = await this.#open();
    this.#store = store;
    if (store.recovery.tornBytesCut > 0) this.#around.tally.tornTails += 1;
    await this.#checkRecovery(store);
    const { memoryBudgetBytes } = this.#around;
    assert(
      stateBytes(store.engine.world) <= memoryBudgetBytes + UNFORESEEN_BYTES_MAX,
      'it fits in the budget',
    );
    this.#watchFeed(store.engine);
    await this.#recordFirstEvents(store);
    const { clients, random } = this.#around;
    const acting = clients.map(async (client) => {
      client.reconnect();
      while (this.#requestsLeft > 0) {
        this.#requestsLeft -= 1;
        await this.#time.sleep(random.below(this.#plan.thinkMsMax + 1));
        await client.act(this);
      }
    });
    await Promise.all(acting);
    this.#around.witness.look(store.engine);
    await store.close();
  }

  #open(): Promise<Store> {
    const { segmentBytes, preallocatedBytes, reserveBytes } = this.#plan;
    const { eventsPerSnapshot, eventRetentionDays, mailboxLengthMax } = this.#plan;
    const fs = this.#disk;
    const time = this.#time;
    return openStore({
      fs,
      folder: FOLDER,
      clock: {
        now: () => time.wallMs,
        monotonic: () => time.elapsedMs,
        defer: (turn) => {
          time.after(0, turn);
        },
      },
      timer: (delayMs, run) => time.after(delayMs, run),
      newId: () => this.#around.newId(),
      newName: () => this.#around.newName(),
      logReader: inlineLogReader(fs),
      log: {
        info: (_, message) => this.#noted(message),
        warn: (_, message) => this.#noted(message),
        error: (details, message) => this.#excuse((details as { err?: unknown }).err ?? message, 'survives'),
      },
      stop: (error) => this.#excuse(error),
      segmentBytes,
      preallocatedBytes,
      ...(this.#plan.showsCommittedOnly && { commitLog: new LocalCommitLog() }),
      ...(this.#plan.defersHistory && { deferredBytesMin: 0 }),
      eventsPerSnapshot,
      eventRetentionDays,
      reserveBytes,
      memoryBudgetBytes: this.#around.memoryBudgetBytes,
      mailboxLengthMax,
      ...(this.#plan.audited && { audit: auditWorld }),
    });
  }

  #noted(message: string): void {
    if (message === 'snapshot taken') this.#around.tally.snapshots += 1;
    if (message === 'old events deleted') this.#around.tally.retentions += 1;
  }

  async #recordFirstEvents({ engine }: Store): Promise<void> {
    if (engine.lastId > 0) return;
    const { witness } = this.#around;
    const at = engine.nextTime();
    const events = seedEvents(new Date(at).toISOString());
    witness.decided(engine, { request: 0, at, events });
    const recorded = engine.record({ name: 'system', userId: -1337 }, events);
    witness.look(engine);
    await recorded;
    witness.shown(engine.lastId);
  }

  async #checkRecovery({ engine, historyCheck }: Store): Promise<void> {
    await historyCheck.run();
    for (const { flags } of engine.world.projects.values())
      for (const { flag } of flags.values())
        assert(jsonSize(flag) <= FLAG_BYTES_MAX, 'no flag that was accepted is too large');
    const events: LoggedEvent[] = [];
    const { firstId } = engine.eventLog;
    if (firstId > 0 && firstId <= engine.lastId) {
      const walk = { from: firstId, to: engine.durableId };
      for await (const { frame, id } of engine.eventLog.iterate(walk)) events.push(toLoggedEvent(frame, id));
    }
    this.#around.witness.recovered(engine, { events, compares: this.#plan.audited ? 'now' : 'later' });
  }

  /** Watches that what the feed tells is shown: no crash may take it back. Events come whole, each once, in order. */
  #watchFeed({ feed, durableId }: Store['engine']): void {
    const { witness } = this.#around;
    let toldId = durableId;
    feed.subscribe((changes) => {
      for (const { id, events } of changes) {
        assert.equal(id, toldId + 1, 'the feed leaves nothing out');
        toldId += events.length;
      }
      witness.shown(toldId);
    });
  }

  /** Every call to the disk comes by here first: to be counted, failed, slowed down, or to be the last one. */
  #beforeCall({ kind, path }: Call): Promise<void> | undefined {
    if (this.#end !== null) return NEVER();
    const { endAt, failure, callMsMax, syncMsMax } = this.#plan;
    this.#calls.all += 1;
    if (CHANGES.has(kind)) this.#calls.changes += 1;
    if (endAt !== null && this.#calls[endAt.of] === endAt.number) {
      this.#die();
      return NEVER();
    }
    const fails = failure !== null && this.#isDue(failure);
    if (fails) {
      if (!this.#hasFailedCall) this.#around.tally.failedCalls += 1;
      this.#hasFailedCall = true;
      throw ioError('EIO', `${kind} ${path}`);
    }
    const delayMsMax = kind === 'datasync' || kind === 'sync' ? syncMsMax : callMsMax;
    return delayMsMax === 0 ? undefined : this.#time.sleep(this.#around.random.next() * delayMsMax);
  }

  #isDue({ at, forGood }: NonNullable<LifePlan['failure']>): boolean {
    const calls = this.#calls[at.of];
    return forGood ? calls >= at.number : calls === at.number && !this.#hasFailedCall;
  }

  #die(): void {
    const { tally, random } = this.#around;
    if (this.#store === null) tally.cutRecoveries += 1;
    if (this.#plan.ending === 'kill') this.#finish('killed', () => this.#disk.crash());
    else this.#finish('cut', () => this.#disk.powerCut('any', random));
  }

  /** An error that the simulation brought about ends the life, or is survived; any other is a fault. */
  #excuse(error: unknown, effect: 'survives' | 'stops' = 'stops'): void {
    if (this.#end !== null) return;
    if (!isInjected(error)) this.#fault ??= error;
    else if (effect === 'stops') this.#stopping = true;
  }

  #finish(how: string, leave: () => MemoryFileSystem): void {
    if (this.#end !== null) return;
    const { tally, random, witness } = this.#around;
    if (this.#store !== null) witness.look(this.#store.engine);
    this.#end = { how, disk: leave() };
    tally.lives += 1;
    if (how === 'closed') tally.cleanEnds += 1;
    if (how === 'killed') tally.kills += 1;
    if (how === 'stopped') tally.stops += 1;
    if (how === 'stopped' && this.#plan.roomBytes !== null) tally.fullDisks += 1;
    // Whatever ended the process, the machine may go down before anybody starts it again.
    const cutAfter = how !== 'cut' && random.chance(0.3);
    if (how === 'cut' || cutAfter) tally.powerCuts += 1;
    if (cutAfter) this.#end = { how: `${how}, then cut`, disk: this.#end.disk.powerCut('any', random) };
  }
}

function usedBytes(disk: MemoryFileSystem): number {
  disk.capacityBytes = Number.MAX_SAFE_INTEGER;
  return Number.MAX_SAFE_INTEGER - disk.roomLeft();
}
