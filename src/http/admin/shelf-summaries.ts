/**
 * The summaries of the flags on a shelf as one piece of JSON: what lists are put together from. When a flag on the shelf changes, the
 * bytes of the others are copied and not made again.
 */
import type { CachePart } from '../../actors/cache.ts';
import type { FlagSeen, FlagsSeen } from '../../actors/usage-view.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { FlagProjection, type FlagShelf, type ShelvedFlags } from '../../domain/state/flag-record.ts';
import type { Environment } from '../../domain/state/world.ts';
import { flagSummary } from './render-flag.ts';
import type { ShelfWork } from './shelf-walk.ts';

export interface SummarySources {
  readonly seen: FlagsSeen;
  /** The environments of the project. */
  readonly environments: readonly Environment[];
  /** Tells one list of environments from another. */
  readonly environmentsRevision: number;
  /** Bytes of what is cached beside each shelf. */
  readonly kept: CachePart<FlagShelf, number>;
}

export interface ShelfSummaries {
  readonly of: ShelvedFlags;
  readonly environmentsRevision: number;
  /** Up to which `seen` is known to hold. */
  seenVersion: number;
  readonly seen: readonly (FlagSeen | null)[];
  /** The summaries of the flags that are not archived, separated by commas. */
  readonly bytes: Buffer;
  /** For each flag where its summary begins and ends; both are the same for one that is archived. */
  readonly bounds: Uint32Array;
  readonly uses: UseSum;
}

/**
 * Stands for the times at which some flags were seen in use, whatever shelves they stand on. No two of these times are the same, so
 * lists that show different ones have different sums.
 */
export class UseSum {
  #high = 0;
  #low = 0;

  add(seen: FlagSeen | null): void {
    if (seen !== null) this.#add(scrambled(seen.atMs), scrambled(seen.atMs + 0.5));
  }

  addAll({ uses }: Pick<ShelfSummaries, 'uses'>): void {
    this.#add(uses.#high, uses.#low);
  }

  /** For an ETag; empty where none was ever seen. */
  get tag(): string {
    if (this.#high === 0 && this.#low === 0) return '';
    return `-s${this.#high.toString(36)}x${this.#low.toString(36)}`;
  }

  #add(high: number, low: number): void {
    this.#high = (this.#high + high) >>> 0;
    this.#low = (this.#low + low) >>> 0;
  }
}

const scramblable = new Float64Array(1);
const words = new Uint32Array(scramblable.buffer);

/** 32 bits of the number, mixed: the finalizer of MurmurHash3. */
function scrambled(value: number): number {
  scramblable[0] = value;
  let hash = words[0]! ^ Math.imul(words[1]!, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const cache = new FlagProjection<ShelfSummaries>();

export function summariesWork(sources: SummarySources): ShelfWork<ShelfSummaries> {
  return {
    known: (shelved) => {
      const { shelf } = shelved;
      const known = cache.get(shelf);
      if (known === undefined || known.of !== shelved || !isCurrent(known, sources)) return undefined;
      sources.kept.get(shelf);
      return known;
    },
    *make(shelved) {
      const { shelf } = shelved;
      const fresh = yield* summariesOf(shelved, sources, cache.get(shelf));
      cache.set(shelf, fresh);
      sources.kept.set(shelf, fresh.bytes.byteLength);
      return fresh;
    },
  };
}

export function forgetSummaries(shelf: FlagShelf): void {
  cache.drop(shelf);
}

function isCurrent(known: ShelfSummaries, { environmentsRevision, seen }: SummarySources): boolean {
  if (known.environmentsRevision !== environmentsRevision) return false;
  if (known.seenVersion === seen.version) return true;
  if (!known.of.flags.every(({ name }, at) => seen.flag(name) === known.seen[at])) return false;
  known.seenVersion = seen.version;
  return true;
}

function* summariesOf(
  of: ShelvedFlags,
  { seen, environments, environmentsRevision }: SummarySources,
  before: ShelfSummaries | undefined,
): Generator<void, ShelfSummaries> {
  const seenVersion = seen.version;
  const seenNow = of.flags.map(({ name }) => seen.flag(name));
  const reusable = before?.environmentsRevision === environmentsRevision ? before : undefined;
  const places = new Map(reusable?.of.flags.map((flag, at) => [flag, at]));
  const pieces: Buffer[] = [];
  const bounds = new Uint32Array(2 * of.flags.length);
  const uses = new UseSum();
  let length = 0;
  const push = (piece: Buffer): void => {
    pieces.push(piece);
    length += piece.byteLength;
  };
  for (const [at, flag] of of.flags.entries()) {
    if (flag.archivedAt === null) {
      if (length > 0) push(COMMA);
      bounds[2 * at] = length;
      const flagSeen = seenNow[at]!;
      const known = reused(reusable, places.get(flag), flagSeen);
      push(known ?? Buffer.from(JSON.stringify(flagSummary(of.records[at]!, flag, environments, flagSeen))));
      if (known === null) yield;
      uses.add(flagSeen);
    } else {
      bounds[2 * at] = length;
    }
    bounds[2 * at + 1] = length;
  }
  return {
    of,
    environmentsRevision,
    seenVersion,
    seen: seenNow,
    bytes: Buffer.concat(pieces, length),
    bounds,
    uses,
  };
}

function reused(
  before: ShelfSummaries | undefined,
  at: number | undefined,
  seen: FlagSeen | null,
): Buffer | null {
  return before !== undefined && at !== undefined && before.seen[at] === seen ? summaryAt(before, at) : null;
}

export function withFavorites(summaries: ShelfSummaries, names: ReadonlySet<string>): Buffer {
  const { of, bytes, bounds } = summaries;
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const [at, { name, archivedAt }] of of.flags.entries()) {
    if (archivedAt !== null || !names.has(name)) continue;
    const from = bounds[2 * at]!;
    const to = bounds[2 * at + 1]!;
    pieces.push(bytes.subarray(copied, from), asFavorite(bytes.subarray(from, to)));
    copied = to;
  }
  return copied === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(copied)]);
}

/** No text in the JSON can hold the field, because its quotes would have backslashes before them. */
export function asFavorite(summary: Buffer): Buffer {
  const at = summary.indexOf(NO_FAVORITE);
  return Buffer.concat([summary.subarray(0, at), FAVORITE, summary.subarray(at + NO_FAVORITE.byteLength)]);
}

const NO_FAVORITE = Buffer.from('"favorite":false');
const FAVORITE = Buffer.from('"favorite":true');

/** The summary of a flag that is not archived. */
export function summaryAt({ bytes, bounds }: ShelfSummaries, at: number): Buffer {
  return bytes.subarray(bounds[2 * at], bounds[2 * at + 1]);
}

/** With its summary, each flag of the shelf that is not archived. */
export function* listedFlags(summaries: ShelfSummaries): Generator<readonly [Flag, Buffer, FlagSeen | null]> {
  for (const [at, flag] of summaries.of.flags.entries())
    if (flag.archivedAt === null) yield [flag, summaryAt(summaries, at), summaries.seen[at] ?? null];
}

const COMMA = Buffer.from(',');
