/**
 * The follower of the log: it applies what the records decide, and knows how far this node is behind them.
 *
 * Guarantees
 * - What it applies is decided: it stands in the log. Nothing else reaches the state of a node that follows (invariant 4).
 * - A frame is applied only behind the one that the log has before it, by its checksum.
 * - A record of a newer version ends the following, while reads go on. Damage ends the process, and so does a log that has
 *   forgotten what was not read yet: the next start fetches it from the archive. After any other error it follows on.
 */
import { FencedError } from '../../persistence/journal/commit-log.ts';
import { isWhole, LogDamageError, NewerRecordError, type NodeIdentity } from './record-format.ts';
import { type DecidedFrame, type ReaderPlace, RecordReader } from './record-reader.ts';
import type { ReplicaOptions } from './replica-options.ts';
import { RETRY_PAUSE_MS } from './replicated-commit-log.ts';
import { LogGoneError, type LogRecord } from './replicated-log.ts';
import type { Role } from './role.ts';

/** A node that lacks what the log is known to have for so long has fallen behind. */
const BEHIND_MS_MAX = 2_000;

/** Records that are read at once, or kept as they were sent: a few MiB in most cases, 12 MiB of each at most. */
const READ_AHEAD = 16;

/** Changes are applied for so long before other work has its turn. */
const SLICE_MS = 5;

/** Bounds of what may be applied before it is on the node's own disk. */
const UNSYNCED_BYTES_MAX = 8 * 1024 * 1024;
const UNSYNCED_FRAMES_MAX = 4_096;

export interface FollowerEvents {
  /** Called at a take-over record, before anything behind it is read. */
  onLeader(leader: NodeIdentity | null): Promise<void>;
  onProgress(): void;
}

export class Follower {
  readonly #options: ReplicaOptions;
  readonly #role: Role;
  readonly #events: FollowerEvents;
  readonly #reader: RecordReader;
  /** Records behind the last one, as the node that appended them sent them. */
  readonly #sent = new Map<number, Buffer>();
  /** Ends the wait for more records. */
  #wake: () => void = () => undefined;
  #following: Promise<void> | null = null;
  /** Times that it has begun to follow: only the last one goes on. */
  #follows = 0;
  #isApplying = false;
  #isClosed = false;
  /** The last position that the log is known to have. */
  #knownEnd: number;
  #currentAtMs = 0;
  /** An end of the log, and the moment of the question, that this node has not read up to yet. */
  #awaited: { readonly last: number; readonly askedAtMs: number } | null = null;
  #behindSinceMs: number | null = null;
  #problem: string | null = null;

  constructor(options: ReplicaOptions, role: Role, events: FollowerEvents) {
    this.#options = options;
    this.#role = role;
    this.#events = events;
    this.#reader = new RecordReader(options.history, options.from);
    this.#knownEnd = options.last;
  }

  /** The last record that this node has read, or written while it leads. */
  get position(): number {
    return this.#options.commitLog.leadership?.position ?? this.#reader.position;
  }

  get epoch(): number {
    return this.#options.commitLog.leadership?.epoch ?? this.#reader.epoch;
  }

  /** The last event that was read, and its frame's checksum. */
  get place(): { readonly id: number; readonly chain: number } {
    return this.#reader.place ?? { id: 0, chain: 0 };
  }

  /** The node that takes writes, by the records; null where that is this node, or there is none. */
  get otherLeader(): NodeIdentity | null {
    const { leader } = this.#reader;
    return leader === null || leader.run === this.#options.identity.run ? null : leader;
  }

  /** Why it follows no further; null where it does. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether it goes on, and has nothing in hand. */
  get isIdle(): boolean {
    return !this.#isApplying && !this.#isClosed && this.#problem === null;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#knownEnd;
  }

