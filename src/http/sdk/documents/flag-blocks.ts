/**
 * Flags as the JSON of SDKs, each made once per change of what it shows. The texts are part of the cache, all those of one environment
 * together. A flag's text is identified by its digest.
 */
import { createHash } from 'node:crypto';
import type { SegmentSource } from '../../../domain/evaluation/segment-test.ts';
import { environmentOf, type Flag } from '../../../domain/flags/flag.ts';
import type { FlagRecord } from '../../../domain/state/flag-record.ts';
import { clientFlagJson, type FlagSurroundings } from './flag-view.ts';

/** The look of a flag without its text. Equal texts have equal looks. */
export interface FlagLook {
  /** SHA-256 of the text. */
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
  /** The flag that the block shows. */
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
  readonly #cache = new Map<FlagRecord, CachedBlock>();
  #bytes = 0;

  /** `onResized` is told when the blocks take more bytes than before. */
  constructor(onResized: (blocks: FlagBlocks) => void = () => undefined) {
    this.#onResized = onResized;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `around` must be of the environment and the clients that these blocks are for. */
  of(record: FlagRecord, around: FlagSurroundings): FlagBlock {
    return this.at(record, record.flag, around);
  }

  /** The block of the record as it was when it held the flag. */
  at(record: FlagRecord, flag: Flag, around: FlagSurroundings): FlagBlock {
    const cached = this.#cache.get(record);
    if (cached !== undefined && cached.flag === flag && isCurrent(cached, around)) return cached.block;
    const block = made(flag, around);
    if (record.flag !== flag) return block;
    this.#cache.set(record, { flag, environmentEnabled: around.environmentEnabled, block });
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
