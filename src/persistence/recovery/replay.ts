/** Hands the frames of a journal to the loader of a state while the journal is verified, so that a start reads each file once. */
import assert from 'node:assert/strict';
import { NewerContent } from '../../domain/state/upgrade.ts';
import { ADVICE_DAMAGED, ADVICE_NEWER, DataFolderError } from '../disk/data-folder.ts';
import type { DeferredPart } from '../journal/deferred-part.ts';
import { type FramePosition, lastEventId, type RecordedFrame } from '../journal/frame.ts';
import type { RawFrame } from '../journal/frame-format.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import type { OpenSegment } from '../journal/segment-file.ts';
import type { SnapshotStamp } from '../snapshots/snapshot-format.ts';

/**
 * Receives the state. What `load` throws makes the snapshot a bad one, so that an older one is used; what `replay`
 * throws is a refusal: the event does not match the state.
 */
export interface Loader {
  /** Called before anything is loaded, and again when that was of no use: forget everything. */
  reset(): void;
  load(section: string, record: unknown): void;
  replay(frame: RecordedFrame, position: FramePosition): void;
  /** Why what a snapshot of event `id` has loaded cannot be the state of then; null where it can. */
  problemAt?(id: number): string | null;
  /** Takes a frame whose events the snapshot holds. */
  pass?(segment: OpenSegment, raw: RawFrame, payload: Buffer): void;
  /** Leaves a part for later, with all frames that were passed of its segment. */
  defer?(part: DeferredPart): void;
}

interface Place {
  readonly file: string;
  readonly offset?: number;
  readonly lastGoodEventId?: number;
}

/** Turns an error of the loader into a refusal that names the place. */
export function attempt(step: () => void, place: Place, what: string): void {
  try {
    step();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = cause instanceof NewerContent ? ADVICE_NEWER : ADVICE_DAMAGED;
    const details = { ...place, advice, cause };
    throw new DataFolderError(`The state cannot be rebuilt: ${what} does not fit: ${reason}`, details);
  }
}

/** Insists that the ids of what is replayed follow each other, and the snapshot, without a gap. */
export class Replay {
  readonly #loader: Loader;
  readonly #snapshot: SnapshotStamp | null;
  lastId: number;
  frames = 0;
  events = 0;
  bytes = 0;
  /** Why the state could not be rebuilt; what follows was not replayed. */
  problem: DataFolderError | null = null;
  /** Whether the journal does not join the snapshot, which the decision refuses. */
  #isApart = false;

  constructor(loader: Loader, snapshot: SnapshotStamp | null) {
    this.#loader = loader;
    this.#snapshot = snapshot;
    this.lastId = snapshot?.id ?? 0;
  }

  visit(segment: OpenSegment, raw: RawFrame, payload: Buffer): void {
    const id = peekId(payload) ?? 0;
    const isFirst = this.frames === 0 && id > this.lastId;
    const follows = id === this.lastId + 1 && raw.previous === (this.#snapshot?.chain ?? raw.previous);
    if (isFirst && !follows) this.#isApart = true;
    if (this.problem !== null || this.#isApart) return;
    try {
      if (this.frames === 0 && id <= this.lastId) this.#loader.pass?.(segment, raw, payload);
      else this.#replay(segment, raw, payload);
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      this.problem = error;
    }
  }

  #replay({ path: file, firstId }: OpenSegment, raw: RawFrame, payload: Buffer): void {
    const place: Place = { file, offset: raw.offset, lastGoodEventId: this.lastId };
    const decoded = decodePayload(payload, raw);
    if (decoded.problem !== null) {
      const problem = `The journal holds data that the server never writes: ${decoded.problem}`;
      throw new DataFolderError(problem, { ...place, advice: ADVICE_DAMAGED });
    }
    const { frame } = decoded;
    if (frame.id !== this.lastId + 1) {
      const problem = `The journal has event ${frame.id} where event ${this.lastId + 1} should be`;
      throw new DataFolderError(problem, { ...place, advice: ADVICE_DAMAGED });
    }
    const length = raw.headerBytes + raw.payloadBytes;
    const position = { segment: firstId, offset: raw.offset, length };
    attempt(() => this.#loader.replay(frame, position), place, `event ${frame.id}`);
    assert(lastEventId(frame) > this.lastId, 'a frame has an event');
    this.lastId = lastEventId(frame);
    this.frames += 1;
    this.events += frame.events.length;
    this.bytes += length;
  }
}
