/**
 * Counts of evaluations by flag, application, environment and hour, of one side, bounded in bytes. Hours older than two days are
 * folded into the days that they belong to, and days are dropped after 90. At the bound, the oldest period goes first; what would not
 * even fit into the newest one is not counted, and `droppedCount` says how often that happened.
 *
 * Time comes in as an argument.
 */
import { type FlagCounts, VARIANT_NAME_LENGTH_MAX, VARIANTS_PER_COUNT_MAX } from './reports.ts';
import { SavedTable } from './saved-table.ts';

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

/** One count, with the flag and the start of the period that it is of. */
export interface FlagCount {
  readonly flag: string;
  readonly startMs: number;
  readonly count: Readonly<Count>;
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

type TakeCounts = (period: Period, who: Evaluating, counts: FlagCounts) => void;

class Period extends SavedTable<CountRow> implements PeriodId {
  readonly kind: PeriodId['kind'];
  readonly startMs: number;
  /** By flag, then by application and environment. */
  readonly flags = new Map<string, Map<string, Count>>();
  readonly #take: TakeCounts;
  bytes = 0;

  constructor({ kind, startMs }: PeriodId, take: TakeCounts) {
    super();
    this.kind = kind;
    this.startMs = startMs;
    this.#take = take;
  }

  *rows(): Generator<CountRow> {
    for (const [flag, counts] of this.flags) {
      for (const { appName, environment, yes, no, variants } of counts.values()) {
        yield [flag, appName, environment, yes, no, ...[...(variants ?? NO_VARIANTS)].flat()];
      }
    }
  }

  load([flag, appName, environment, yes, no, ...rest]: CountRow): void {
    const wasSaved = this.isSaved;
    const variants: (readonly [string, number])[] = [];
    for (let at = 0; at + 1 < rest.length; at += 2) variants.push([String(rest[at]), Number(rest[at + 1])]);
    this.#take(this, { appName, environment }, { flag, yes, no, variants });
    this.isSaved = wasSaved;
  }
}

export class UsageTable {
  readonly #bytesMax: number;
  /** By kind and start; the days end where the hours begin. */
  readonly #periods = new Map<string, Period>();
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
    const period = this.period({ kind: 'hour', startMs: floorTo(isPlausible ? startMs : nowMs, HOUR_MS) });
    for (const counted of counts) this.#count(period, who, counted);
  }

  /** Counts of the periods that begin at `sinceMs` or later, the newest first. */
  *countsOf(flag: string, kind: PeriodId['kind'], sinceMs: number): Generator<PeriodCount> {
    for (const period of this.#of(kind).toReversed()) {
      if (period.startMs < sinceMs) return;
      for (const count of period.flags.get(flag)?.values() ?? []) yield { startMs: period.startMs, ...count };
    }
  }

  /** Steps through the counts of all flags, or those of one, in the periods that begin at `sinceMs` or later. */
  *countsSince(kind: PeriodId['kind'], sinceMs: number, only = ''): Generator<FlagCount> {
    for (const { startMs, flags } of this.#of(kind)) {
      if (startMs < sinceMs) continue;
      const found = only === '' ? flags : [[only, flags.get(only) ?? NO_COUNTS] as const];
      for (const [flag, counts] of found) for (const count of counts.values()) yield { flag, startMs, count };
    }
  }

  /** Adds the counts of the hour that began at `startMs` to the sums, which are by environment. */
  addHour(flag: string, startMs: number, sums: Map<string, { yes: number; no: number }>): void {
    let summed = 0;
    for (const { environment, yes, no } of this.#periods
      .get(idOf({ kind: 'hour', startMs }))
      ?.flags.get(flag)
      ?.values() ?? []) {
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
    for (const { flags } of this.periods()) {
      for (const [flag, counts] of flags) {
        for (const count of counts.values()) yield count.appName === appName ? flag : null;
      }
    }
  }

  /** Folds what is old into days, and drops days that are too old. */
  advance(nowMs: number): void {
    for (const hour of this.#of('hour')) {
      const day = floorTo(hour.startMs, DAY_MS);
      if (day + DAY_MS > nowMs - HOURS_KEPT_MS) break;
      const into = this.period({ kind: 'day', startMs: day });
      for (const [flag, counts] of hour.flags)
        for (const count of counts.values())
          this.#count(into, count, { flag, ...count, variants: [...(count.variants ?? NO_VARIANTS)] });
      this.#drop(hour);
    }
    for (const day of this.#of('day')) if (day.startMs + DAY_MS <= nowMs - DAYS_KEPT_MS) this.#drop(day);
  }

  /** The oldest first. */
  *periods(): Generator<Period> {
    yield* this.#of('day');
    yield* this.#of('hour');
  }

  /** Made where it is not there. */
  period(id: PeriodId): Period {
    const key = idOf(id);
    let period = this.#periods.get(key);
    if (period === undefined) {
      period = new Period(id, (...counted) => this.#count(...counted));
      this.#periods.set(key, period);
    }
    return period;
  }

  #count(period: Period, who: Evaluating, { flag, yes, no, variants }: FlagCounts): void {
    const count = this.#counterOf(period, who, flag);
    if (count === null) return;
    period.saveAgain();
    count.yes = sum(count.yes, yes);
    count.no = sum(count.no, no);
    for (const [variant, number] of variants) this.#countVariant(period, count, variant, number);
  }

  #counterOf(period: Period, who: Evaluating, flag: string): Count | null {
    const key = keyOf(who);
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
      const oldest = this.periods().next().value;
      if (oldest === undefined || oldest === period) {
        this.#droppedCount += 1;
        return false;
      }
      this.#drop(oldest);
    }
    this.#bytes += bytes;
    period.bytes += bytes;
    return true;
  }

  #drop(period: Period): void {
    if (this.#periods.delete(idOf(period))) this.#bytes -= period.bytes;
  }

  /** By start. */
  #of(kind: PeriodId['kind']): Period[] {
    return [...this.#periods.values()]
      .filter((period) => period.kind === kind)
      .sort((a, b) => a.startMs - b.startMs);
  }
}

const NO_COUNTS: ReadonlyMap<string, Count> = new Map();
const NO_VARIANTS: ReadonlyMap<string, number> = new Map();

/** Names of environments have no line ends. */
function keyOf({ environment, appName }: Evaluating): string {
  return `${environment}\n${appName}`;
}

/** Counts are what clients say, so their sum stays a number that JSON carries exactly. */
function sum(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

/** The part of the name of its file that tells it from others. */
export const idOf = ({ kind, startMs }: PeriodId): string => `${kind}-${startMs}`;

export function floorTo(timeMs: number, stepMs: number): number {
  return Math.floor(timeMs / stepMs) * stepMs;
}
