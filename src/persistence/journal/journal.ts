/**
 * The journal as the engine sees it: the chain of all frames, which every node keeps, and a guarantee about each.
 *
 * `FileJournal` (file-journal.ts) keeps it in files of this machine. Whether that alone makes a frame durable, or other
 * machines have to have it too, is the commit log's to say (commit-log.ts).
 */
import type { Frame, FramePosition } from './frame.ts';
import type { FrameBody } from './frame-format.ts';

/** The end of the journal, at which appending continues. */
export interface JournalTail {
  /** Id of the last event; 0 when there is none. */
  readonly lastId: number;
  /** Its time, in milliseconds since 1970. */
  readonly lastAt: number;
  /** Checksum of its frame. */
  readonly chain: number;
  /** The segment to append to, by its first event id; null when the next frame begins the first one. */
  readonly segment: number | null;
  readonly offset: number;
  /** Whether that segment is of the format that is written; else the next batch begins a segment. */
  readonly isEndAppendable: boolean;
}

export const EMPTY_TAIL: JournalTail = {
  lastId: 0,
  lastAt: 0,
  chain: 0,
  segment: null,
  offset: 0,
  isEndAppendable: false,
};

export interface CommitObservation {
  readonly frames: number;
  readonly bytes: number;
  /** Milliseconds that the write and its sync took together. */
  readonly tookMs: number;
}

export interface JournalStats {
  readonly batches: number;
  readonly frames: number;
  readonly bytes: number;
  readonly freeBytes: number;
}

/** Invariant 3 is the implementation's to keep: `durableId` moves when the disk has confirmed, and in order. */
export interface Journal {
  /**
   * Adds a frame to the open batch. Its first id follows the last one appended. `body` is the frame as
   * the node that decided it has encoded it; it is copied.
   */
  append(frame: Frame, body?: FrameBody): FramePosition;
  /** Starts writing what was appended, unless a write is under way; its end starts the next one. */
  commit(): void;
  /** Id of the last event appended, and of the last one on disk. */
  readonly appendedId: number;
  readonly durableId: number;
  /** Checksums of the last frame appended, and of the last one on disk. */
  readonly appendedChain: number;
  readonly durableChain: number;
  readonly pendingFrames: number;
  readonly pendingBytes: number;
  /** Milliseconds since the batch under way was handed to the disk and the commit log; 0 where none is. */
  readonly uncommittedMs: number;
  /** Whether a new command should be accepted. Calling it may start a check of the free space. */
  readonly writable: boolean;
  readonly refusalReason: string | null;
  /** Resolves when all that was appended before the call is on disk; rejects when the journal has failed. */
  flush(): Promise<void>;
  close(): Promise<void>;
  /** Compares all that the journal knows of its end; for the simulation. */
  audit(): void;
  stats(): JournalStats;
}
