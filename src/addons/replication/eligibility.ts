/**
 * The reasons against this node as the leader, as far as the other nodes show them: a clock that differs from theirs, an address at
 * which none of them reaches it, a version whose changes one of them cannot read. With a wrong clock a node does not stand; with a
 * wrong address or a newer version it lets the others go first. It says why. Who leads is decided by the order of the log alone.
 */
import { OWN_STAMP } from '../../persistence/journal/frame-format.ts';
import type { Announcement } from './announcement.ts';
import { RECORD_VERSION } from './record-format.ts';

/** Beyond it, times of events and of keyed retries would be wrong for people. Clocks that NTP sets differ by milliseconds. */
const CLOCK_MS_MAX = 1_000;

/** An announcement that was late makes its sender's clock look slow, so the fastest look of these many counts. */
const LOOKS_KEPT = 8;

/** A leader whose clock has jumped decides nothing for so long: by then the others have announced theirs. */
const JUMP_PAUSE_MS = 1_500;

/** Another node gets so much time to lead before one with a wrong address or a newer version stands. */
const OTHERS_FIRST_MS = 10_000;

/** Between two questions to a node whether it is reached: where it was the last time, and where it was not. */
const REACHED_PAUSE_MS = 5_000;
const UNREACHED_PAUSE_MS = 1_000;

/** Attempts in a row that fail before a node is called unreached. */
const FAILURES_MIN = 2;

/** The formats that this version writes, and that a node has to read which follows it. */
export const OWN_FORMATS = {
  record: RECORD_VERSION,
  content: OWN_STAMP.contentVersion,
  rules: OWN_STAMP.rules,
} as const;

const FORMATS = ['record', 'content', 'rules'] as const;

/**
 * The answer at a node's address: the node's, whose role is one of a leader or another one; the refusal of a machine on which no
 * process of the node listens; or nothing of use in time.
 */
export type Found = 'leads' | 'follows' | 'refused' | 'nothing';

export interface EligibilityOptions {
  readonly run: string;
  readonly address: string;
  readonly formats: Announcement['reads'];
  readonly clock: {
    monotonic(): number;
    /** Milliseconds since 1970. */
    wall(): number;
  };
  /** Never rejects, and takes a second at most. */
  reach(node: Pick<Announcement, 'node' | 'address'>): Promise<Found>;
  others(): readonly Announcement[];
}

interface Reach {
  failures: number;
  askedAtMs: number;
  isAsking: boolean;
}

