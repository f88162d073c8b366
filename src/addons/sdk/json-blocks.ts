/**
 * A long JSON list as bytes, of which a change remakes little. Its items are kept in blocks, and only the blocks in
 * which an item changed are encoded again. The bytes of a block are a part of the list that was made last: they are kept once.
 */
import { createHash } from 'node:crypto';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import type { SegmentSource } from './evaluation/segment-test.ts';
import { clientFlagJson, type FlagSurroundings } from './flag-view.ts';

/** So many items are one block: few enough to encode in microseconds, and few blocks to put together. */
export const BLOCK_ITEMS = 128;

/** Characters at which a block of large items ends before: to encode and hash them takes a millisecond or two. */
export const BLOCK_LENGTH_MAX = 192 * 1024;

export interface JsonItem {
  readonly json: string;
  /** Equal for equal texts, and for no others. */
  readonly digest: string;
}

export class JsonBlock {
  readonly digests: readonly string[];
  bytes: Buffer;
  #hash: Buffer | null = null;

  constructor(items: readonly JsonItem[]) {
    this.digests = items.map(({ digest }) => digest);
    this.bytes = Buffer.from(items.map(({ json }) => json).join(','));
  }

  /** SHA-256 of the bytes. Hashed once. */
  hash(): Buffer {
    this.#hash ??= createHash('sha256').update(this.bytes).digest();
    return this.#hash;
  }
}

/** Cuts a list into blocks, while its items come. */
export class BlockList {
  readonly #known: readonly JsonBlock[];
  readonly #made: JsonBlock[] = [];
  #items: JsonItem[] = [];
  #length = 0;

  /** `known` are those of the list as it was before. Where one has the same items in the same place, it is used again. */
  constructor(known: readonly JsonBlock[]) {
    this.#known = known;
  }

  add(item: JsonItem): void {
    this.#items.push(item);
    this.#length += item.json.length;
    if (this.#items.length === BLOCK_ITEMS || this.#length >= BLOCK_LENGTH_MAX) this.#close();
  }

  /** To be called once, behind the last item. */
  end(): readonly JsonBlock[] {
    if (this.#items.length > 0) this.#close();
    return this.#made;
  }

  #close(): void {
    const known = this.#known[this.#made.length];
    const block =
      known !== undefined && isSame(this.#items, known.digests) ? known : new JsonBlock(this.#items);
    block.hash();
    this.#made.push(block);
    this.#items = [];
    this.#length = 0;
  }
}

function isSame(items: readonly JsonItem[], digests: readonly string[]): boolean {
  return items.length === digests.length && items.every(({ digest }, at) => digest === digests[at]);
}

/** The bytes of the items, with the commas between blocks. */
export function listed(blocks: readonly JsonBlock[]): Buffer[] {
  return blocks.flatMap(({ bytes }, at) => (at === 0 ? [bytes] : [COMMA, bytes]));
}

const COMMA = Buffer.from(',');

/** Joins the pieces, one in each step: 32 MiB at once would hold the event loop for 20 ms. */
export function* joining(pieces: readonly Uint8Array[]): Generator<void, Buffer> {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
    yield;
  }
  return whole;
}

/** The blocks hold on to the list in `whole`, which begins at `start`, and no longer to bytes of their own or to the list before. */
export function holdOnTo(blocks: readonly JsonBlock[], whole: Buffer, start: number): void {
  let at = start;
  for (const block of blocks) {
    block.bytes = whole.subarray(at, at + block.bytes.byteLength);
    at += block.bytes.byteLength + COMMA.byteLength;
  }
}

// Flags as the JSON of SDKs, each made once per change of what it shows. The texts are part of the cache, all those of one environment
// together. A flag's text is identified by its digest.

/** The look of a flag without its text. Equal texts have equal looks. */
export interface FlagLook {
  readonly digest: string;
  readonly project: string;
  /** Ids of the segments that its strategies refer to and that exist, without disabled strategies. */
  readonly segments: readonly number[];
}

export interface FlagBlock {
  readonly json: string;
  /** May be kept without the text. */
  readonly look: FlagLook;
  /** The segments that its strategies refer to, without disabled ones; undefined for one that does not exist. */
  readonly sources: readonly (SegmentSource | undefined)[];
}

interface CachedBlock {
  readonly flag: Flag;
  readonly environmentEnabled: boolean;
  readonly block: FlagBlock;
}

/** Beside the text: the look, the entry, and what the map takes for it. */
const BYTES_EACH = 300;

const NO_SEGMENTS: readonly never[] = [];

/** The blocks of one environment, for clients that all know segments, or all do not. */
export class FlagBlocks {
  readonly #onResized: (blocks: FlagBlocks) => void;
  readonly #cache = new Map<string, CachedBlock>();
  #bytes = 0;

  /** `onResized` is called when the blocks take more bytes than before. */
  constructor(onResized: (blocks: FlagBlocks) => void = () => undefined) {
    this.#onResized = onResized;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `around` must be of the environment and the clients that these blocks are for. */
  of({ flag }: FlagRecord, around: FlagSurroundings): FlagBlock {
    const cached = this.#cache.get(flag.name);
    if (cached !== undefined && cached.flag === flag && isCurrent(cached, around)) return cached.block;
    const block = made(flag, around);
    this.#cache.set(flag.name, { flag, environmentEnabled: around.environmentEnabled, block });
    this.#bytes += bytesOf(block) - (cached === undefined ? 0 : bytesOf(cached.block));
    this.#onResized(this);
    return block;
  }

  /** Makes room: all are made again when they are asked for. */
  forget(): void {
    this.#cache.clear();
    this.#bytes = 0;
  }
}

const bytesOf = ({ json }: FlagBlock): number => json.length + BYTES_EACH;

function made(flag: Flag, around: FlagSurroundings): FlagBlock {
  const { strategies } = environmentOf(flag, around.environment);
  const ids = new Set(strategies.flatMap(({ disabled, segments }) => (disabled === true ? [] : segments)));
  const json = clientFlagJson(flag, around);
  const sources = ids.size === 0 ? NO_SEGMENTS : [...ids].map((id) => around.segment(id));
  const segments = ids.size === 0 ? NO_SEGMENTS : sources.flatMap((one) => one?.id ?? []);
  const digest = createHash('sha256').update(json).digest('binary');
  return { json, look: { digest, project: flag.project, segments }, sources };
}

function isCurrent(
  { environmentEnabled, block: { sources } }: CachedBlock,
  around: FlagSurroundings,
): boolean {
  if (environmentEnabled !== around.environmentEnabled) return false;
  return sources.every((one) => one !== undefined && around.segment(one.id) === one);
}
