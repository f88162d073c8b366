/**
 * The reports of applications to an edge: counts summed by application, flag, environment and hour, and the applications themselves. Every
 * minute they go to the upstream together; what it cannot take waits, within a bound, and what is too large for it goes in halves.
 *
 * A count reaches the upstream once or not at all, and never twice: counts leave the file on disk before they are sent, and come back
 * to it only where the upstream says that it has not taken them, or could not be reached. So a kill loses a minute at most, and so
 * does a connection that breaks before the response.
 */
import * as v from 'valibot';
import type { UsageNote } from '../../actors/shared-usage.ts';
import type { SharedReports } from '../../actors/usage.ts';
import {
  SIDES,
  type Side,
  VARIANT_NAME_LENGTH_MAX,
  VARIANTS_PER_COUNT_MAX,
} from '../../domain/usage/reports.ts';
import { HOUR_MS } from '../../domain/usage/usage-table.ts';
import { IMPACT, type ImpactSample, ImpactSums, sentImpact } from './impact.ts';
import { UpstreamError, type UpstreamResponse } from './upstream-client.ts';

/**
 * Bytes of counts that wait, by who reported; where there is no room, the oldest go, and are counted as dropped. Tokens of pages are
 * public, so what pages report has a room of its own.
 */
export const WAITING_BYTES_MAX: Readonly<Record<Side, number>> = {
  backend: 24 * 1024 * 1024,
  frontend: 8 * 1024 * 1024,
};

/** Entries of one request; upstreams take 5,000 counts and 1,000 applications. */
const SENT_TOGETHER_MAX = 1_000;

/** Applications of each side, some 5 KB each at most, and tokens that are known of one environment. */
export const APPLICATIONS_MAX = 2_000;
const SEEN_TOKENS_MAX = 1_000;

/** Characters of a text in a report, and the most entries of a list in it. */
const TEXT_LENGTH_MAX = 100;
const LIST_LENGTH_MAX = 50;

const ENTRY_BYTES = 200;
const VARIANT_BYTES = 100;

const COUNT = v.object({
  featureName: v.string(),
  appName: v.string(),
  environment: v.string(),
  timestamp: v.string(),
  side: v.picklist(SIDES),
  yes: v.number(),
  no: v.number(),
  /** Pairs, because a name may be one that an object cannot have. */
  variants: v.array(v.tuple([v.string(), v.number()])),
});

const APPLICATION = v.object({
  appName: v.string(),
  environment: v.string(),
  instanceId: v.string(),
  sdkVersion: v.nullable(v.string()),
  sdkType: v.picklist(SIDES),
  strategies: v.array(v.string()),
  projects: v.array(v.string()),
  started: v.string(),
  interval: v.number(),
});

export const REPORTS = v.object({
  counts: v.array(COUNT),
  applications: v.array(APPLICATION),
  impact: v.array(IMPACT),
});

type Count = v.InferOutput<typeof COUNT>;
type SentApplication = v.InferOutput<typeof APPLICATION>;

/** The reports of one environment that go in one request. */
export interface Bulk {
  readonly environment: string;
  readonly counts: readonly Count[];
  readonly applications: readonly SentApplication[];
  readonly impact: readonly ImpactSample[];
  readonly seenTokens: readonly string[];
}

interface Waiting {
  count: Omit<Count, 'variants'>;
  readonly variants: Map<string, number>;
}

/** The counts of one side; the oldest first. */
interface WaitingCounts {
  readonly byKey: Map<string, Waiting>;
  bytes: number;
}

