/**
 * Reports of applications and the sign-ins of users, held in memory and written behind to a folder of its own. None of it is in the journal: it is lost with the
 * folder, and a crash may lose the last minute of it. Responses to reports therefore wait for nothing, and faults here, such
 * as a full disk or a damaged file, is logged and hurts no flag.
 *
 * Everything is bounded, since the tokens of pages are public: what pages report is held apart from what servers report, so that junk
 * pushes out only what pages reported. Flags that do not exist, or that the token does not cover, are not counted.
 */
import assert from 'node:assert/strict';
import type { ChangeFeed } from '../../actors/change-feed.ts';
import type { FlagsUse, HourCounts, UsageView } from '../../actors/usage-view.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { ALL, type WorldOwner } from '../../domain/state/world.ts';
import type { RequestContext } from '../../http/serving/route.ts';
import { type ApplicationDetails, Applications } from './applications.ts';
import { LastSeen } from './last-seen.ts';
import { type MinuteSums, MinuteTable } from './minute-table.ts';
import { type ApplicationReport, SIDES, type Side, type UsageReport } from './reports.ts';
import type { SharedCounts, SharedUsage, UsageNote } from './shared-usage.ts';
import { UserSignIns } from './sign-ins.ts';
import { type SideUsage, UsageFiles, type UsageFilesOptions } from './usage-files.ts';
import { floorTo, HOUR_MS, UsageTable } from './usage-table.ts';

/** Bytes of the counts of each side. Three days of 350 flags that ten applications evaluate every hour take 38 MB. */
export const COUNTS_BYTES_MAX: Readonly<Record<Side, number>> = {
  backend: 48 * 1024 * 1024,
  frontend: 16 * 1024 * 1024,
};

/** How often a flag was on and off. */
interface YesNo {
  readonly yes: number;
  readonly no: number;
}

/** Bytes of the counts of minutes of each side: 40,000 and 8,000 flags and environments. */
export const MINUTES_BYTES_MAX: Readonly<Record<Side, number>> = {
  backend: 24 * 1024 * 1024,
  frontend: 5 * 1024 * 1024,
};

/** Bytes of the applications of each side, with their instances. */
export const APPLICATIONS_BYTES_MAX = 8 * 1024 * 1024;

/** Uses of tokens are shared so often: they tell people when a token was used last. */
const SHARE_TOKENS_MS = 10_000;
const TOKENS_PER_NOTE = 1_000;

/** The projects that a caller's token covers. */
export interface ReportScope {
  readonly projects: readonly string[] | typeof ALL;
}

/** The taker of reports in place of this process: the stream of a cluster, or an edge, which passes them on. */
export type SharedReports = Pick<SharedUsage, 'send' | 'follow' | 'close'>;

export interface UsageOptions extends UsageFilesOptions {
  readonly state: WorldOwner;
  readonly feed: Pick<ChangeFeed, 'subscribe'>;
  readonly countsBytesMax?: number;
  /** The reports of all nodes of a cluster; null where a server runs alone. */
  readonly shared?: SharedReports | null;
}

export class Usage implements UsageView {
  readonly #options: UsageOptions;
  readonly #files: UsageFiles;
  readonly #seen: LastSeen;
  readonly seen: FlagsUse & Pick<LastSeen, 'token'>;
  readonly #signIns: UserSignIns;
  readonly #sides: Readonly<Record<Side, SideUsage>>;
  #unsubscribe: (() => void) | null = null;
  /** Tokens used since they were shared last. */
  readonly #tokensToShare = new Map<string, number>();

