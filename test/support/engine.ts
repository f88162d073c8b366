/**
 * An engine with everything behind it, on a disk in memory: turns are run by hand, clocks stand still until they are
 * moved, and syncs of the journal can be held back. So "not yet" can be tested without waiting for anything. No zeros
 * are written ahead of the journal's end, so each sync of the journal is that of a batch.
 */
import assert from 'node:assert/strict';
import { openStore, type Store, type StoreOptions } from '../../src/actors/store.ts';
import type { Outcome, Submission } from '../../src/actors/submission.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import { seedEvents } from '../../src/domain/state/seed-events.ts';
import { inlineLogReader } from './inline-log-reader.ts';
import { MemoryFileSystem } from './memory-file-system.ts';

export const FOLDER = '/data';
export const TESTER = { name: 'tester', userId: 7 } as const;
export const START_AT = Date.parse('2024-05-01T00:00:00.000Z');

/** Time and turns, both moved by the test alone. */
export class ManualClock {
  nowMs = START_AT;
  monotonicMs = 0;
  readonly #turns: (() => void)[] = [];
  #isFree = false;

  get turnsDue(): number {
    return this.#turns.length;
  }

  /** Runs the turns that are due, and those that come due meanwhile. */
  runTurns(): void {
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) turn();
  }

  /** From now on turns run by themselves, as in production: for what takes many, such as snapshots. */
  runFreely(): void {
    this.#isFree = true;
    this.runTurns();
  }

  /** Back to turns run by hand. */
  holdTurns(): void {
    this.#isFree = false;
  }

  readonly clock = {
    now: () => this.nowMs,
    monotonic: () => this.monotonicMs,
    defer: (turn: () => void) => {
      if (this.#isFree) setImmediate(turn);
      else this.#turns.push(turn);
    },
  };
}

/** Holds back what reaches it while it is closed. */
export class Gate {
  #open = true;
  #waiting: (() => void)[] = [];

  get waitingCount(): number {
    return this.#waiting.length;
  }

  close(): void {
    this.#open = false;
  }

  open(): void {
    this.#open = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  pass(): void | Promise<void> {
    if (!this.#open) return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** A disk whose journal is synced only while `gate` is open. */
export function gatedDisk(): { readonly disk: MemoryFileSystem; readonly gate: Gate } {
  const gate = new Gate();
  const disk = new MemoryFileSystem();
  const isJournal = (path: string): boolean => path.endsWith('.journal');
  disk.beforeCall = ({ kind, path }) => (kind === 'datasync' && isJournal(path) ? gate.pass() : undefined);
  return { disk, gate };
}

let names = 0;

/** No two starts within a test get the same. */
function newName(): string {
  names += 1;
  return names.toString(16).padStart(8, '0');
}

/** Lets everything that can go on without the test go on. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

export interface TestEngine {
  readonly store: Store;
  readonly disk: MemoryFileSystem;
  readonly gate: Gate;
  readonly manual: ManualClock;
  /** The errors that made the process stop, in order. */
  readonly stops: readonly Error[];
  /** Puts a command into its mailbox; its outcome appears in what this returns. */
  submit(command: Command, more?: Partial<Submission<unknown>>): Submitted;
  /** Submits, runs the turn and waits for the outcome. */
  execute(command: Command): Promise<Outcome<unknown>>;
}

export interface Submitted {
  outcome: Outcome<unknown> | null;
}

export type TestEngineOptions = Partial<
  Pick<
    StoreOptions,
    | 'audit'
    | 'bytesPerSnapshot'
    | 'commitLog'
    | 'deferredBytesMin'
    | 'eventsPerSnapshot'
    | 'limits'
    | 'mailboxLengthMax'
    | 'log'
    | 'segmentBytes'
    | 'observe'
    | 'timer'
  >
> & {
  /** Whether the node follows another one: it then records no first events. */
  readonly follows?: boolean;
  /** A disk that was used before. */
  readonly disk?: MemoryFileSystem;
};

/** An engine with the first events of a data folder in it, unless the disk has some already. */
export async function openTestEngine({
  disk: used,
  follows = false,
  ...options
}: TestEngineOptions = {}): Promise<TestEngine> {
  const { disk, gate } = used === undefined ? gatedDisk() : { disk: used, gate: new Gate() };
  const manual = new ManualClock();
  const stops: Error[] = [];
  let ids = 0;
  const store = await openStore({
    fs: disk,
    folder: FOLDER,
    clock: manual.clock,
    newId: () => {
      ids += 1;
      return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
    },
    newName,
    logReader: inlineLogReader(disk),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    stop: (error) => stops.push(error),
    preallocatedBytes: 0,
    ...options,
  });
  const { engine } = store;
  if (engine.lastId === 0 && !follows)
    await engine.record(TESTER, seedEvents(new Date(START_AT).toISOString()));
  const submit: TestEngine['submit'] = (command, more = {}) => {
    const submitted: Submitted = { outcome: null };
    engine.submit({
      command,
      actor: TESTER,
      respond: (_world, events) => events.map(({ type }) => type),
      done: (outcome) => {
        assert.equal(submitted.outcome, null, 'an outcome comes once');
        submitted.outcome = outcome;
      },
      ...more,
    });
    return submitted;
  };
  return {
    store,
    disk,
    gate,
    manual,
    stops,
    submit,
    async execute(command) {
      const submitted = submit(command);
      manual.runTurns();
      await engine.journal.flush();
      await settle();
      assert(submitted.outcome !== null, 'after the sync there is an outcome');
      return submitted.outcome;
    },
  };
}

export const createFlag = (name: string, project = 'default'): Command => ({
  type: 'create-flag',
  project,
  name,
  metadata: {},
});
