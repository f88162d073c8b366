/**
 * Nodes of a cluster with a log between them, all in memory and on simulated time: the real store, journal, commit log
 * and replica of each, on a disk and a link of its own.
 */

import assert from 'node:assert/strict';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { openStore, type Store } from '../../../src/actors/store.ts';
import type { Outcome, Submission } from '../../../src/actors/submission.ts';
import type { Archivist } from '../../../src/addons/replication/archivist.ts';
import { openClusterNode } from '../../../src/addons/replication/cluster-node.ts';
import { type Found, OWN_FORMATS } from '../../../src/addons/replication/eligibility.ts';
import type { FileArchive } from '../../../src/addons/replication/file-archive.ts';
import {
  decodeRecord,
  NewerRecordError,
  PART_BYTES_MAX,
} from '../../../src/addons/replication/record-format.ts';
import type { Replica } from '../../../src/addons/replication/replica.ts';
import { mayDecide } from '../../../src/addons/replication/role.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { seedEvents } from '../../../src/domain/state/seed-events.ts';
import { AtLeast } from '../../../src/http/serving/cluster.ts';
import { SimulatedTime } from '../../simulation/simulated-time.ts';
import { FOLDER, type Submitted, TESTER } from '../../support/engine.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { auditWorld } from '../../support/world-audit.ts';
import { type ArchiveCall, MemoryArchive } from './memory-archive.ts';
import { type Fate, type MemoryLink, MemoryLog } from './memory-log.ts';

export const CLUSTER = 'test';
const NEVER = (): Promise<never> => new Promise(() => undefined);
/** The formats that the version before reads. */
const BEFORE = { ...OWN_FORMATS, content: OWN_FORMATS.content - 1 };
const STARTED_AT = Date.parse('2024-05-01T00:00:00.000Z');

export interface TestClusterOptions {
  readonly random?: () => number;
  readonly fate?: Fate;
  readonly newName?: () => string;
  /** Whether a node reaches another one at its address, by their names. */
  readonly reaches?: (from: string, to: string) => boolean;
  /** Changes the answer that a node finds at an address. */
  readonly found?: (found: Found) => Found;
  readonly audited?: boolean;
  readonly eventsPerSnapshot?: number;
  readonly segmentBytes?: number;
  readonly hasRetention?: boolean;
  /** Bytes of one part of a batch in the log. */
  readonly partBytes?: number;
  /** Bytes of archived files; without an archive unless given. */
  readonly archiveFileBytes?: number;
  readonly archiveTakesMs?: (call: ArchiveCall) => number;
  /** Called when a process has opened its store, before it follows anything. */
  readonly onOpen?: (node: TestNode, store: Store) => void;
  /** Further work of a node before it leads. */
  readonly onLeading?: (node: TestNode) => Promise<void>;
}

export class TestCluster {
  readonly time = new SimulatedTime(STARTED_AT);
  readonly log = new MemoryLog((delayMs, run) => this.time.after(delayMs, run)).begin(CLUSTER);
  readonly archive = new MemoryArchive((delayMs, run) => this.time.after(delayMs, run));
  readonly nodes: TestNode[] = [];
  readonly options: Required<TestClusterOptions>;
  /** Starts of processes of the newer version, where there are two. */
  readonly newerRuns = new Set<string>();
  #names = 0;
  #runs = 0;

  constructor(options: TestClusterOptions = {}) {
    this.options = {
      random: () => 0.5,
      fate: () => 0,
      reaches: () => true,
      found: (found) => found,
      audited: false,
      eventsPerSnapshot: 100_000,
      segmentBytes: 64 * 1024 * 1024,
      hasRetention: false,
      archiveFileBytes: 0,
      partBytes: PART_BYTES_MAX,
      archiveTakesMs: () => 0,
      onOpen: () => undefined,
      onLeading: () => Promise.resolve(),
      newName: () => {
        this.#names += 1;
        return this.#names.toString(16).padStart(8, '0');
      },
      ...options,
    };
  }

