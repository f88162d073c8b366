/** A frame: one committed command. All of its events survive a crash, or none (invariant 2). */
import assert from 'node:assert/strict';
import type { RecordedEvent } from '../../domain/state/events.ts';
import type { LineageMark } from '../../domain/state/lineage.ts';

export interface Frame {
  /** Id of the first event; the others follow without a gap. */
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by: string;
  readonly userId: number;
  /** At least one. */
  readonly events: readonly RecordedEvent[];
  /** The response to an idempotent request, kept for retries. */
  readonly answer?: unknown;
  /** The name that ETags have from this frame on, in the first frame that a start of the server wrote. */
  readonly lineage?: LineageMark;
}

/** A frame as it is read back: its events are upgraded to the content that this build records. */
export interface RecordedFrame extends Frame {
  /** The rules that it is replayed by (replay-rules.ts). */
  readonly rules: number;
}

/** The place of a frame: the segment by its first event id, the offset of the header, header and payload in bytes. */
export interface FramePosition {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** A place between two frames: everything up to one event lies before it. */
export interface Boundary {
  readonly segment: number;
  readonly offset: number;
  /** Checksum of the frame before. */
  readonly chain: number;
}

/** Protects recovery's memory: no length field makes it allocate more. A request body is limited to 1 MiB. */
export const FRAME_BYTES_MAX = 32 * 1024 * 1024;

export function lastEventId({ id, events }: Frame): number {
  assert(events.length > 0, 'a frame has an event');
  return id + events.length - 1;
}