export class Eligibility {
  readonly #options: EligibilityOptions;
  /** Milliseconds by which the clocks of other nodes are ahead of this one's, the newest last; by their starts. */
  readonly #clocks = new Map<string, number[]>();
  readonly #reach = new Map<string, Reach>();
  #wallAtStart: number;
  #jumpedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: EligibilityOptions) {
    this.#options = options;
    this.#wallAtStart = this.#wallLessElapsed();
  }

  onAnnouncement({ run, wallMs }: Announcement): void {
    if (wallMs === null) return;
    const looks = this.#clocks.get(run) ?? [];
    this.#clocks.set(run, [...looks, wallMs - this.#options.clock.wall()].slice(-LOOKS_KEPT));
  }

  /** Milliseconds by which the clock of a node is ahead of this one's; null where it has announced none. */
  clockOf(run: string): number | null {
    const looks = this.#clocks.get(run);
    return looks === undefined ? null : Math.max(...looks);
  }

  tick(): void {
    const now = this.#options.clock.monotonic();
    const others = this.#options.others();
    const runs = new Set(others.map(({ run }) => run));
    for (const known of [this.#clocks, this.#reach])
      for (const run of known.keys()) if (!runs.has(run)) known.delete(run);
    for (const other of others) this.#ask(other, now);
    if (!this.#hasJumped) return;
    this.#jumpedAtMs = now;
    this.#wallAtStart = this.#wallLessElapsed();
    this.#clocks.clear();
  }

  /** Whether the clock has just jumped, and nothing tells yet whether it is right now. */
  get isClockUnsure(): boolean {
    return this.#hasJumped || this.#options.clock.monotonic() - this.#jumpedAtMs < JUMP_PAUSE_MS;
  }

  get #hasJumped(): boolean {
    return Math.abs(this.#wallLessElapsed() - this.#wallAtStart) > CLOCK_MS_MAX;
  }

  #wallLessElapsed(): number {
    const { clock } = this.#options;
    return clock.wall() - clock.monotonic();
  }

  /** Starts of nodes at whose addresses nothing responds to this one. */
  get unreached(): readonly string[] {
    return [...this.#reach].filter(([, { failures }]) => failures >= FAILURES_MIN).map(([run]) => run);
  }

  #ask({ run, node, address }: Announcement, now: number): void {
    const reach = this.#reach.get(run) ?? {
      failures: 0,
      askedAtMs: Number.NEGATIVE_INFINITY,
      isAsking: false,
    };
    this.#reach.set(run, reach);
    const pause = reach.failures > 0 ? UNREACHED_PAUSE_MS : REACHED_PAUSE_MS;
    if (reach.isAsking || now - reach.askedAtMs < pause) return;
    reach.isAsking = true;
    reach.askedAtMs = now;
    void this.#options.reach({ node, address }).then((found) => {
      reach.isAsking = false;
      reach.failures = found === 'leads' || found === 'follows' ? 0 : reach.failures + 1;
    });
  }

  /** Milliseconds for which this node lets others lead before it stands. */
  get handicapMs(): number {
    if (this.#clockProblem !== null || this.isClockUnsure) return Number.POSITIVE_INFINITY;
    return this.isUnreached || this.#readsLess.length > 0 ? OTHERS_FIRST_MS : 0;
  }

  get shouldHandOver(): boolean {
    return this.#clockProblem !== null || this.isUnreached;
  }

  get isUnreached(): boolean {
    const others = this.#options.others();
    return others.length > 0 && others.every(({ unreached }) => unreached.includes(this.#options.run));
  }

  /** Other nodes that cannot read what this version writes. One that hands over is about to be upgraded. */
  get #readsLess(): readonly Announcement[] {
    const { formats, others } = this.#options;
    return others().filter(
      ({ reads, handsOver }) => !handsOver && FORMATS.some((format) => reads[format] < formats[format]),
    );
  }

  /** Milliseconds by which this node's clock is ahead of the median of all nodes; null while fewer than three are known. */
  get #aheadMs(): number | null {
    const offsets = [0, ...[...this.#clocks.keys()].map((run) => this.clockOf(run) ?? 0)].sort(
      (a, b) => a - b,
    );
    if (offsets.length < 3) return null;
    // Of an even number the nearer one counts, so that some node is always right.
    const middles = [Math.floor((offsets.length - 1) / 2), Math.floor(offsets.length / 2)].map(
      (at) => -offsets[at]!,
    );
    return middles.sort((a, b) => Math.abs(a) - Math.abs(b))[0]!;
  }

  get #clockProblem(): string | null {
    const ahead = this.#aheadMs;
    if (ahead === null || Math.abs(ahead) <= CLOCK_MS_MAX) return null;
    return `The clock of this node is ${secondsText(ahead)} the median of the nodes; set it. Until then it does not lead.`;
  }

  /** Each in a sentence. */
  get warnings(): readonly string[] {
    const { address } = this.#options;
    const others = this.#options.others();
    const warnings: string[] = [];
    if (this.#clockProblem !== null) warnings.push(this.#clockProblem);
    if (this.isUnreached)
      warnings.push(
        `No other node reaches this one at ${address}; set REPLICATION_ADDRESS to where they do.`,
      );
    for (const { run, node, address: at } of others) {
      if (this.unreached.includes(run)) warnings.push(`Nothing responds for ${node} at ${at}.`);
      const ahead = this.clockOf(run) ?? 0;
      if (this.#clockProblem === null && Math.abs(ahead) > CLOCK_MS_MAX)
        warnings.push(`The clock of ${node} is ${secondsText(ahead)} this one's.`);
    }
    for (const { node, version } of this.#readsLess)
      warnings.push(`${node} of version ${version} cannot read what this version writes; upgrade it.`);
    return warnings;
  }
}

const secondsText = (aheadMs: number): string =>
  `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
