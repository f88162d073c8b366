/** The end of a journal, and what it tells of itself. */

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
