/**
 * Counts of evaluations by flag, application, environment and hour, of one side, bounded in bytes. Hours older than two days are
 * folded into the days that they belong to, and days are dropped after 90. At the bound, the oldest period goes first; what would not
 * even fit into the newest one is not counted, and `droppedCount` says how often that happened.
 *
 * Time comes in as an argument. Periods know whether they changed since they were saved (`takeChanges`).
 */
import { type FlagCounts, VARIANT_NAME_LENGTH_MAX, VARIANTS_PER_COUNT_MAX } from './reports.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Whole days are folded, once their last hour is older than this. */
const HOURS_KEPT_MS = 48 * HOUR_MS;
const DAYS_KEPT_MS = 90 * DAY_MS;

/** A report may be late by this much, after an outage for example. An older one, or one of the future, counts as of now. */
const LATE_MAX_MS = DAY_MS;

/** Applications that evaluated one flag in an hour, and that are summed for readers. Takes some 0.1 ms. */
const SUMMED_MAX = 5_000;

// Estimates of V8's memory, with the maps around them; test/addons/usage holds them against the heap.
const FLAG_BYTES = 300;
const COUNT_BYTES = 120;
const VARIANT_BYTES = 80;

/** The application that evaluated, and its environment. */
export interface Evaluating {
  readonly appName: string;
  readonly environment: string;
}

/** The counts of one application for one flag in one environment, within one period. */
export interface Count extends Evaluating {
  yes: number;
  no: number;
  /** Null while none was reported. */
  variants: Map<string, number> | null;
}

/** Counts of one flag. */
export interface PeriodCount extends Readonly<Count> {
  /** The start of the period, in milliseconds since 1970. */
  readonly startMs: number;
}

export interface PeriodId {
  readonly kind: 'hour' | 'day';
  readonly startMs: number;
}

/** One count as it is saved; the counts of variants follow each other as name, number. */
export type CountRow = readonly [
  flag: string,
  appName: string,
  environment: string,
  yes: number,
  no: number,
  ...variants: readonly (string | number)[],
];

interface Period extends PeriodId {
  /** By flag, then by application and environment. */
  readonly flags: Map<string, Map<string, Count>>;
  bytes: number;
  isSaved: boolean;
}

/** Periods to write and to delete so that the files are as the table. */
export interface PeriodChanges {
  readonly changed: readonly PeriodId[];
  readonly removed: readonly PeriodId[];
}

export class UsageTable {
  readonly #bytesMax: number;
  /** By start; the days end where the hours begin. */
  readonly #hours = new Map<number, Period>();
  readonly #days = new Map<number, Period>();
  #removed: PeriodId[] = [];
  #bytes = 0;
  #droppedCount = 0;

  constructor({ bytesMax }: { readonly bytesMax: number }) {
    this.#bytesMax = bytesMax;
  }

  /** An estimate of the memory that it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts of flags that were not taken for want of room. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** `startMs`: when the span of the report began, by the clock of the client. */
  add(who: Evaluating, startMs: number, counts: readonly FlagCounts[], nowMs: number): void {
    if (counts.length === 0) return;
    const isPlausible = startMs <= nowMs && startMs > nowMs - LATE_MAX_MS;
    const period = this.#period({ kind: 'hour', startMs: floorTo(isPlausible ? startMs : nowMs, HOUR_MS) });
    const key = keyOf(who);
    for (const counted of counts) this.#count(period, key, who, counted);
  }