  newRun(): string {
    this.#runs += 1;
    return this.#runs.toString(16).padStart(8, '0');
  }

  /** A node that is starting. */
  add(disk = new MemoryFileSystem(), { isOld = false } = {}): TestNode {
    const node = new TestNode(this, `node-${this.nodes.length + 1}`, disk);
    node.isOld = isOld;
    this.nodes.push(node);
    node.begin();
    return node;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.time.elapsedMs + ms;
    this.time.after(ms, () => undefined);
    while (this.time.elapsedMs < end && (await this.time.step()));
  }

  /** Lets time pass until something holds. */
  async until(what: string, holds: () => boolean, msMax = 60_000): Promise<void> {
    const end = this.time.elapsedMs + msMax;
    while (!holds()) {
      if (this.time.elapsedMs >= end) assert.fail(`after ${msMax} ms still not: ${what}`);
      this.time.after(10, () => undefined);
      await this.time.step();
    }
  }

  /** The answer at the address of a node. */
  foundAt(name: string): Found {
    const node = this.nodes.find((one) => one.name === name);
    if (node?.isRunning !== true) return 'refused';
    if (node.isFrozen) return 'nothing';
    return mayDecide(node.replica?.view.role) ? 'leads' : 'follows';
  }

  /**
   * Sends a command to a node, which hands it on to the leader that it knows unless it leads itself. Messages between the two may be
   * lost; what is handed on is not handed on again.
   */
  send(
    to: TestNode,
    command: Command,
    more: Partial<Submission<unknown>>,
    told: (outcome: Outcome<unknown>) => void,
  ): void {
    const known = this.nodes.find(({ name }) => name === to.replica?.otherLeader?.node);
    const leader = to.isLeading || to.isFrozen || known?.store == null ? to : known;
    if (leader === to) return void to.submit(command, more, told);
    this.#hop(to, leader, () => {
      if (leader.store !== null)
        leader.submit(command, more, (outcome) => this.#hop(leader, to, () => told(outcome)));
    });
  }

  #hop(from: TestNode, to: TestNode, arrive: () => void): void {
    const fate = this.options.fate('request');
    if (fate === 'lost' || !this.options.reaches(from.name, to.name)) return;
    this.time.after(fate === 'twice' ? 0 : fate, () => to.isRunning && arrive());
    // A request that comes again under its key is answered as before.
    if (fate === 'twice') this.time.after(1, () => to.isRunning && arrive());
  }

  get leaders(): readonly TestNode[] {
    return this.nodes.filter((node) => node.isLeading);
  }

  async leader(): Promise<TestNode> {
    await this.until('a node leads', () => this.leaders.length > 0);
    return this.leaders[0]!;
  }

  /** Waits until all nodes that run have the same events as the log. */
  async caughtUp(): Promise<void> {
    const running = this.nodes.filter(({ isRunning }) => isRunning);
    const isSame = (): boolean =>
      running.every(
        ({ store }) => store !== null && store.engine.durableId === running[0]!.store!.engine.lastId,
      ) && running.every(({ replica }) => replica !== null && replica.view.lagRecords === 0);
    await this.until('all nodes have the same events', isSame);
  }
}

/** A process on a data folder, and after a crash the next one. */
export class TestNode {
  readonly name: string;
  readonly #cluster: TestCluster;
  disk: MemoryFileSystem;
  link: MemoryLink | null = null;
  store: Store | null = null;
  replica: Replica | null = null;
  archivist: Archivist | null = null;
  atLeast: AtLeast | null = null;
  /** By how much its clock differs from that of the others. */
  clockOffsetMs = 0;
  /** Whether it runs the version before, which cannot read what newer ones write. */
  isOld = false;
  /** Writes and syncs that wait, while its disk hangs. */
  #held: (() => void)[] | null = null;
  /** All that waits for the process to go on, while it stands still. */
  #frozen: (() => void)[] | null = null;
  isRunning = false;
  /** Why processes of this node ended by themselves, and what they said. */
  readonly stops: Error[] = [];
  readonly notes: string[] = [];

