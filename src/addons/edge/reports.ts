/**
 * The reports of applications to an edge: counts summed by application, flag, environment and hour, and the applications themselves. Every
 * minute they go to the upstream together (report-sending.ts); what it cannot take waits here, within a bound.
 */
import * as v from 'valibot';
import { SIDES, type Side, VARIANT_NAME_LENGTH_MAX, VARIANTS_PER_COUNT_MAX } from '../usage/reports.ts';
import type { UsageNote } from '../usage/shared-usage.ts';
import type { SharedReports } from '../usage/usage.ts';
import { HOUR_MS } from '../usage/usage-table.ts';

/**
 * Bytes of counts that wait, by who reported; where there is no room, the oldest go, and are counted as dropped. Tokens of pages are
 * public, so what pages report has a room of its own.
 */
export const WAITING_BYTES_MAX: Readonly<Record<Side, number>> = {
  backend: 24 * 1024 * 1024,
  frontend: 8 * 1024 * 1024,
};

/** Entries of one request, and names in them; upstreams take 5,000 counts and 1,000 applications. Few enough to make in some milliseconds. */
const SENT_TOGETHER_MAX = 1_000;
const SENT_PARTS_MAX = 10_000;

/** Applications of each side, some 5 KB each at most, and tokens that are known of one environment. */
export const APPLICATIONS_MAX = 2_000;
const SEEN_TOKENS_MAX = 1_000;

/** Characters of a text in a report, and the most entries of a list in it. */
const TEXT_LENGTH_MAX = 100;
const LIST_LENGTH_MAX = 50;

const ENTRY_BYTES = 200;
const VARIANT_BYTES = 100;

const COUNT = v.object({
  kind: v.literal('count'),
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
  kind: v.literal('application'),
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

/** A report that waits: as the file on disk has it, and as it comes back from there. */
export const REPORT = v.variant('kind', [COUNT, APPLICATION]);

type Report = v.InferOutput<typeof REPORT>;
type Count = v.InferOutput<typeof COUNT>;
type SentApplication = v.InferOutput<typeof APPLICATION>;

/** Something that a token is chosen for: one of the environment that covers the flag or the projects. */
export interface Destination {
  readonly environment: string;
  readonly featureName?: string;
  readonly projects?: readonly string[];
}

/** Finds the token by which a report is sent; null where the edge has none of the environment. */
export type SecretFor = (destination: Destination) => string | null;

/** The reports of one environment that go in one request, by one token. */
export interface Bulk {
  readonly environment: string;
  readonly secret: string | null;
  readonly reports: readonly Report[];
  readonly seenTokens: readonly string[];
}

interface Sum {
  count: Omit<Count, 'variants'>;
  readonly variants: Map<string, number>;
}

class Counts {
  readonly byKey = new Map<string, Sum>();
  bytes = 0;
}

class Waiting {
  readonly counts: Readonly<Record<Side, Counts>> = { backend: new Counts(), frontend: new Counts() };
  readonly applications: Readonly<Record<Side, Map<string, SentApplication>>> = {
    backend: new Map(),
    frontend: new Map(),
  };
  readonly seenTokens = new Map<string, Set<string>>();
  readonly environments = new Set<string>();

  *[Symbol.iterator](): Generator<Report> {
    for (const side of SIDES)
      for (const { count, variants } of this.counts[side].byKey.values())
        yield { ...count, variants: [...variants] };
    for (const side of SIDES) yield* this.applications[side].values();
  }
}

export class Reports implements SharedReports {
  #waiting = new Waiting();
  #droppedCount = 0;
  /** Whether the upstream may be away. */
  isDoubtful = false;

  get bytes(): number {
    const { counts } = this.#waiting;
    return SIDES.reduce((sum, side) => sum + counts[side].bytes, 0);
  }

  /** Counts that were dropped for want of room, or because it is unknown whether the upstream took them. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  get size(): number {
    const { counts, applications } = this.#waiting;
    return SIDES.reduce((sum, side) => sum + counts[side].byKey.size + applications[side].size, 0);
  }

  /** Takes what surfaces note of a report. */
  send(note: UsageNote): void {
    if (note.kind === 'application') return this.#sawApplication(note.report, note.atMs);
    if (note.kind !== 'counts') return;
    const { appName, environment, side, startMs, counts } = note.report;
    const timestamp = new Date(Math.floor(startMs / HOUR_MS) * HOUR_MS).toISOString();
    const named = { kind: 'count', appName, environment, side, timestamp } as const;
    for (const { flag, yes, no, variants } of counts)
      this.#add({ ...named, featureName: flag, yes, no }, variants);
  }

  follow(): void {
    // Nothing comes back from an upstream.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  sawToken(secret: string, environment: string): void {
    const { seenTokens } = this.#waiting;
    const seen = seenTokens.get(environment) ?? new Set();
    if (seen.size < SEEN_TOKENS_MAX) seenTokens.set(environment, seen.add(secret));
  }

  /** All that waits, in pieces that an upstream takes, each made when it is asked for; nothing of it waits any more. */
  takeAll(secretFor: SecretFor): Iterable<Bulk> {
    const taken = this.#waiting;
    this.#waiting = new Waiting();
    return bulksOf(taken, secretFor);
  }

  /** Puts back what the upstream has not taken, beside what has come since. */
  putBack(report: Report): void {
    this.#waiting.environments.add(report.environment);
    if (report.kind === 'application') this.#putApplication(report);
    else {
      const { variants, ...count } = report;
      this.#add(count, variants);
    }
  }

  drop(reports: readonly Report[]): void {
    this.#droppedCount += countsIn(reports);
  }

  /** All that waits; what comes meanwhile may be left out. */
  waiting(): Iterable<Report> {
    return this.#waiting;
  }

  get environments(): readonly string[] {
    return [...this.#waiting.environments];
  }

  *rows(): Generator<readonly [json: string]> {
    for (const report of this.#waiting) yield [JSON.stringify(report)];
  }

  #add(count: Omit<Count, 'variants'>, variants: Iterable<readonly [string, number]>): void {
    const { featureName, appName, environment, timestamp, side } = count;
    const waiting = this.#waiting.counts[side];
    this.#waiting.environments.add(environment);
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

  #makeRoom(waiting: Counts, bytesMax: number): void {
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
      kind: 'application',
      ...{ appName, environment, instanceId: cut(instanceId ?? 'default'), sdkType: side },
      sdkVersion: sdkVersion === null ? null : cut(sdkVersion),
      strategies: (strategies ?? []).slice(0, LIST_LENGTH_MAX).map(cut),
      projects: projects.slice(0, LIST_LENGTH_MAX),
      ...{ started: new Date(atMs).toISOString(), interval: 15_000 },
    });
  }

  /** An application that reports counts does not repeat which strategies it knows. */
  #putApplication(one: SentApplication): void {
    const applications = this.#waiting.applications[one.sdkType];
    this.#waiting.environments.add(one.environment);
    const key = JSON.stringify([one.environment, one.appName, one.instanceId]);
    const known = applications.get(key);
    if (known === undefined && applications.size >= APPLICATIONS_MAX) return;
    const strategies = one.strategies.length > 0 ? one.strategies : (known?.strategies ?? []);
    applications.set(key, { ...one, strategies });
  }
}