  /** Counts of the periods that begin at `sinceMs` or later, the newest first. */
  *countsOf(flag: string, kind: PeriodId['kind'], sinceMs: number): Generator<PeriodCount> {
    for (const period of byStart(kind === 'hour' ? this.#hours : this.#days).toReversed()) {
      if (period.startMs < sinceMs) return;
      for (const count of period.flags.get(flag)?.values() ?? []) yield { startMs: period.startMs, ...count };
    }
  }

  /** Adds the counts of the hour that began at `startMs` to the sums, which are by environment. */
  addHour(flag: string, startMs: number, sums: Map<string, { yes: number; no: number }>): void {
    let summed = 0;
    for (const { environment, yes, no } of this.#hours.get(startMs)?.flags.get(flag)?.values() ?? []) {
      const sum = sums.get(environment);
      if (sum === undefined) sums.set(environment, { yes, no });
      else {
        sum.yes += yes;
        sum.no += no;
      }
      summed += 1;
      if (summed === SUMMED_MAX) return;
    }
  }

  /** Steps through all counts: the name of a flag that the application evaluated, or null. A name may come again. */
  *flagsOf(appName: string): Generator<string | null> {
    for (const { flags } of this.#periods()) {
      for (const [flag, counts] of flags) {
        for (const count of counts.values()) yield count.appName === appName ? flag : null;
      }
    }
  }

  /** Folds what is old into days, and drops days that are too old. */
  advance(nowMs: number): void {
    for (const { startMs, flags } of byStart(this.#hours)) {
      const day = floorTo(startMs, DAY_MS);
      if (day + DAY_MS > nowMs - HOURS_KEPT_MS) break;
      const into = this.#period({ kind: 'day', startMs: day });
      for (const [flag, counts] of flags) {
        for (const [key, count] of counts) {
          this.#count(into, key, count, { flag, ...count, variants: count.variants ?? NO_VARIANTS });
        }
      }
      this.#drop(this.#hours, startMs);
    }
    for (const { startMs } of byStart(this.#days)) {
      if (startMs + DAY_MS <= nowMs - DAYS_KEPT_MS) this.#drop(this.#days, startMs);
    }
  }

  /** Returns the changes since the last call; the caller saves them now, or calls `saveAgain`. */
  takeChanges(): PeriodChanges {
    const changed: PeriodId[] = [];
    for (const period of this.#periods()) {
      if (period.isSaved) continue;
      changed.push({ kind: period.kind, startMs: period.startMs });
      period.isSaved = true;
    }
    const removed = this.#removed;
    this.#removed = [];
    return { changed, removed };
  }

  /** Takes back changes that could not be saved. */
  saveAgain({ changed, removed }: PeriodChanges): void {
    for (const id of changed) {
      const period = this.#mapOf(id).get(id.startMs);
      if (period !== undefined) period.isSaved = false;
    }
    this.#removed.push(...removed);
  }

  *rows(id: PeriodId): Generator<CountRow> {
    for (const [flag, counts] of this.#mapOf(id).get(id.startMs)?.flags ?? []) {
      for (const { appName, environment, yes, no, variants } of counts.values()) {
        yield [flag, appName, environment, yes, no, ...[...(variants ?? NO_VARIANTS)].flat()];
      }
    }
  }

  /** Puts back a row that was saved. */
  load(id: PeriodId, [flag, appName, environment, yes, no, ...rest]: CountRow): void {
    const period = this.#period(id);
    const wasSaved = period.isSaved || period.flags.size === 0;
    const variants = new Map<string, number>();
    for (let at = 0; at + 1 < rest.length; at += 2) variants.set(String(rest[at]), Number(rest[at + 1]));
    const who = { appName, environment };
    this.#count(period, keyOf(who), who, { flag, yes, no, variants });
    period.isSaved = wasSaved;
  }

  #count(period: Period, key: string, who: Evaluating, { flag, yes, no, variants }: FlagCounts): void {
    const count = this.#counterOf(period, key, who, flag);
    if (count === null) return;
    period.isSaved = false;
    count.yes = sum(count.yes, yes);
    count.no = sum(count.no, no);
    for (const [variant, number] of variants) this.#countVariant(period, count, variant, number);
  }

  #counterOf(period: Period, key: string, who: Evaluating, flag: string): Count | null {
    const known = period.flags.get(flag)?.get(key);
    if (known !== undefined) return known;
    const bytes = COUNT_BYTES + (period.flags.has(flag) ? 0 : FLAG_BYTES);
    if (!this.#makeRoom(period, bytes)) return null;
    const { appName, environment } = who;
    const count: Count = { appName, environment, yes: 0, no: 0, variants: null };
    let counts = period.flags.get(flag);
    if (counts === undefined) {
      counts = new Map();
      period.flags.set(flag, counts);
    }
    counts.set(key, count);
    return count;
  }

  #countVariant(period: Period, count: Count, variant: string, number: number): void {
    count.variants ??= new Map();
    const before = count.variants.get(variant);
    if (before === undefined) {
      if (variant.length > VARIANT_NAME_LENGTH_MAX || count.variants.size >= VARIANTS_PER_COUNT_MAX) return;
      if (!this.#makeRoom(period, VARIANT_BYTES + 2 * variant.length)) return;
    }
    count.variants.set(variant, sum(before ?? 0, number));
  }

  /** Drops periods that are older than `period`, the oldest first. False when that does not suffice. */
  #makeRoom(period: Period, bytes: number): boolean {
    while (this.#bytes + bytes > this.#bytesMax) {
      const oldest = this.#periods().next().value;
      if (oldest === undefined || oldest === period) {
        this.#droppedCount += 1;
        return false;
      }
      this.#drop(this.#mapOf(oldest), oldest.startMs);
    }
    this.#bytes += bytes;
    period.bytes += bytes;
    return true;
  }

  #period(id: PeriodId): Period {
    const periods = this.#mapOf(id);
    let period = periods.get(id.startMs);
    if (period === undefined) {
      period = { ...id, flags: new Map(), bytes: 0, isSaved: true };
      periods.set(id.startMs, period);
    }
    return period;
  }

  #drop(periods: Map<number, Period>, startMs: number): void {
    const period = periods.get(startMs);
    if (period === undefined) return;
    periods.delete(startMs);
    this.#bytes -= period.bytes;
    this.#removed.push({ kind: period.kind, startMs });
  }

  #mapOf({ kind }: PeriodId): Map<number, Period> {
    return kind === 'hour' ? this.#hours : this.#days;
  }

  /** The oldest first. */
  *#periods(): Generator<Period> {
    yield* byStart(this.#days);
    yield* byStart(this.#hours);
  }
}

const NO_VARIANTS: ReadonlyMap<string, number> = new Map();

/** Names of environments have no line ends. */
function keyOf({ environment, appName }: Evaluating): string {
  return `${environment}\n${appName}`;
}

/** Counts are what clients say, so their sum stays a number that JSON carries exactly. */
function sum(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

function byStart(periods: ReadonlyMap<number, Period>): Period[] {
  return [...periods.values()].sort((a, b) => a.startMs - b.startMs);
}

export function floorTo(timeMs: number, stepMs: number): number {
  return Math.floor(timeMs / stepMs) * stepMs;
}
