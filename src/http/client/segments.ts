/** The segments of the service, as SDKs and their strategies refer to them. */
import type { SegmentSource } from '../../domain/evaluation/segment-test.ts';
import type { World } from '../../domain/state/world.ts';

/** The state knows no segments, so none is found. */
const NONE: ReadonlyMap<number, SegmentSource> = new Map();

/** By id. A segment is replaced as a whole on each change. */
export function segmentsOf(_world: World): ReadonlyMap<number, SegmentSource> {
  return NONE;
}
