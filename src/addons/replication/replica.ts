/**
 * A node of a cluster at work: it follows the log, takes over when nobody leads, and hands over when it stops.
 *
 * Guarantees
 * - What a follower applies is decided: it stands in the log. Nothing else reaches its state (invariant 4).
 * - It leads only from the record on that says so, after it has applied all before it and has it on its own disk.
 * - A leader that was deposed ends its process (invariant 6): its state may hold what never happened.
 * - It leads by an answer of the log, by its own disk and by its own loop, none of them older than CUT_OFF_MS. Without them it
 *   decides nothing and says so, and before long it follows; with undecided changes it ends, unless it hears the other nodes.
 *
 * Time decides only when a node tries to take over, never whether it may: the log's order does.
 */
import assert from 'node:assert/strict';
import { FencedError } from '../../persistence/journal/commit-log.ts';
import type { FrameBody } from '../../persistence/journal/frame-format.ts';
import type { PeerView, ReplicaView } from '../../persistence/journal/node-view.ts';
import {
  type Announcement,
  decodeAnnouncement,
  encodeAnnouncement,
  type Peer,
  Peers,
} from './announcement.ts';
import { Fitness, type Found } from './fitness.ts';
import { keptTail } from './kept-tail.ts';
import type { NodeHistory } from './node-history.ts';
import { encodeRecord, LogDamageError, NewerRecordError, type NodeIdentity } from './record-format.ts';
import { type DecidedFrame, RecordReader } from './record-reader.ts';
import { RETRY_PAUSE_MS, type ReplicatedCommitLog } from './replicated-commit-log.ts';
import { LogGoneError, type LogRecord, type ReplicatedLog } from './replicated-log.ts';
import { LeaderPatience, Role } from './role.ts';

/** How often a leader says that it is there, and how often everything that depends on time is looked at. */
export const TICK_MS = 250;

/** Followers say where they are once in so many ticks. */
const TICKS_PER_FOLLOWER_ANNOUNCEMENT = 4;

/** The log is asked once in so many ticks whether it is there: the nodes of a log that is gone hear nothing. */
const TICKS_PER_LOOK = 4;

/** How long a candidate waits for the log to say who won. */
const CANDIDACY_MS = 3_000;

/** A tail that brings nothing for so long although there is more is begun anew. */
const STALL_MS = 2_000;

/** A leader that nothing has confirmed for so long decides nothing: another node may lead, and it would not know. */
const CUT_OFF_MS = 2_500;

/** A change that log and disk have not decided for so long makes a leader ask the others to take over: they may do better. */
const UNDECIDED_MS = 3_000;

/**
 * A process that stood still for so long takes no announcement for news before it has worked for a while again: those that it finds
 * were sent meanwhile.
 */
const STANDSTILL_MS = 1_000;
const STANDSTILL_OVER_MS = 1_000;

/** After so long a leader gives up. */
const GIVE_UP_MS = 5_000;

/** Changes are applied for so long before other work has its turn. */
const SLICE_MS = 5;

/** Bounds of what may be applied before it is on the node's own disk. */
const UNSYNCED_BYTES_MAX = 8 * 1024 * 1024;
const UNSYNCED_FRAMES_MAX = 4_096;

/** The engine, as far as a replica needs it. */
export interface ReplicatedEngine {
  readonly lastId: number;
  readonly durableId: number;
  readonly journal: {
    readonly appendedChain: number;
    readonly pendingFrames: number;
    readonly pendingBytes: number;
    /** Milliseconds since the batch under way was handed to disk and log; 0 where none is. */
    readonly undecidedMs: number;
    /** Whether there is room for changes. */
    readonly writable: boolean;
    flush(): Promise<void>;
  };
  follow(body: FrameBody): void;
  /** Tells all who wait that nobody knows what becomes of their changes; no command may be decided here. */
  giveUp(): void;
  giveUpForGood(): void;
}