export class Reports implements SharedReports {
  readonly #counts: Readonly<Record<Side, WaitingCounts>> = {
    backend: { byKey: new Map(), bytes: 0 },
    frontend: { byKey: new Map(), bytes: 0 },
  };
  readonly #applications = new Map<string, SentApplication>();
  readonly #impact = new ImpactSums();
  readonly #seenTokens = new Map<string, Set<string>>();
  #droppedCount = 0;

  get bytes(): number {
    return SIDES.reduce((sum, side) => sum + this.#counts[side].bytes, this.#impact.bytes);
  }

  /** Counts that were dropped for want of room, or because nobody knows whether the upstream took them. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  get size(): number {
    const counts = SIDES.reduce((sum, side) => sum + this.#counts[side].byKey.size, 0);
    return counts + this.#applications.size + this.#impact.size;
  }

  /** Takes what surfaces note of a report. */
  send(note: UsageNote): void {
    if (note.kind === 'application') return this.#sawApplication(note.report, note.atMs);
    if (note.kind !== 'counts') return;
    const { appName, environment, side, startMs, counts } = note.report;
    const timestamp = new Date(Math.floor(startMs / HOUR_MS) * HOUR_MS).toISOString();
    const named = { appName, environment, side, timestamp };
    for (const { flag, yes, no, variants } of counts)
      this.#add({ ...named, featureName: flag, yes, no }, variants);
  }

  impact(environment: string, metrics: readonly unknown[]): void {
    this.#impact.take(environment, metrics);
  }

  follow(): void {
    // Nothing comes back from an upstream.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  sawToken(secret: string, environment: string): void {
    let seen = this.#seenTokens.get(environment);
    if (seen === undefined) {
      seen = new Set();
      this.#seenTokens.set(environment, seen);
    }
    if (seen.size < SEEN_TOKENS_MAX) seen.add(secret);
  }

  /** All that waits, by environment, in pieces that an upstream takes; nothing of it waits any more. */
  takeAll(): readonly Bulk[] {
    const { counts, applications, impact } = this.saved();
    const named = [...counts, ...applications, ...impact].map(({ environment }) => environment);
    const bulks = [...new Set([...named, ...this.#seenTokens.keys()])].flatMap((environment) => {
      const own = <T extends { readonly environment: string }>(list: readonly T[]): readonly T[] =>
        list.filter((one) => one.environment === environment);
      const seenTokens = [...(this.#seenTokens.get(environment) ?? [])];
      const all = { counts: own(counts), applications: own(applications), impact: own(impact) };
      return piecesOf({ environment, ...all, seenTokens });
    });
    for (const side of SIDES) {
      this.#counts[side].byKey.clear();
      this.#counts[side].bytes = 0;
    }
    this.#applications.clear();
    this.#impact.clear();
    this.#seenTokens.clear();
    return bulks;
  }

  /** Puts back what the upstream has not taken, beside what has come since. */
  putBack({ counts, applications, impact }: Pick<Bulk, 'counts' | 'applications' | 'impact'>): void {
    for (const { variants, ...count } of counts) this.#add(count, variants);
    for (const one of applications) this.#putApplication(one);
    for (const one of impact) this.#impact.putBack(one);
  }

  drop(counts: number): void {
    this.#droppedCount += counts;
  }

  /** All that waits, as the file on disk has it. */
  saved(): v.InferOutput<typeof REPORTS> {
    const counts = SIDES.flatMap((side) =>
      [...this.#counts[side].byKey.values()].map(({ count, variants }) => ({
        ...count,
        variants: [...variants],
      })),
    );
    return { counts, applications: [...this.#applications.values()], impact: this.#impact.values() };
  }

  #add(count: Omit<Count, 'variants'>, variants: Iterable<readonly [string, number]>): void {
    const { featureName, appName, environment, timestamp, side } = count;
    const waiting = this.#counts[side];
    const key = JSON.stringify([environment, timestamp, appName, featureName]);
    let known = waiting.byKey.get(key);
    if (known === undefined) {
      known = { count, variants: new Map() };
      waiting.byKey.set(key, known);
      waiting.bytes += bytesOf(key, known);
    } else known.count = { ...count, yes: known.count.yes + count.yes, no: known.count.no + count.no };
    waiting.bytes -= bytesOf(key, known);
    for (const [name, number] of variants) {
      const before = known.variants.get(name);
      const isRoom = known.variants.size < VARIANTS_PER_COUNT_MAX && name.length <= VARIANT_NAME_LENGTH_MAX;
      if (before !== undefined || isRoom) known.variants.set(name, (before ?? 0) + number);
    }
    waiting.bytes += bytesOf(key, known);
    this.#makeRoom(waiting, WAITING_BYTES_MAX[side]);
  }

  #makeRoom(waiting: WaitingCounts, bytesMax: number): void {
    for (const [key, oldest] of waiting.byKey) {
      if (waiting.bytes <= bytesMax) return;
      waiting.byKey.delete(key);
      waiting.bytes -= bytesOf(key, oldest);
      this.#droppedCount += 1;
    }
  }

  #sawApplication(report: Extract<UsageNote, { kind: 'application' }>['report'], atMs: number): void {
    const { appName, environment, side, instanceId, sdkVersion, strategies, projects } = report;
    this.#putApplication({
      ...{ appName, environment, instanceId: cut(instanceId ?? 'default'), sdkType: side },
      sdkVersion: sdkVersion === null ? null : cut(sdkVersion),
      strategies: (strategies ?? []).slice(0, LIST_LENGTH_MAX).map(cut),
      projects: projects.slice(0, LIST_LENGTH_MAX),
      ...{ started: new Date(atMs).toISOString(), interval: 15_000 },
    });
  }

  /** An application that reports counts does not repeat which strategies it knows. */
  #putApplication(one: SentApplication): void {
    const key = JSON.stringify([one.environment, one.sdkType, one.appName, one.instanceId]);
    const known = this.#applications.get(key);
    if (known === undefined && this.#countOf(one.sdkType) >= APPLICATIONS_MAX) return;
    const strategies = one.strategies.length > 0 ? one.strategies : (known?.strategies ?? []);
    this.#applications.set(key, { ...one, strategies });
  }

  #countOf(side: Side): number {
    let count = 0;
    for (const { sdkType } of this.#applications.values()) if (sdkType === side) count += 1;
    return count;
  }
}

