/**
 * The leadership of a node: whether it may decide changes, what confirmed that last, and how it ends.
 *
 * It leads by an answer of the log, by its own disk and by its own loop, none of them older than CUT_OFF_MS. Without them it
 * decides nothing and says so, and before long it follows; with uncommitted changes it ends, unless it hears the other nodes.
 */
import assert from 'node:assert/strict';
import { FencedError } from '../../persistence/journal/commit-log.ts';
import type { ReplicaParts } from './candidacy.ts';
import { CUT_OFF_MS, type ReplicaOptions } from './replica-options.ts';
import type { Leadership as LogPlace } from './replicated-commit-log.ts';
import type { Role } from './role.ts';

/** A change that log and disk have not decided for so long makes a leader ask the others to take over: they may do better. */
const UNCOMMITTED_MS = 3_000;

/** After so long a leader gives up. */
const GIVE_UP_MS = 5_000;

export class Leadership {
  readonly #options: ReplicaOptions;
  readonly #parts: ReplicaParts;
  readonly #role: Role;
  #hasLed = false;

  constructor(parts: ReplicaParts) {
    this.#options = parts.options;
    this.#parts = parts;
    this.#role = parts.role;
  }

  get mayDecide(): boolean {
    const { eligibility } = this.#parts;
    return this.#role.name === 'leading' && this.#hasLed && !this.isCutOff && !eligibility.isClockUnsure;
  }

  /** Whether this node was made the leader, and nothing recent says that it is. */
  get isCutOff(): boolean {
    return this.#options.commitLog.leadership !== null && this.#unconfirmedMs > CUT_OFF_MS;
  }

  get #unconfirmedMs(): number {
    const { commitLog, engine } = this.#options;
    return Math.max(commitLog.unconfirmedMs, engine.journal.uncommittedMs);
  }

  /** Milliseconds for which what a leader shows may be old. */
  get staleMs(): number {
    return this.isCutOff ? this.#unconfirmedMs : 0;
  }

  get cutOffText(): string {
    const what =
      this.#options.engine.journal.uncommittedMs > CUT_OFF_MS
        ? 'a change waits for the replicated log or the disk of this node'
        : 'the replicated log does not answer';
    return `This node led, and ${what} for ${Math.round(this.#unconfirmedMs / 1_000)} s; it decides nothing.`;
  }

  /** Begins, behind the take-over record that was read last. */
  async begin(): Promise<void> {
    const { engine, commitLog, clock, notes, onLeading } = this.#options;
    const { follower, announce } = this.#parts;
    const { epoch, position } = follower;
    const readAtMs = clock.monotonic();
    // On a disk that hangs this takes long, and another node may take over meanwhile.
    await engine.journal.flush();
    commitLog.lead({ epoch, position }, readAtMs);
    announce(false);
    await onLeading();
    // It may have given up meanwhile.
    if (commitLog.leadership?.epoch !== epoch) return;
    this.#hasLed = true;
    // Operators: nothing
    notes.info({ epoch }, 'This node leads now');
  }

  /** Looks at what has changed since the last tick; for nodes that lead, or were made to. */
  tick(): void {
    const { engine, notes } = this.#options;
    const { follower, eligibility, announce } = this.#parts;
    const { epoch } = follower;
    if (!this.isCutOff) {
      // Operators: nothing
      if (this.#role.apply('CONFIRMED')) notes.info({ epoch }, 'This node leads again');
      // Another node may have room for changes, or a better clock.
      const isUnfit = !engine.journal.writable || eligibility.shouldHandOver;
      if (this.mayDecide && isUnfit && this.#hasSuccessor) void this.handOver().catch(() => undefined);
      return;
    }
    // Operators, of "This node led, and … for … s; it decides nothing.": see [fail-over](docs/cluster.md#fail-over)
    if (this.#role.apply('CUT_OFF')) notes.warn({ epoch }, this.cutOffText);
    if (engine.journal.uncommittedMs > UNCOMMITTED_MS) announce(true);
    if (this.#unconfirmedMs > GIVE_UP_MS) this.#giveUp();
  }

  /** Whether another node is there that has all that this one has. */
  get #hasSuccessor(): boolean {
    const { follower, others } = this.#parts;
    return others().some(
      ({ role, position, standsLast }) =>
        role === 'following' && position >= follower.position && !standsLast,
    );
  }

  /** Takes the end of the log, as it was when this node led from `asked` on. */
  hearEnd(last: number, asked: LogPlace, askedAtMs: number): void {
    const { commitLog, stop } = this.#options;
    if (commitLog.hearEnd(last, asked, askedAtMs)) return;
    if (this.#role.apply('DEPOSED')) stop(new FencedError('another node took over'));
  }

  #giveUp(): void {
    const { engine, notes, stop } = this.#options;
    const { follower, others } = this.#parts;
    const text = this.cutOffText;
    if (engine.journal.pendingFrames > 0) {
      engine.giveUp();
      // The others reach no more of the log than this node does: it shows what is decided, and goes on asking what became of the rest.
      if (others().some(({ silentMs }) => silentMs <= CUT_OFF_MS)) return;
      if (this.#role.apply('DEPOSED')) stop(new FencedError(text));
      return;
    }
    this.#resign('GAVE_UP');
    // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
    notes.warn({ epoch: follower.epoch }, 'This node has given up leading; it follows');
  }

  /** Lets another node lead; this one follows. Resolves at once where this node does not lead. */
  async handOver(): Promise<void> {
    if (!this.#role.apply('HAND_OVER')) return;
    const { engine, notes } = this.#options;
    await engine.journal.flush();
    this.#parts.announce(true);
    this.#resign('HANDED_OVER');
    // Operators: nothing
    notes.info({ epoch: this.#parts.follower.epoch }, 'This node has handed over; it follows');
  }

  /** Follows from now on. Nothing may be uncommitted. */
  #resign(type: 'HANDED_OVER' | 'GAVE_UP'): void {
    const { engine, commitLog, clock } = this.#options;
    const { leadership } = commitLog;
    assert(
      leadership !== null && engine.journal.pendingFrames === 0,
      'who resigns has led, and all is decided',
    );
    const place = { ...leadership, id: engine.lastId, chain: engine.journal.appendedChain };
    const confirmedAtMs = clock.monotonic() - commitLog.unconfirmedMs;
    this.#hasLed = false;
    commitLog.resign();
    this.#role.apply(type);
    this.#parts.holdOff.waitForLeader();
    this.#parts.follower.resume(place, confirmedAtMs);
  }
}