export interface ReplicaClock {
  /** Milliseconds, monotonic. */
  monotonic(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Calls `run` later, once; returns what cancels it. */
  timer(delayMs: number, run: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
  yieldToEventLoop(): Promise<void>;
}

export interface ReplicaLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface ReplicaOptions {
  readonly log: ReplicatedLog;
  readonly history: NodeHistory;
  readonly identity: NodeIdentity;
  readonly version: string;
  /** The newest formats that it reads and writes. */
  readonly formats: Announcement['reads'];
  /** Names this node to the leader (src/http/serving/leader-client.ts). */
  readonly hopKey: string;
  /** Never rejects, and takes a second at most. */
  reach(node: { readonly node: string; readonly address: string }): Promise<Found>;
  /** Position of the record to read first (alignment.ts). */
  readonly from: number;
  /** Position of the last record that the log held then: this node has caught up when it has read so far. */
  readonly last: number;
  readonly engine: ReplicatedEngine;
  readonly commitLog: ReplicatedCommitLog;
  readonly clock: ReplicaClock;
  readonly notes: ReplicaLog;
  /** Called when this node has begun to lead. It counts as leading to everybody else once that has returned. */
  onLeading(): Promise<void>;
  /** Must end the process. */
  stop(error: Error): void;
}

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #role = new Role();
  readonly #reader: RecordReader;
  readonly #peers = new Peers();
  readonly #patience: LeaderPatience;
  readonly #fitness: Fitness;
  #stopListening: (() => void) | null = null;
  #cancelTick: (() => void) | null = null;
  #ticks = 0;
  #tail: AbortController | null = null;
  #following: Promise<void> | null = null;
  #isApplying = false;
  #isClosed = false;
  /** The last position that the log is known to have. */
  #knownEnd = 0;
  #progressAtMs = 0;
  #currentAtMs = 0;
  #stoodAtMs = 0;
  #behindSinceMs: number | null = null;
  #tickedAtMs = 0;
  #stoodStillUntilMs = Number.NEGATIVE_INFINITY;
  #problem: string | null = null;
  /** Why the log did not answer when it was asked last; null where it did. */
  #trouble: string | null = null;
  #isLogGone = false;
  #isAsking = false;
  #isReaching = false;
  #told: readonly string[] = [];
  #hasLed = false;
  #served: (() => void)[] = [];

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#reader = new RecordReader(options.history, options.from);
    this.#patience = new LeaderPatience(options.clock);
    this.#fitness = new Fitness({
      ...{ run: options.identity.run, address: options.identity.address, clock: options.clock },
      formats: options.formats,
      reach: (node) => options.reach(node),
      others: () => this.#peers.list(this.#now()).filter(({ run }) => run !== options.identity.run),
    });
  }

  get view(): ReplicaView {
    const now = this.#now();
    return {
      node: this.#options.identity.node,
      role: this.#role.name,
      epoch: this.#epoch,
      leader: this.isLeading ? this.#options.identity : this.otherLeader,
      isLeading: this.isLeading,
      lagMs: this.#lagMs(now),
      lagRecords: Math.max(0, this.#knownEnd - this.#position),
      problem: this.#problem ?? (this.#isCutOff ? this.#cutOffText() : null),
      warnings: [...(this.#trouble === null ? [] : [this.#trouble]), ...this.#fitness.warnings],
      history: this.#options.history.id,
      version: this.#options.version,
      peers: this.#peers.list(now).map((peer) => this.#peerView(peer)),
      gone: this.#peers.gone(now).map((peer) => this.#peerView(peer)),
    };
  }

  /** Without its key, which only nodes may know. */
  #peerView(peer: Peer): PeerView {
    const { node, run, address, role, epoch, position, durableId, history, version, silentMs } = peer;
    return {
      ...{ node, run, address, role, epoch, position, durableId, history, version, silentMs },
      lagRecords: Math.max(0, this.#knownEnd - position),
      clockMs: this.#fitness.clockOf(run),
      isReached: !this.#fitness.unreached.includes(run),
    };
  }

  /** Whether a request that carries this key was handed on by a node that was heard of lately. */
  knowsHop(key: string): boolean {
    return key !== '' && this.#peers.list(this.#now()).some(({ hopKey }) => hopKey === key);
  }

  /** Whether commands may be decided here. */
  get isLeading(): boolean {
    return this.#role.name === 'leading' && this.#hasLed && !this.#isCutOff && !this.#fitness.isClockUnsure;
  }

  /** Whether this node was made the leader, and nothing recent says that it is. */
  get #isCutOff(): boolean {
    return this.#options.commitLog.leadership !== null && this.#unconfirmedMs > CUT_OFF_MS;
  }

  get #unconfirmedMs(): number {
    const { commitLog, engine } = this.#options;
    return Math.max(commitLog.unconfirmedMs, engine.journal.undecidedMs);
  }

  #lagMs(now: number): number {
    if (this.#options.commitLog.leadership === null) return now - this.#currentAtMs;
    return this.#isCutOff ? this.#unconfirmedMs : 0;
  }

  #cutOffText(): string {
    const what =
      this.#options.engine.journal.undecidedMs > CUT_OFF_MS
        ? 'a change waits for the replicated log or the disk of this node'
        : 'the replicated log does not answer';
    return `This node led, and ${what} for ${Math.round(this.#unconfirmedMs / 1_000)} s; it decides nothing.`;
  }

  /** The node that takes writes, as far as this one knows; null where that is this node, or nobody. */
  get otherLeader(): NodeIdentity | null {
    const { leader } = this.#reader;
    return leader === null || leader.run === this.#options.identity.run ? null : leader;
  }

  get #position(): number {
    return this.#options.commitLog.leadership?.position ?? this.#reader.position;
  }

  get #epoch(): number {
    return this.#options.commitLog.leadership?.epoch ?? this.#reader.epoch;
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  /** Begins to follow. */
  start(): void {
    const { log, last } = this.#options;
    this.#knownEnd = last;
    this.#stopListening = log.onAnnouncement((message) => this.#hear(message));
    this.#role.apply('ALIGNED');
    this.#progressAtMs = this.#now();
    this.#currentAtMs = this.#now();
    this.#tickedAtMs = this.#now();
    this.#patience.waitForLeader();
    this.#following = this.#follow();
    this.#scheduleTick();
  }

  /** Resolves when this node has something to show: it has caught up once, and there is a first event. */
  whenServing(): Promise<void> {
    if (this.#isServing) return Promise.resolve();
    return new Promise((resolve) => this.#served.push(resolve));
  }

  get #isServing(): boolean {
    const { engine } = this.#options;
    return engine.durableId > 0 && (this.isLeading || this.#role.name === 'following');
  }

  /** Lets another node lead; this one follows. Resolves at once where this node does not lead. */
  async handOver(): Promise<void> {
    if (!this.#role.apply('HAND_OVER')) return;
    const { engine, notes } = this.#options;
    await engine.journal.flush();
    this.#announce(true);
    this.#resign('HANDED_OVER');
    // Operators: nothing
    notes.info({ epoch: this.#epoch }, 'This node has handed over; it follows');
  }

  /** Follows from now on. Nothing may be undecided. */
  #resign(type: 'HANDED_OVER' | 'GAVE_UP'): void {
    const { engine, commitLog } = this.#options;
    const { leadership } = commitLog;
    assert(
      leadership !== null && engine.journal.pendingFrames === 0,
      'who resigns has led, and all is decided',
    );
    this.#currentAtMs = this.#now() - commitLog.unconfirmedMs;
    this.#hasLed = false;
    this.#reader.resume({ ...leadership, id: engine.lastId, chain: engine.journal.appendedChain });
    commitLog.resign();
    this.#role.apply(type);
    this.#knownEnd = Math.max(this.#knownEnd, leadership.position);
    this.#patience.waitForLeader();
    if (!this.#isClosed) this.#following = this.#follow();
  }

  /** Hands over if this node leads, and stops. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.handOver();
    this.#cancelTick?.();
    this.#stopListening?.();
    this.#tail?.abort();
    await this.#following;
    this.#options.commitLog.close();
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed && this.#problem === null && this.#role.name !== 'leading') {
      const tail = new AbortController();
      this.#tail = tail;
      try {
        for await (const record of keptTail(this.#options.log, this.#reader.position + 1, tail.signal)) {
          await this.#take(record);
          if (this.#isClosed || tail.signal.aborted || this.#role.name === 'leading') break;
        }
      } catch (error) {
        this.#judge(error);
      }
      if (this.#role.name !== 'leading' && !this.#isClosed && this.#problem === null) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.timer(RETRY_PAUSE_MS, resolve));
  }

  /** Stops following at a record of a newer version, while reads go on; damage and fencing stop the process; other errors are retried. */
  #judge(error: unknown): void {
    const { notes, stop } = this.#options;
    if (error instanceof NewerRecordError) {
      this.#problem = error.message;
      // Operators: upgrade this node
      notes.warn({ err: error }, `This node follows no further: ${error.message}. Upgrade it.`);
    } else if (error instanceof LogDamageError || error instanceof FencedError) {
      this.#problem = error.message;
      stop(new Error(`This node cannot go on: ${error.message}`, { cause: error }));
    } else if (!(error instanceof LogGoneError)) {
      // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
      notes.warn({ err: error }, 'The replicated log could not be followed; trying again');
    }
  }

  async #take(record: LogRecord): Promise<void> {
    this.#isApplying = true;
    try {
      const decided = this.#reader.read(record);
      this.#knownEnd = Math.max(this.#knownEnd, record.position);
      if (decided.kind === 'batch') await this.#apply(decided.frames);
      if (decided.kind === 'leader') await this.#led(decided.leader);
      this.#progressAtMs = this.#now();
      this.#noteProgress();
    } finally {
      this.#isApplying = false;
    }
  }

  async #apply(frames: readonly DecidedFrame[]): Promise<void> {
    const { engine, commitLog, clock } = this.#options;
    commitLog.decided(frames.at(-1)?.lastId ?? 0);
    let sliceEndMs = this.#now() + SLICE_MS;
    for (const { body, lastId, previousChain } of frames) {
      if (lastId <= engine.lastId) continue;
      if (engine.journal.appendedChain !== previousChain)
        throw new LogDamageError(`event ${engine.lastId} has another checksum here than in the log`);
      engine.follow(body);
      const { pendingBytes, pendingFrames } = engine.journal;
      if (pendingBytes > UNSYNCED_BYTES_MAX || pendingFrames > UNSYNCED_FRAMES_MAX)
        await engine.journal.flush();
      if (this.#now() < sliceEndMs) continue;
      await clock.yieldToEventLoop();
      sliceEndMs = this.#now() + SLICE_MS;
    }
  }

  /** A take-over record: of this start of this node, or of another one. */
  async #led(leader: NodeIdentity | null): Promise<void> {
    const { identity, engine, commitLog, notes, onLeading } = this.#options;
    this.#patience.waitForLeader();
    if (leader === null) return this.#patience.waitForOthers();
    if (leader.run !== identity.run) {
      this.#role.apply('LOST');
      // Operators: nothing
      notes.info({ leader: leader.node, epoch: this.#reader.epoch }, `${leader.node} leads now`);
      return;
    }
    // Not where there is more behind it: then another node has taken over since.
    if (this.#knownEnd > this.#reader.position || !this.#role.apply('WON')) return;
    await engine.journal.flush();
    commitLog.lead({ epoch: this.#reader.epoch, position: this.#reader.position });
    this.#announce();
    await onLeading();
    this.#hasLed = true;
    // Operators: nothing
    notes.info({ epoch: this.#epoch }, 'This node leads now');
  }

  #noteProgress(): void {
    if (this.#position >= this.#knownEnd) this.#role.apply('CAUGHT_UP');
    this.#tellServing();
  }

  #tellServing(): void {
    if (this.#served.length === 0 || !this.#isServing) return;
    const served = this.#served;
    this.#served = [];
    for (const resolve of served) resolve();
  }

  #hear(message: Buffer): void {
    const heard = decodeAnnouncement(message);
    if (heard === null) return;
    this.#peers.note(heard, this.#now());
    if (heard.run !== this.#options.identity.run) this.#fitness.hear(heard);
    if (heard.run === this.#options.identity.run || !this.#options.history.mayBe(heard.history)) return;
    const isLeader = heard.role === 'leading' || heard.handsOver;
    if (!isLeader || heard.epoch < this.#epoch) return;
    if (heard.epoch > this.#epoch && this.#role.apply('DEPOSED')) {
      this.#options.stop(new FencedError(`${heard.node} took over`));
      return;
    }
    this.#knownEnd = Math.max(this.#knownEnd, heard.position);
    if (this.#position >= heard.position && !this.#mayHearOldNews) this.#currentAtMs = this.#now();
    if (!heard.handsOver) return this.#patience.waitForLeader();
    this.#patience.end();
    this.#standIfDue();
  }

  /** Whether what is heard now may have waited for this process. */
  get #mayHearOldNews(): boolean {
    const now = this.#now();
    return (
      now - this.#tickedAtMs > TICK_MS + STANDSTILL_MS || now - this.#stoodStillUntilMs < STANDSTILL_OVER_MS
    );
  }

  #scheduleTick(): void {
    this.#cancelTick = this.#options.clock.timer(TICK_MS, () => {
      if (this.#isClosed) return;
      this.#tick();
      this.#scheduleTick();
    });
  }

  #tick(): void {
    this.#ticks += 1;
    const now = this.#now();
    if (now - this.#tickedAtMs > TICK_MS + STANDSTILL_MS) this.#stoodStillUntilMs = now;
    this.#tickedAtMs = now;
    this.#fitness.tick();
    this.#tellWarnings();
    if (this.isLeading || this.#ticks % TICKS_PER_FOLLOWER_ANNOUNCEMENT === 0) this.#announce();
    if (this.#ticks % TICKS_PER_LOOK === 0) void this.#lookAtLog();
    if (this.#options.commitLog.leadership !== null) this.#lookAtLeadership();
    if (this.#role.name === 'candidate' && now - this.#stoodAtMs > CANDIDACY_MS) this.#role.apply('LOST');
    this.#noteProgress();
    this.#noteLag(now);
    this.#reachLeader();
    this.#standIfDue();
  }

  /** Logs what is new to look at. */
  #tellWarnings(): void {
    const { warnings } = this.#fitness;
    for (const warning of warnings) {
      if (this.#told.includes(warning)) continue;
      // Operators, of "The clock of this node is … the median of the nodes; …": set the clock, by NTP
      // Operators, of "The clock of … is … this one's.": set the clocks, by NTP
      // Operators, of "No other node reaches this one at …; …": set REPLICATION_ADDRESS of this node
      // Operators, of "Nothing responds for … at …": look at REPLICATION_ADDRESS of that node, and at the network
      // Operators, of "… of version … cannot read what this version writes; …": upgrade that node
      this.#options.notes.warn({}, warning);
    }
    this.#told = warnings;
  }

  /** Learns whether the log is there at all. */
  async #lookAtLog(): Promise<void> {
    const { log, notes } = this.#options;
    if (this.#isAsking || this.#isClosed) return;
    this.#isAsking = true;
    try {
      await log.extent();
      this.#trouble = null;
      this.#isLogGone = false;
    } catch (error) {
      if (error instanceof FencedError) return this.#judge(error);
      this.#isLogGone = error instanceof LogGoneError;
      const trouble = troubleText(error);
      // Operators, of "The NATS servers have no stream …": what it says: [the log is lost](docs/cluster.md#fail-over)
      // Operators, of "The replicated log does not answer (…).": look at the NATS servers, if it stays so
      if (trouble !== this.#trouble) notes.warn({ err: error }, trouble);
      this.#trouble = trouble;
    } finally {
      this.#isAsking = false;
    }
  }

  #lookAtLeadership(): void {
    const { commitLog, engine, notes } = this.#options;
    if (commitLog.unconfirmedMs >= TICK_MS) void this.#askWhetherItLeads();
    if (!this.#isCutOff) {
      // Operators: nothing
      if (this.#role.apply('CONFIRMED')) notes.info({ epoch: this.#epoch }, 'This node leads again');
      // Another node may have room for changes, or a better clock.
      const isUnfit = !engine.journal.writable || this.#fitness.shouldHandOver;
      if (this.isLeading && isUnfit && this.#hasHeir) void this.handOver().catch(() => undefined);
      return;
    }
    // Operators, of "This node led, and … for … s; it decides nothing.": see [fail-over](docs/cluster.md#fail-over)
    if (this.#role.apply('CUT_OFF')) notes.warn({ epoch: this.#epoch }, this.#cutOffText());
    if (engine.journal.undecidedMs > UNDECIDED_MS) this.#announce(true);
    if (this.#unconfirmedMs > GIVE_UP_MS) this.#giveUp();
  }

  /** Whether another node is there that has all that this one has. */
  get #hasHeir(): boolean {
    const { identity } = this.#options;
    return this.#peers
      .list(this.#now())
      .some(
        ({ run, role, position, standsLast }) =>
          run !== identity.run && role === 'following' && position >= this.#position && !standsLast,
      );
  }

  /** Whether messages of other nodes still come, so that a take-over would be heard of. */
  get #hearsOthers(): boolean {
    const { identity } = this.#options;
    return this.#peers
      .list(this.#now())
      .some(({ run, silentMs }) => run !== identity.run && silentMs <= CUT_OFF_MS);
  }

  async #askWhetherItLeads(): Promise<void> {
    const { commitLog, stop } = this.#options;
    try {
      if (await commitLog.askWhetherItLeads()) return;
      if (this.#role.apply('DEPOSED')) stop(new FencedError('another node took over'));
    } catch (error) {
      this.#judge(error);
    }
  }

  #giveUp(): void {
    const { engine, notes, stop } = this.#options;
    const text = this.#cutOffText();
    if (engine.journal.pendingFrames > 0) {
      engine.giveUp();
      // The others reach no more of the log than this node does: it shows what is decided, and goes on asking what became of the rest.
      if (this.#hearsOthers) return;
      if (this.#role.apply('DEPOSED')) stop(new FencedError(text));
      return;
    }
    this.#resign('GAVE_UP');
    // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
    notes.warn({ epoch: this.#epoch }, 'This node has given up leading; it follows');
  }

  #noteLag(now: number): void {
    const isBehind = this.#reader.position < this.#knownEnd && this.#options.commitLog.leadership === null;
    if (!isBehind) this.#behindSinceMs = null;
    else this.#behindSinceMs ??= now;
    if (this.#behindSinceMs === null || now - this.#behindSinceMs < STALL_MS) return;
    this.#role.apply('FELL_BEHIND');
    if (now - this.#progressAtMs < STALL_MS || this.#isApplying) return;
    this.#progressAtMs = now;
    this.#tail?.abort();
  }

  /**
   * A process that has died announces nothing, and its machine says so; one that stands still, or is cut off, may go on, and gets
   * more time, because to depose it costs a restart.
   */
  #reachLeader(): void {
    const leader = this.otherLeader;
    if (leader === null || this.#isReaching || !this.#patience.isInDoubt) return;
    this.#isReaching = true;
    void this.#options.reach(leader).then((found) => {
      this.#isReaching = false;
      const isOver = found === 'refused' || found === 'follows';
      if (!isOver || this.otherLeader?.run !== leader.run || !this.#patience.isInDoubt) return;
      this.#patience.end();
      this.#standIfDue();
    });
  }

  #standIfDue(): void {
    if (
      !this.#patience.isOverBy(this.#fitness.handicapMs) ||
      this.#isApplying ||
      this.#isClosed ||
      this.#problem !== null
    )
      return;
    if (this.#isLogGone) return;
    const { journal } = this.#options.engine;
    if (this.#position < this.#knownEnd || !journal.writable || journal.undecidedMs > CUT_OFF_MS) return;
    if (!this.#role.apply('LEADER_SILENT')) return;
    this.#stoodAtMs = this.#now();
    void this.#stand();
  }

  /** The tail tells who won, this node or another one: also when the outcome is not known. */
  async #stand(): Promise<void> {
    const { log, history, identity: by, notes } = this.#options;
    const { id: previousId, chain: previousChain } = this.#reader.place ?? { id: 0, chain: 0 };
    const epoch = this.#reader.epoch + 1;
    // Operators: nothing
    notes.info({ epoch }, 'Nobody leads; this node tries to take over');
    const { cluster, idToWrite } = history;
    const record = encodeRecord({
      ...{ kind: 'take-over', cluster, history: idToWrite, epoch, by, previousId, previousChain },
    });
    const outcome = await log.append(this.#reader.position, record);
    if (outcome.kind === 'conflict' && this.#role.apply('LOST')) this.#patience.waitForLeader();
    // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
    if (outcome.kind === 'unknown') notes.warn({ err: outcome.cause }, 'The replicated log does not answer');
  }

  #announce(handsOver = false): void {
    const { log, identity, engine, history } = this.#options;
    const announcement: Announcement = {
      ...identity,
      role: this.#role.name,
      epoch: this.#epoch,
      position: this.#position,
      durableId: engine.durableId,
      handsOver,
      history: history.id,
      version: this.#options.version,
      wallMs: this.#options.clock.wall(),
      reads: this.#options.formats,
      unreached: [...this.#fitness.unreached],
      standsLast: this.#fitness.handicapMs > 0,
      hopKey: this.#options.hopKey,
    };
    log.announce(encodeAnnouncement(announcement));
  }
}

function troubleText(error: unknown): string {
  const { message } = error as Error;
  if (error instanceof LogGoneError)
    return `${message} It was there when this node started. Stop all nodes, run "flagstaff cluster republish" on the one with the newest event, and start the others.`;
  return `The replicated log does not answer (${message}).`;
}