  /** Records of the log that a node at this position does not have. */
  lagOf(position: number): number {
    return Math.max(0, this.#knownEnd - position);
  }

  /** Milliseconds since this node was last known to have all that the log had. */
  get staleMs(): number {
    return this.#now() - this.#currentAtMs;
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  start(): void {
    this.#currentAtMs = this.#options.askedAtMs;
    this.#following = this.#follow();
  }

  /** Follows after records that this node wrote itself, and of which it knew then that they were the newest. */
  resume(place: ReaderPlace, currentAtMs: number): void {
    this.#reader.resume(place);
    this.#sent.clear();
    this.#currentAtMs = currentAtMs;
    this.#awaited = null;
    this.#knownEnd = Math.max(this.#knownEnd, place.position);
    if (!this.#isClosed) this.#following = this.#follow();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#following;
  }

  /** Takes a record that another node has appended: it need not be read from the log, unless it came damaged. */
  onAppended({ position, bytes }: LogRecord): void {
    const ahead = position - this.position;
    if (ahead > 0 && ahead <= READ_AHEAD && isWhole(bytes)) this.#sent.set(position, bytes);
    this.onAppendedAt(position);
  }

  /** The log has a record at this position, by the word of the node that appended it. */
  onAppendedAt(position: number): void {
    if (!(position > this.#knownEnd)) return;
    this.#knownEnd = position;
    this.#wake();
  }

  /** The log, asked then, ended at this position. */
  hearEnd(last: number, askedAtMs: number): void {
    this.#noteCurrent();
    this.#awaited ??= { last, askedAtMs };
    this.#noteCurrent();
    this.onAppendedAt(last);
  }

  #noteCurrent(): void {
    const awaited = this.#awaited;
    if (awaited === null || this.position < awaited.last) return;
    this.#currentAtMs = Math.max(this.#currentAtMs, awaited.askedAtMs);
    this.#awaited = null;
  }

  async #follow(): Promise<void> {
    this.#follows += 1;
    const own = this.#follows;
    const goesOn = (): boolean =>
      !this.#isClosed && this.#problem === null && this.#role.name !== 'leading' && this.#follows === own;
    while (goesOn()) {
      try {
        if (this.#reader.position < this.#knownEnd) await this.#readOn(goesOn);
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      } catch (error) {
        this.judge(error);
        if (goesOn()) await this.#pause();
      }
    }
  }

  /** Takes the next records, by their positions. The server that a node reads from may change with each of them. */
  async #readOn(goesOn: () => boolean): Promise<void> {
    const { log } = this.#options;
    const first = this.#reader.position + 1;
    const count = Math.min(READ_AHEAD, this.#knownEnd - first + 1);
    const reads = Array.from(
      { length: count },
      async (_, at) => this.#sent.get(first + at) ?? log.read(first + at),
    );
    // A read behind the first that fails is made again.
    for (const read of reads) read.catch(() => undefined);
    for (const [at, read] of reads.entries()) {
      const position = first + at;
      const bytes = await read;
      this.#sent.delete(position);
      if (bytes === null) return this.#waitFor(position);
      if (!goesOn()) return;
      await this.#take({ position, bytes });
      if (!goesOn()) return;
    }
  }

  /** The server that was asked may lag behind the log, or the log has forgotten the record. */
  async #waitFor(position: number): Promise<void> {
    const { first } = await this.#options.log.extent();
    if (first > position)
      throw new FencedError(
        `the log begins with position ${first}, and this node has not read position ${position}`,
      );
    await this.#pause();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.timer(RETRY_PAUSE_MS, resolve));
  }

  /** Decides what an error of the log ends: the following, the process or nothing. */
  judge(error: unknown): void {
    const { notes, stop } = this.#options;
    if (error instanceof NewerRecordError) {
      this.#problem = error.message;
      // Operators: what it says
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
      if (decided.kind === 'leader') await this.#events.onLeader(decided.leader);
      this.#noteCurrent();
      this.#events.onProgress();
    } finally {
      this.#isApplying = false;
    }
  }

  async #apply(frames: readonly DecidedFrame[]): Promise<void> {
    const { engine, commitLog, clock } = this.#options;
    commitLog.committed(frames.at(-1)?.lastId ?? 0);
    let sliceEndMs = this.#now() + SLICE_MS;
    let edit = {};
    for (const { body, lastId, previousChain } of frames) {
      if (lastId <= engine.lastId) continue;
      if (engine.journal.appendedChain !== previousChain)
        throw new LogDamageError(`event ${engine.lastId} has another checksum here than in the log`);
      engine.follow(body, edit);
      const { pendingBytes, pendingFrames } = engine.journal;
      if (pendingBytes > UNSYNCED_BYTES_MAX || pendingFrames > UNSYNCED_FRAMES_MAX)
        await engine.journal.flush();
      else if (this.#now() < sliceEndMs) continue;
      else await clock.yieldToEventLoop();
      edit = {};
      sliceEndMs = this.#now() + SLICE_MS;
    }
    engine.journal.commit();
  }

  /** Says where this node falls behind. */
  tick(): void {
    const isBehind = this.#reader.position < this.#knownEnd && this.#options.commitLog.leadership === null;
    if (!isBehind) this.#behindSinceMs = null;
    else this.#behindSinceMs ??= this.#now();
    if (this.#behindSinceMs !== null && this.#now() - this.#behindSinceMs >= BEHIND_MS_MAX)
      this.#role.apply('FELL_BEHIND');
  }
}