  constructor(cluster: TestCluster, name: string, disk: MemoryFileSystem) {
    this.#cluster = cluster;
    this.name = name;
    this.disk = disk;
  }

  get isLeading(): boolean {
    return this.isRunning && !this.isFrozen && this.replica?.isLeading === true;
  }

  /** Id, checksum and hash of what the node holds. */
  get place() {
    assert(this.store !== null, `${this.name} runs`);
    const { engine } = this.store;
    const { lastId, lastChain, world } = engine;
    return { lastId, chain: lastChain, state: stateHash(world) };
  }

  /** Starts a process on the disk. */
  begin(): void {
    assert(!this.isRunning, 'one process at a time has the folder open');
    this.isRunning = true;
    const run = this.#cluster.newRun();
    this.#open(run).catch((error: unknown) => this.#ended(run, error as Error));
  }

  #run = '';

  async #open(run: string): Promise<void> {
    const { time, log, options } = this.#cluster;
    this.#run = run;
    const { disk } = this;
    const link = log.connect(options.fate);
    this.link = link;
    link.admit = (run) => this.#admit(run);
    link.refuse = (record) => this.#refuseNewer(record);
    if (!this.isOld) this.#cluster.newerRuns.add(run);
    this.#watchDisk();
    const timer = (delayMs: number, callback: () => void) =>
      time.after(delayMs, () => this.#admit(() => void (this.#run === run && callback())));
    const clock = {
      now: () => time.wallMs + this.clockOffsetMs,
      monotonic: () => time.elapsedMs,
      defer: (turn: () => void) => void timer(0, turn),
    };
    const stop = (error: Error): void => this.#ended(run, error);
    let ids = 0;
    const { store, replica, archivist } = await openClusterNode<Store>({
      ...{ fs: disk, folder: FOLDER, log: link, cluster: CLUSTER, stop },
      archive: options.archiveFileBytes === 0 ? null : this.#archiveOf(run),
      archiveFileBytes: options.archiveFileBytes,
      partBytes: options.partBytes,
      archiveMarginBytes: options.archiveFileBytes,
      hasRetention: options.hasRetention,
      version: this.isOld ? 'before' : 'test',
      formats: this.isOld ? BEFORE : OWN_FORMATS,
      hopKey: run,
      reach: async ({ node }) =>
        options.found(options.reaches(this.name, node) ? this.#cluster.foundAt(node) : 'nothing'),
      identity: { node: this.name, run, address: `http://${this.name}:4242` },
      clock: {
        monotonic: clock.monotonic,
        wall: clock.now,
        timer,
        random: options.random,
        yieldToEventLoop: () => new Promise((resolve) => void timer(0, resolve)),
      },
      notes: {
        info: (_, message) => this.notes.push(message),
        warn: (_, message) => this.notes.push(message),
      },
      open: async (hooks) => {
        const store = await openStore({
          ...{ fs: disk, folder: FOLDER, clock, stop, preallocatedBytes: 0, ...hooks },
          newId: () => {
            ids += 1;
            return `00000000-0000-4000-8000-${run}${String(ids).padStart(4, '0')}`;
          },
          newName: options.newName,
          ...(options.audited && { audit: auditWorld }),
          eventsPerSnapshot: options.eventsPerSnapshot,
          segmentBytes: options.segmentBytes,
          logReader: inlineLogReader(disk),
          timer,
          log: {
            info: () => undefined,
            warn: (_, message) => this.notes.push(message),
            error: (_, message) => this.notes.push(message),
          },
        });
        options.onOpen(this, store);
        return store;
      },
      onLeading: async ({ engine }) => {
        if (engine.lastId === 0) await engine.record(TESTER, seedEvents(new Date(time.wallMs).toISOString()));
        await options.onLeading(this);
      },
    });
    if (this.#run !== run) return;
    this.store = store;
    this.replica = replica;
    this.archivist = archivist;
    this.atLeast = new AtLeast(store.engine, timer);
  }

  /** From now on no call to the disk returns. */
  hangDisk(): void {
    this.#held ??= [];
  }

  #watchDisk(): void {
    const own = this.disk.beforeCall;
    this.disk.beforeCall = (call) => {
      const waiting = this.#held ?? this.#frozen;
      return waiting === null ? own?.(call) : new Promise((resolve) => waiting.push(resolve));
    };
  }

  get isFrozen(): boolean {
    return this.#frozen !== null;
  }

  /** The process stands still: nothing that it waits for happens before it goes on. */
  freeze(): void {
    this.#frozen ??= [];
  }

  thaw(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = null;
    for (const run of waiting) this.#cluster.time.after(0, run);
  }

  #admit(run: () => void): void {
    if (this.#frozen === null) run();
    else this.#frozen.push(run);
  }

  #refuseNewer(bytes: Buffer): void {
    if (!this.isOld) return;
    const { kind, by } = decodeRecord(bytes);
    if (kind === 'frames' && this.#cluster.newerRuns.has(by.run))
      throw new NewerRecordError('the log holds a change of a newer version, which cannot be read here');
  }

  healDisk(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const go of held) go();
  }

