/** Flags as the JSON of SDKs, each made once per change of what it shows and kept beside the flag. */
import type { SegmentSource } from '../../domain/evaluation/segment-test.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { FlagProjection } from '../../domain/state/flag-projection.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { clientFlagView, type FlagSurroundings } from './flag-view.ts';

export interface FlagBlock {
  readonly json: string;
  /** Those that its strategies refer to, without disabled ones; undefined for one that does not exist. */
  readonly segments: readonly (SegmentSource | undefined)[];
  readonly environmentEnabled: boolean;
}

const NO_SEGMENTS: FlagBlock['segments'] = [];

/** Of one environment, for clients that all know segments, or all do not. */
export class FlagBlocks {
  readonly #kept = new FlagProjection<FlagBlock>();

  /** `around` must be of the environment and the clients that these blocks are for. */
  of(record: FlagRecord, around: FlagSurroundings): FlagBlock {
    const known = this.#kept.get(record);
    if (known !== undefined && isCurrent(known, around)) return known;
    const fresh = this.#made(record.flag, around);
    this.#kept.set(record, fresh);
    return fresh;
  }

  /** Of the record as it was when it held the flag. */
  at(record: FlagRecord, flag: Flag, around: FlagSurroundings): FlagBlock {
    return record.flag === flag ? this.of(record, around) : this.#made(flag, around);
  }

  #made(flag: Flag, around: FlagSurroundings): FlagBlock {
    const { strategies } = environmentOf(flag, around.environment);
    const ids = new Set(strategies.flatMap(({ disabled, segments }) => (disabled === true ? [] : segments)));
    return {
      json: JSON.stringify(clientFlagView(flag, around)),
      segments: ids.size === 0 ? NO_SEGMENTS : [...ids].map((id) => around.segment(id)),
      environmentEnabled: around.environmentEnabled,
    };
  }
}

function isCurrent({ environmentEnabled, segments }: FlagBlock, around: FlagSurroundings): boolean {
  if (environmentEnabled !== around.environmentEnabled) return false;
  return (
    segments === NO_SEGMENTS || segments.every((one) => one !== undefined && around.segment(one.id) === one)
  );
}
