/**
 * The candidacy of a node: it checks on a silent leader, and stands where there is no leader.
 *
 * Time decides only when a node tries to take over, never whether it may: the log's order does.
 */
import type { Peer } from './announcement.ts';
import type { Eligibility } from './eligibility.ts';
import type { Follower } from './follower.ts';
import type { LogWatch } from './log-watch.ts';
import { encodeRecord } from './record-format.ts';
import { CUT_OFF_MS, type ReplicaClock, type ReplicaOptions } from './replica-options.ts';
import type { Role } from './role.ts';

/** How long a candidate waits for the log to say who won. */
const CANDIDACY_MS = 3_000;

/** A leader that has missed three announcements is called at its address: if its process is over, there is no need to wait. */
const DOUBT_MS = 750;

/** A leader that is silent for so long, and for up to the jitter more, is taken for gone: it may stand still, or be cut off. */
const SILENCE_MS = 3_000;
const SILENCE_JITTER_MS = 1_000;

/** A log that has not answered for so long would not take the record either: its servers may be choosing a leader. */
const ANSWER_MS_MAX = 1_000;

export interface ReplicaParts {
  readonly options: ReplicaOptions;
  readonly role: Role;
  readonly follower: Follower;
  readonly eligibility: Eligibility;
  readonly holdOff: LeaderHoldOff;
  readonly logWatch: LogWatch;
  others(): readonly Peer[];
  announce(handsOver: boolean): void;
}

export class Candidacy {
  readonly #parts: ReplicaParts;
  #stoodAtMs = 0;
  #isReaching = false;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** Takes a candidacy for lost of which the log has not said anything. */
  expire(): void {
    const { options, role } = this.#parts;
    if (role.name === 'candidate' && options.clock.monotonic() - this.#stoodAtMs > CANDIDACY_MS)
      role.apply('LOST');
  }

  /**
   * A process that has died announces nothing, and its machine says so; one that stands still, or is cut off, may go on, and gets
   * more time, because to depose it costs a restart.
   */
  reachLeader(): void {
    const { options, follower, holdOff } = this.#parts;
    const leader = follower.otherLeader;
    if (leader === null || this.#isReaching || !holdOff.isInDoubt) return;
    this.#isReaching = true;
    void options.reach(leader).then((found) => {
      this.#isReaching = false;
      const isOver = found === 'refused' || found === 'follows';
      if (isOver && follower.otherLeader?.run === leader.run && holdOff.isInDoubt) this.standAtOnce();
    });
  }

  /** Stands where it may: there is no leader any more. */
  standAtOnce(): void {
    this.#parts.holdOff.end();
    this.standIfDue();
  }

  standIfDue(): void {
    const { options, role, follower, eligibility, holdOff, logWatch } = this.#parts;
    if (!holdOff.isOverBy(eligibility.handicapMs) || !follower.isIdle || logWatch.silentMs > ANSWER_MS_MAX)
      return;
    const { journal } = options.engine;
    if (!follower.isAtEnd || !journal.writable || journal.uncommittedMs > CUT_OFF_MS) return;
    if (!role.apply('LEADER_SILENT')) return;
    this.#stoodAtMs = options.clock.monotonic();
    void this.#stand();
  }

  /** The log tells who won, this node or another one: also when the outcome is not known. */
  async #stand(): Promise<void> {
    const { options, role, follower, holdOff } = this.#parts;
    const { log, history, identity: by, notes } = options;
    const { id: previousId, chain: previousChain } = follower.place;
    const epoch = follower.epoch + 1;
    // Operators: nothing
    notes.info({ epoch }, 'There is no leader; this node tries to take over');
    const { cluster, idToWrite } = history;
    const record = encodeRecord({
      ...{ kind: 'take-over', cluster, history: idToWrite, epoch, by, previousId, previousChain },
    });
    const outcome = await log.append(follower.position, record);
    if (outcome.kind === 'conflict' && role.apply('LOST')) holdOff.waitForLeader();
    // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
    if (outcome.kind === 'unknown') notes.warn({ err: outcome.cause }, 'The replicated log does not answer');
  }
}

/**
 * How long a node waits for a leader before it stands itself: from the last word of one that leads, or may come to. The jitter keeps
 * nodes from standing at once.
 */
export class LeaderHoldOff {
  readonly #clock: Pick<ReplicaClock, 'monotonic' | 'random'>;
  #heardAtMs = 0;
  #patienceMs = 0;

  constructor(clock: Pick<ReplicaClock, 'monotonic' | 'random'>) {
    this.#clock = clock;
  }

  /** No node stands for leadership before the leader was silent for a while from now on. */
  waitForLeader(): void {
    this.#wait(SILENCE_MS, SILENCE_JITTER_MS);
  }

  /** For a log that was just begun: it never had a leader, so there is none to wait for. */
  waitForOthers(): void {
    this.#wait(0, SILENCE_JITTER_MS);
  }

  /** The leader has said that it hands over, or its process is over. */
  end(): void {
    this.#wait(0, 0);
  }

  #wait(ms: number, jitterMs: number): void {
    this.#heardAtMs = this.#clock.monotonic();
    this.#patienceMs = ms + jitterMs * this.#clock.random();
  }

  /** Whether a leader that works would have been heard of. */
  get isInDoubt(): boolean {
    return this.#clock.monotonic() - this.#heardAtMs > DOUBT_MS;
  }

  /** Whether nobody has led for long enough, and for so much longer. */
  isOverBy(ms: number): boolean {
    return this.#clock.monotonic() - this.#heardAtMs >= this.#patienceMs + ms;
  }
}
