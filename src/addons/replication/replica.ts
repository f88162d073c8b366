/**
 * A node of a cluster at work: it follows the log (follower.ts), takes over when there is no leader (candidacy.ts), leads
 * (leadership.ts), and hands over when it stops.
 *
 * Guarantees
 * - It leads only from the record on that says so, after it has applied all before it and has it on its own disk.
 * - A leader that was deposed ends its process (invariant 6): its state may hold what never happened.
 */
import { FencedError } from '../../persistence/journal/commit-log.ts';
import {
  type Announcement,
  decodeAnnouncement,
  encodeAnnouncement,
  type Peer,
  Peers,
} from './announcement.ts';
import { Candidacy, LeaderHoldOff } from './candidacy.ts';
import { Eligibility } from './eligibility.ts';
import { Follower } from './follower.ts';
import { Leadership } from './leadership.ts';
import { LogWatch } from './log-watch.ts';
import type { PeerView, ReplicaView } from './node-view.ts';
import type { NodeIdentity } from './record-format.ts';
import { type ReplicaOptions, TICK_MS } from './replica-options.ts';
import { Role } from './role.ts';

/** Followers say where they are once in so many ticks. */
const TICKS_PER_FOLLOWER_ANNOUNCEMENT = 4;

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #role = new Role();
  readonly #peers = new Peers();
  readonly #holdOff: LeaderHoldOff;
  readonly #eligibility: Eligibility;
  readonly #follower: Follower;
  readonly #leadership: Leadership;
  readonly #logWatch: LogWatch;
  readonly #candidacy: Candidacy;
  #stopListening: readonly (() => void)[] = [];
  #cancelTick: (() => void) | null = null;
  #ticks = 0;
  #isClosed = false;
  #told: readonly string[] = [];
  #served: (() => void)[] = [];

  constructor(options: ReplicaOptions) {
    const { identity, formats, clock, log, notes, askedAtMs } = options;
    const others = (): readonly Peer[] =>
      this.#peers.list(this.#now()).filter(({ run }) => run !== identity.run);
    this.#options = options;
    this.#holdOff = new LeaderHoldOff(clock);
    this.#eligibility = new Eligibility({
      ...{ run: identity.run, address: identity.address, clock, formats, others },
      reach: (node) => options.reach(node),
    });
    this.#follower = new Follower(options, this.#role, {
      onLeader: (leader) => this.#follow(leader),
      onProgress: () => this.#noteProgress(),
    });
    this.#logWatch = new LogWatch({
      ...{ log, clock, notes, askedAtMs },
      position: () => this.#follower.position,
      onQuestion: (askedAtMs) => this.#question(askedAtMs),
      onFault: (error) => this.#follower.judge(error),
    });
    const parts = {
      ...{ options, role: this.#role, follower: this.#follower, logWatch: this.#logWatch, others },
      ...{ eligibility: this.#eligibility, holdOff: this.#holdOff },
      announce: (handsOver: boolean) => this.#announce(handsOver),
    };
    this.#candidacy = new Candidacy(parts);
    this.#leadership = new Leadership(parts);
  }

  get view(): ReplicaView {
    const now = this.#now();
    const { identity, history, version } = this.#options;
    const leads = this.#leadership;
    const { position, epoch, problem } = this.#follower;
    const { trouble } = this.#logWatch;
    return {
      node: identity.node,
      role: this.#role.name,
      epoch,
      leader: this.isLeading ? identity : this.otherLeader,
      isLeading: this.isLeading,
      lagMs: this.lagMs,
      lagRecords: this.#follower.lagOf(position),
      problem: problem ?? (leads.isCutOff ? leads.cutOffText : null),
      warnings: [
        ...(trouble === null ? [] : [trouble]),
        ...this.#options.warnings,
        ...this.#eligibility.warnings,
      ],
      history: history.id,
      version,
      peers: this.#peers.list(now).map((peer) => this.#peerView(peer)),
      gone: this.#peers.gone(now).map((peer) => this.#peerView(peer)),
    };
  }

  /** Milliseconds for which what this node shows may be old. */
  get lagMs(): number {
    const { leadership } = this.#options.commitLog;
    return leadership === null ? this.#follower.staleMs : this.#leadership.staleMs;
  }

  #peerView(peer: Peer): PeerView {
    const { handsOver, wallMs, reads, unreached, standsLast, hopKey, ...shown } = peer;
    return {
      ...shown,
      lagRecords: this.#follower.lagOf(peer.position),
      clockMs: this.#eligibility.clockOf(peer.run),
      isReached: !this.#eligibility.unreached.includes(peer.run),
    };
  }

  /** Whether a request that carries this key was forwarded by a recently seen node. */
  knowsHop(key: string): boolean {
    return key !== '' && this.#peers.list(this.#now()).some(({ hopKey }) => hopKey === key);
  }

  get isLeading(): boolean {
    return this.#leadership.mayDecide;
  }

  /** The node that takes writes, as far as this one knows; null where that is this node, or there is none. */
  get otherLeader(): NodeIdentity | null {
    return this.#follower.otherLeader;
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  /** Begins to follow. */
  start(): void {
    const { log } = this.#options;
    this.#stopListening = [
      log.onAnnouncement((message) => this.#onAnnouncement(message)),
      log.onAppended((record) => this.#follower.onAppended(record)),
    ];
    this.#role.apply('ALIGNED');
    this.#holdOff.waitForLeader();
    this.#follower.start();
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
  handOver(): Promise<void> {
    return this.#leadership.handOver();
  }

  /** Hands over if this node leads, and stops. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const isFollowedToEnd = this.#follower.close();
    await this.handOver();
    this.#cancelTick?.();
    for (const stop of this.#stopListening) stop();
    await isFollowedToEnd;
    this.#options.commitLog.close();
  }

  /** Follows the leader that a take-over record names: it may be this start of this node. */
  async #follow(leader: NodeIdentity | null): Promise<void> {
    const { identity, notes } = this.#options;
    this.#holdOff.waitForLeader();
    if (leader === null) return this.#holdOff.waitForOthers();
    if (leader.run !== identity.run) {
      this.#role.apply('LOST');
      // Operators: nothing
      notes.info({ leader: leader.node, epoch: this.#follower.epoch }, `${leader.node} leads now`);
      return;
    }
    // Not where there is more behind it: then another node has taken over since.
    if (this.#follower.isAtEnd && this.#role.apply('WON')) await this.#leadership.begin();
  }

  #noteProgress(): void {
    if (this.#follower.isAtEnd) this.#role.apply('CAUGHT_UP');
    if (this.#served.length === 0 || !this.#isServing) return;
    const served = this.#served;
    this.#served = [];
    for (const resolve of served) resolve();
  }

  #onAnnouncement(message: Buffer): void {
    const heard = decodeAnnouncement(message);
    if (heard === null) return;
    const { identity, history, stop } = this.#options;
    this.#peers.note(heard, this.#now());
    if (heard.run === identity.run) return;
    this.#eligibility.onAnnouncement(heard);
    const isLeader = heard.role === 'leading' || heard.handsOver;
    const { epoch } = this.#follower;
    if (!isLeader || heard.epoch < epoch || !history.mayBe(heard.history)) return;
    if (heard.epoch > epoch && this.#role.apply('DEPOSED'))
      return stop(new FencedError(`${heard.node} took over`));
    this.#follower.onAppendedAt(heard.position);
    if (heard.handsOver) this.#candidacy.standAtOnce();
    else this.#holdOff.waitForLeader();
  }

  /** Takes the answer to a question that is put to the log now. */
  #question(askedAtMs: number): (last: number) => void {
    const { leadership } = this.#options.commitLog;
    return leadership === null
      ? (last) => this.#follower.hearEnd(last, askedAtMs)
      : (last) => this.#leadership.hearEnd(last, leadership, askedAtMs);
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
    this.#eligibility.tick();
    this.#tellWarnings();
    if (this.isLeading || this.#ticks % TICKS_PER_FOLLOWER_ANNOUNCEMENT === 0) this.#announce(false);
    this.#logWatch.ask();
    if (this.#options.commitLog.leadership !== null) this.#leadership.tick();
    this.#candidacy.expire();
    this.#noteProgress();
    this.#follower.tick();
    this.#candidacy.reachLeader();
    this.#candidacy.standIfDue();
  }

  /** Logs what is new to look at. */
  #tellWarnings(): void {
    const { warnings } = this.#eligibility;
    for (const warning of warnings) {
      if (this.#told.includes(warning)) continue;
      // Operators, of "The clock of this node is … the median of the nodes; …": what it says
      // Operators, of "The clock of … is … this one's.": what it says
      // Operators, of "No other node reaches this one at …; …": what it says
      // Operators, of "Nothing responds for … at …": look at REPLICATION_ADDRESS of that node, and at the network
      // Operators, of "… of version … cannot read what this version writes; …": what it says
      this.#options.notes.warn({}, warning);
    }
    this.#told = warnings;
  }

  #announce(handsOver: boolean): void {
    const { log, identity, engine, history, version, formats, hopKey, clock } = this.#options;
    const { epoch, position } = this.#follower;
    const announcement: Announcement = {
      ...{ ...identity, version, handsOver, hopKey, epoch, position },
      role: this.#role.name,
      durableId: engine.durableId,
      history: history.id,
      wallMs: clock.wall(),
      reads: formats,
      unreached: [...this.#eligibility.unreached],
      standsLast: this.#eligibility.handicapMs > 0,
    };
    log.announce(encodeAnnouncement(announcement));
  }
}