const cut = (text: string): string => text.slice(0, TEXT_LENGTH_MAX);

/** The variants' names have at most so many characters, so they are not gone through each time. */
const bytesOf = (key: string, { variants }: Sum): number =>
  ENTRY_BYTES + 4 * key.length + variants.size * (VARIANT_BYTES + 2 * VARIANT_NAME_LENGTH_MAX);

const countsIn = (reports: readonly Report[]): number =>
  reports.filter(({ kind }) => kind === 'count').length;

function partsOf(report: Report): number {
  if (report.kind === 'count') return 1 + report.variants.length;
  return 1 + report.strategies.length + report.projects.length;
}

function* bulksOf(waiting: Waiting, secretFor: SecretFor): Generator<Bulk> {
  const begun = new Map<string, Bulk & { readonly reports: Report[]; parts: number }>();
  const keyOf = (environment: string, secret: string | null): string => JSON.stringify([environment, secret]);
  const bulkFor = (destination: Destination, seenTokens: readonly string[] = []) => {
    const { environment } = destination;
    const secret = secretFor(destination);
    const key = keyOf(environment, secret);
    const bulk = begun.get(key) ?? { environment, secret, reports: [], seenTokens, parts: 0 };
    begun.set(key, bulk);
    return bulk;
  };
  for (const [environment, tokens] of waiting.seenTokens) bulkFor({ environment }, [...tokens]);
  for (const report of waiting) {
    const bulk = bulkFor(report);
    bulk.reports.push(report);
    bulk.parts += partsOf(report);
    if (bulk.reports.length < SENT_TOGETHER_MAX && bulk.parts < SENT_PARTS_MAX) continue;
    begun.delete(keyOf(bulk.environment, bulk.secret));
    yield bulk;
  }
  yield* begun.values();
}
