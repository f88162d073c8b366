/**
 * The summaries of the flags in a chunk as one piece of JSON: what lists are put together from. When a flag in the chunk changes, the
 * bytes of the others are copied and not made again.
 */
import type { CachePart } from '../../actors/cache.ts';
import type { FlagSeen, FlagsSeen } from '../../actors/usage-view.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import type { Environment, World } from '../../domain/state/world.ts';
import { Projection, type Slot } from '../../domain/value/projection.ts';
import type { ChunkWork } from './chunk-walk.ts';
import { flagSummary } from './render-flag.ts';

export interface SummarySources {
  readonly world: World;
  readonly seen: FlagsSeen;
  /** The environments of the project. */
  readonly environments: readonly Environment[];
  /** Tells one list of environments from another. */
  readonly environmentsRevision: number;
  /** Bytes of what is cached beside each chunk. */
  readonly kept: CachePart<Slot, number>;
}

export interface ChunkSummaries {
  readonly of: FlagChunk;
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
 * Stands for the times at which some flags were seen in use, whatever chunks they stand in. No two of these times are the same, so
 * lists that show different ones have different sums.
 */
export class UseSum {
  #high = 0;
  #low = 0;

  add(seen: FlagSeen | null): void {
    if (seen === null) return;
    // An older report may come later, and be the first one of its environment.
    this.#add(scrambled(seen.atMs), scrambled(seen.atMs + 1 / (2 + seen.first.size)));
  }

  addAll({ uses }: Pick<ChunkSummaries, 'uses'>): void {
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

const cache = new Projection<ChunkSummaries>();

export function summariesWork(sources: SummarySources): ChunkWork<ChunkSummaries> {
  return {
    known: (chunk) => {
      const known = cache.get(chunk);
      if (known === undefined || known.of !== chunk || !isCurrent(known, sources)) return undefined;
      sources.kept.get(chunk.slot);
      return known;
    },
    *make(chunk) {
      const fresh = yield* summariesOf(chunk, sources, cache.get(chunk));
      cache.set(chunk, fresh);
      sources.kept.set(chunk.slot, fresh.bytes.byteLength);
      return fresh;
    },
  };
}

export function forgetSummaries(slot: Slot): void {
  cache.dropIn(slot);
}

function isCurrent(known: ChunkSummaries, { environmentsRevision, seen }: SummarySources): boolean {
  if (known.environmentsRevision !== environmentsRevision) return false;
  if (known.seenVersion === seen.version) return true;
  if (!known.of.values.every(({ flag }, at) => seen.flag(flag.name) === known.seen[at])) return false;
  known.seenVersion = seen.version;
  return true;
}

function* summariesOf(
  of: FlagChunk,
  { world, seen, environments, environmentsRevision }: SummarySources,
  before: ChunkSummaries | undefined,
): Generator<void, ChunkSummaries> {
  const seenVersion = seen.version;
  const seenNow = of.values.map(({ flag }) => seen.flag(flag.name));
  const reusable = before?.environmentsRevision === environmentsRevision ? before : undefined;
  // By records: one that is completed has another, and is the same flag.
  const places = new Map(reusable?.of.values.map((record, at) => [record, at]));
  const pieces: Buffer[] = [];
  const bounds = new Uint32Array(2 * of.values.length);
  const uses = new UseSum();
  let length = 0;
  const push = (piece: Buffer): void => {
    pieces.push(piece);
    length += piece.byteLength;
  };
  for (const [at, record] of of.values.entries()) {
    const { flag } = record;
    if (flag.archivedAt === null) {
      if (length > 0) push(COMMA);
      bounds[2 * at] = length;
      const flagSeen = seenNow[at]!;
      const known = reused(reusable, places.get(record), flagSeen);
      push(known ?? Buffer.from(JSON.stringify(flagSummary(world, record, environments, flagSeen))));
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
  before: ChunkSummaries | undefined,
  at: number | undefined,
  seen: FlagSeen | null,
): Buffer | null {
  return before !== undefined && at !== undefined && before.seen[at] === seen ? summaryAt(before, at) : null;
}

export function withFavorites(summaries: ChunkSummaries, names: ReadonlySet<string>): Buffer {
  const { of, bytes, bounds } = summaries;
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const [at, { flag }] of of.values.entries()) {
    if (flag.archivedAt !== null || !names.has(flag.name)) continue;
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
export function summaryAt({ bytes, bounds }: ChunkSummaries, at: number): Buffer {
  return bytes.subarray(bounds[2 * at], bounds[2 * at + 1]);
}

/** With its summary, each flag of the chunk that is not archived. */
export function* listedFlags(summaries: ChunkSummaries): Generator<readonly [Flag, Buffer, FlagSeen | null]> {
  for (const [at, { flag }] of summaries.of.values.entries())
    if (flag.archivedAt === null) yield [flag, summaryAt(summaries, at), summaries.seen[at] ?? null];
}

const COMMA = Buffer.from(',');