  constructor(options: UsageOptions) {
    this.#options = options;
    const side = (name: Side): SideUsage => ({
      counts: new UsageTable({ bytesMax: options.countsBytesMax ?? COUNTS_BYTES_MAX[name] }),
      minutes: new MinuteTable({ bytesMax: MINUTES_BYTES_MAX[name] }),
      applications: new Applications({ bytesMax: APPLICATIONS_BYTES_MAX }),
    });
    this.#sides = { backend: side('backend'), frontend: side('frontend') };
    // What was deleted while the folder was elsewhere, or right before a crash, does not come back.
    this.#signIns = new UserSignIns((userId) => options.state.world.directory.users.has(userId));
    this.#seen = new LastSeen({
      now: options.now,
      hour: (flag) => this.#hour(flag),
      isFlag: (name) => options.state.world.flagProjects.has(name),
      isToken: (digest) => this.#isToken(digest),
    });
    this.seen = this.#seen;
    this.#files = new UsageFiles(options, { sides: this.#sides, signIns: this.#signIns, seen: this.#seen });
  }

  get signIns(): Pick<UserSignIns, 'of'> {
    return this.#signIns;
  }

  counts(side: Side): Pick<UsageTable, 'countsOf' | 'countsSince' | 'flagsOf' | 'bytes' | 'droppedCount'> {
    return this.#sides[side].counts;
  }

  minutes(side: Side): Pick<MinuteTable, 'sum' | 'sumOf' | 'bytes'> {
    return this.#sides[side].minutes;
  }

  /**
   * How often a flag was on and off in the last sixty minutes, by environment; in the running hour of the clock where that is more,
   * since a restart forgets the minutes.
   */
  lastHour(flag: string): ReadonlyMap<string, YesNo> {
    const nowMs = this.#options.now();
    const found = new Map<string, YesNo>();
    const sums: MinuteSums = new Map();
    for (const { counts, minutes } of Object.values(this.#sides)) {
      minutes.sumOf(sums, nowMs, flag);
      for (const { environment, yes, no } of counts.countsOf(flag, 'hour', floorTo(nowMs, HOUR_MS))) {
        const other = found.get(environment) ?? { yes: 0, no: 0 };
        found.set(environment, { yes: other.yes + yes, no: other.no + no });
      }
    }
    for (const [environment, cells] of sums) {
      const byMinutes = { yes: 0, no: 0 };
      // Without the oldest one, of which a part is longer ago.
      for (let at = 2; at < cells.length; at += 2) {
        byMinutes.yes += cells[at] ?? 0;
        byMinutes.no += cells[at + 1] ?? 0;
      }
      const { yes, no } = found.get(environment) ?? { yes: 0, no: 0 };
      if (byMinutes.yes + byMinutes.no > yes + no) found.set(environment, byMinutes);
    }
    return found;
  }

  applications(side: Side): Pick<Applications, 'get' | 'values' | 'size' | 'bytes'> {
    return this.#sides[side].applications;
  }

  /** Reads what earlier starts saved, as far as the disk gives it, and from now on forgets what is deleted. */
  async open(): Promise<void> {
    assert(this.#unsubscribe === null, 'usage hears of each deletion once');
    const { feed, onFault } = this.#options;
    await this.#files.read().catch(onFault);
    this.#unsubscribe = feed.subscribe((changes) => {
      for (const { events } of changes) for (const event of events) this.#forget(event as DomainEvent);
    });
    this.#shared?.follow(this.#files.position.value, async (position, notes) => {
      // What is being saved must not grow meanwhile: its position is saved already.
      await this.#files.saved;
      for (const note of notes) this.#takeGuarded(note);
      this.#files.position.move(position);
      this.#files.changed();
    });
  }

  get #shared(): SharedReports | null {
    return this.#options.shared ?? null;
  }

  application(report: ApplicationReport): void {
    this.#note({ kind: 'application', report, atMs: this.#options.now() });
  }

  /** Counts it now, or once the other nodes of the cluster can count it too. */
  #note(note: UsageNote): void {
    if (this.#shared !== null) return this.#shared.send(note);
    this.#take(note);
    this.#files.changed();
  }

  /** Notes a change of a user on this node at once, before the log has carried it to the others: users read their own writes. */
  #noteAtOnce(note: UsageNote): void {
    if (this.#shared !== null) this.#take(note);
    this.#note(note);
  }

  /** Another node may be of a newer version, and its notes of a kind that this one does not know. */
  #takeGuarded(note: UsageNote): void {
    try {
      this.#take(note);
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  #take(note: UsageNote): void {
    switch (note.kind) {
      case 'application': {
        const { side, ...report } = note.report;
        return this.#sides[side].applications.saw(report, note.atMs);
      }
      case 'details':
        return this.#sides.backend.applications.describe(note.appName, note.details, note.atMs);
      case 'forgotten':
        for (const side of SIDES) this.#sides[side].applications.forget(note.appName);
        return;
      case 'counts':
        return this.#count(note.report, note.atMs);
      case 'tokens':
        for (const [digest, atMs] of note.used)
          if (this.#isToken(digest) && (this.#seen.token(digest) ?? 0) < atMs)
            this.#seen.sawToken(digest, atMs);
        return;
      case 'sign-in':
        if (note.succeeded) this.#signIns.succeeded(note.userId, note.atMs);
        else this.#signIns.failed(note.userId);
    }
  }

  /** Records how people describe an application, whether or not it has reported. */
  describeApplication(appName: string, details: Partial<ApplicationDetails>): void {
    this.#noteAtOnce({ kind: 'details', appName, details, atMs: this.#options.now() });
  }

  /** Forgets the application until it reports again. Its counts stay. */
  forgetApplication(appName: string): void {
    this.#noteAtOnce({ kind: 'forgotten', appName });
  }

  /** Counts the evaluations of an application that was passed to `application`. */
  report(sent: UsageReport, scope: ReportScope): void {
    const unknownFlags: string[] = [];
    const counts = sent.counts.filter(({ flag, yes, no }) => {
      if (yes + no === 0) return false;
      if (this.#covers(scope, flag)) return true;
      unknownFlags.push(flag);
      return false;
    });
    this.#note({ kind: 'counts', report: { ...sent, counts, unknownFlags }, atMs: this.#options.now() });
  }

  #count(report: SharedCounts, nowMs: number): void {
    const { appName, environment, side, startMs, stopMs = nowMs, counts, unknownFlags } = report;
    const { applications, counts: table, minutes } = this.#sides[side];
    for (const flag of unknownFlags) applications.sawUnknownFlag(appName, environment, flag);
    for (const { flag } of counts) this.#seen.sawFlag(flag, environment, nowMs);
    table.add({ appName, environment }, startMs, counts, nowMs);
    // Another node's clock may be ahead.
    minutes.add(environment, stopMs, counts, Math.min(nowMs, this.#options.now()));
    assert(
      table.bytes <= (this.#options.countsBytesMax ?? COUNTS_BYTES_MAX[side]),
      'what is counted is bounded',
    );
    assert(applications.bytes <= APPLICATIONS_BYTES_MAX, 'what applications say of themselves is bounded');
  }

  /** Notes that a token, which exists, was used. */
  tokenUsed(digest: string): void {
    const nowMs = this.#options.now();
    this.#seen.sawToken(digest, nowMs);
    this.#files.changed();
    if (this.#shared === null) return;
    if (this.#tokensToShare.size === 0) this.#options.timer(SHARE_TOKENS_MS, () => this.#shareTokens());
    this.#tokensToShare.set(digest, nowMs);
  }

  #shareTokens(): void {
    const used = [...this.#tokensToShare];
    this.#tokensToShare.clear();
    for (let at = 0; at < used.length; at += TOKENS_PER_NOTE)
      this.#shared?.send({ kind: 'tokens', used: used.slice(at, at + TOKENS_PER_NOTE) });
  }

  /** Notes that a user, who exists, tried to sign in. */
  signInTried(userId: number, succeeded: boolean): void {
    this.#note({ kind: 'sign-in', userId, succeeded, atMs: this.#options.now() });
  }

  /** Saves what changed; on disk when it resolves. Never rejects. */
  save(): Promise<void> {
    return this.#files.save();
  }

  /** Saves for the last time. */
  async close(): Promise<void> {
    this.#unsubscribe?.();
    this.#shareTokens();
    await this.#shared?.close();
    await this.save();
  }

  /** Sums of all applications, in the running hour, by environment. */
  #hour(flag: string): ReadonlyMap<string, HourCounts> {
    const startMs = floorTo(this.#options.now(), HOUR_MS);
    const sums = new Map<string, { yes: number; no: number }>();
    for (const side of SIDES) this.#sides[side].counts.addHour(flag, startMs, sums);
    return sums;
  }

  #covers({ projects }: ReportScope, flag: string): boolean {
    const project = this.#options.state.world.flagProjects.get(flag);
    return project !== undefined && (projects === ALL || projects.includes(project));
  }

  #forget(event: DomainEvent): void {
    if (event.type === 'feature-deleted') this.#seen.forgetFlag(event.featureName);
    if (event.type === 'feature-revived') this.#seen.beginAnew(event.featureName);
    if (event.type === 'api-token-deleted' || event.type === 'pat-deleted')
      this.#seen.forgetToken(event.hidden.digest);
    if (event.type === 'user-deleted') this.#signIns.forget(event.preData.id);
    // Old sessions make room for a new one, and go with their user, without events of their own.
    if (event.type === 'pat-created' || event.type === 'user-deleted') this.#forgetFormerTokens();
  }

  #forgetFormerTokens(): void {
    const { apiTokens, personalTokens, sessions } = this.#options.state.world.directory;
    const count = apiTokens.size + personalTokens.size + sessions.size;
    this.#seen.keepTokens(count);
  }

  #isToken(digest: string): boolean {
    const { apiTokens, personalTokens, sessions } = this.#options.state.world.directory;
    return apiTokens.has(digest) || personalTokens.has(digest) || sessions.has(digest);
  }
}

/** The reports that routes of this add-on count and show. */
export function usageIn({ usage }: Pick<RequestContext<unknown>, 'usage'>): Usage {
  assert(usage instanceof Usage, 'routes of this add-on are served where it is open');
  return usage;
}