const cut = (text: string): string => text.slice(0, TEXT_LENGTH_MAX);

/** The variants' names have at most so many characters, so they are not gone through each time. */
const bytesOf = (key: string, { variants }: Waiting): number =>
  ENTRY_BYTES + 4 * key.length + variants.size * (VARIANT_BYTES + 2 * VARIANT_NAME_LENGTH_MAX);

function piecesOf(bulk: Bulk): readonly Bulk[] {
  const { environment, counts, applications, impact, seenTokens } = bulk;
  const pieces: Bulk[] = [];
  for (let at = 0; at === 0 || at < Math.max(counts.length, applications.length); at += SENT_TOGETHER_MAX) {
    const end = at + SENT_TOGETHER_MAX;
    const first = at === 0 ? { impact, seenTokens } : { impact: [], seenTokens: [] };
    pieces.push({
      ...{ environment, counts: counts.slice(at, end), applications: applications.slice(at, end) },
      ...first,
    });
  }
  return pieces;
}

export interface SendOptions {
  readonly reports: Reports;
  /** Sends to the upstream with a token of the environment; null where the edge has none. */
  post(environment: string, body: object): Promise<UpstreamResponse> | null;
  /** On disk when it resolves, where there is a disk. */
  save(): Promise<void>;
  /** The edge that the applications have come through. */
  readonly connectVia: { readonly appName: string; readonly instanceId: string };
  onFault(error: unknown, environment: string): void;
}

/** Sends all that waits. Never rejects. */
export async function sendReports(options: SendOptions): Promise<void> {
  const { reports, save } = options;
  const bulks = reports.takeAll();
  if (bulks.length === 0) return;
  await save();
  let isSaved = true;
  for (const bulk of bulks) if (!(await sent(options, bulk))) isSaved = false;
  if (!isSaved) await save();
}

/** Whether nothing of it came back. */
async function sent(options: SendOptions, bulk: Bulk): Promise<boolean> {
  const { reports, post, onFault } = options;
  const { environment, counts, applications } = bulk;
  try {
    const posted = post(environment, bodyOf(options, bulk));
    if (posted === null) throw new UpstreamError(0, `no token of the environment ${environment} is left`);
    const { status, body } = await posted;
    if (status >= 200 && status < 300) return true;
    if (status === 413 && counts.length + applications.length > 1) return await sentInHalves(options, bulk);
    onFault(
      new UpstreamError(
        status,
        `the upstream answered ${status} to a report: ${body.toString('utf8', 0, 500)}`,
      ),
      environment,
    );
    // Other refusals of the report itself would come again for ever.
    if (status >= 400 && status < 500 && ![401, 403, 404, 408, 429].includes(status))
      reports.drop(counts.length);
    else reports.putBack(bulk);
    return false;
  } catch (error) {
    onFault(error, environment);
    const isUnsent = error instanceof UpstreamError && error.isUnsent;
    if (isUnsent) reports.putBack(bulk);
    else reports.drop(counts.length);
    return false;
  }
}

async function sentInHalves(options: SendOptions, bulk: Bulk): Promise<boolean> {
  const half = <T>(list: readonly T[]): number => Math.ceil(list.length / 2);
  const { counts, applications, environment } = bulk;
  const [a, b] = [half(counts), half(applications)];
  const first = { ...bulk, counts: counts.slice(0, a), applications: applications.slice(0, b) };
  const rest = { counts: counts.slice(a), applications: applications.slice(b) };
  const second = { environment, ...rest, impact: [], seenTokens: [] };
  const done = [await sent(options, first), await sent(options, second)];
  return done.every(Boolean);
}

function bodyOf({ connectVia }: SendOptions, { counts, applications, impact, seenTokens }: Bulk): object {
  return {
    applications: applications.map(({ sdkVersion, ...one }) => ({
      ...one,
      ...(sdkVersion === null ? {} : { sdkVersion }),
      connectVia: [connectVia],
    })),
    metrics: counts.map(({ side: _, variants, ...count }) => ({
      ...count,
      variants: Object.fromEntries(variants),
    })),
    ...(impact.length === 0 ? {} : { impactMetrics: sentImpact(impact) }),
    ...(seenTokens.length === 0 ? {} : { seenTokens }),
  };
}