  /** The archive for one process: what it had asked for never happens once it has died. */
  #archiveOf(run: string): FileArchive {
    const { archive, options } = this.#cluster;
    return archive.connect((call) => {
      if (this.#run !== run) return Number.POSITIVE_INFINITY;
      return this.link?.isCut === false ? options.archiveTakesMs(call) : 'lost';
    });
  }

  #ended(run: string, error: Error): void {
    if (this.#run !== run || !this.isRunning) return;
    this.stops.push(error);
    this.crash();
  }

  /** Ends the process at once: what was not synced is lost, and nothing that it waits for ever happens. */
  crash(): void {
    this.#run = '';
    this.isRunning = false;
    const dead = this.disk;
    this.disk = dead.crash();
    dead.beforeCall = NEVER;
    void this.link?.close();
    this.store = null;
    this.replica = null;
    this.archivist = null;
    this.atLeast = null;
    this.#held = null;
    this.#frozen = null;
  }

  restart(): void {
    this.crash();
    this.begin();
  }

  /** Stops the process as a signal does. */
  async close(): Promise<void> {
    const { replica, store } = this;
    assert(replica !== null && store !== null, `${this.name} runs`);
    let isClosed = false;
    void replica
      .close()
      .then(() => store.close())
      .then(() => {
        isClosed = true;
      });
    await this.#cluster.until(`${this.name} has stopped`, () => isClosed);
    this.crash();
  }

  /** `told` is called with the outcome, which also appears in what this returns. */
  submit(
    command: Command,
    more: Partial<Submission<unknown>> = {},
    told: (outcome: Outcome<unknown>) => void = () => undefined,
  ): Submitted {
    const submitted: Submitted = { outcome: null };
    const run = this.#run;
    const { store } = this;
    assert(store !== null, `${this.name} runs`);
    const submission = {
      command,
      actor: TESTER,
      respond: (_world: unknown, events: readonly { readonly type: string }[]) =>
        events.map(({ type }) => type),
      ...more,
      // A dead process responds to nobody.
      done: (outcome: Outcome<unknown>) => {
        if (this.#run !== run) return;
        submitted.outcome = outcome;
        told(outcome);
      },
    };
    this.#admit(() => void (this.#run === run && store.engine.submit(submission)));
    return submitted;
  }

  async execute(command: Command): Promise<Outcome<unknown>> {
    const submitted = this.submit(command);
    await this.#cluster.until(`${this.name} has responded`, () => submitted.outcome !== null);
    return submitted.outcome!;
  }
}
