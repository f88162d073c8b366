/**
 * The log that the nodes of a cluster share, as an engine that replicates offers it: an order of records that every node
 * sees alike. Consensus is its business. Flagstaff brings the fence: a record is appended at an expected position, so of
 * two nodes that write at the same place one gets a conflict.
 *
 * What an adapter guarantees, and its contract suite (test/addons/replication/replicated-log-contract.ts) checks:
 * - Positions are 1, 2, 3 and so on. What stands at a position never changes.
 * - `append` at position n succeeds only where n is the last position at that moment. `conflict` means that nothing was
 *   appended by this call or by an earlier one of the same caller whose outcome is known; `unknown` means that the
 *   record may be there, may never be, or may still arrive.
 * - `extent` comes from the part of the log that decides: where that may be cut off from its majority, it rejects.
 * - `read` asks the same part, and may find nothing where a record is: `extent` says whether that can be.
 * - What is purged is gone for every node, and positions stay what they are.
 * - A lost log causes a `LogGoneError`, and one recreated since it was opened a `FencedError`.
 * - New records and announcements are sent to the nodes that listen, and may be lost, delayed or doubled. A record is sent
 *   with the position that it has in the log, once it has it.
 */
import { EXIT } from '../../process/exit-codes.ts';
import { ExitError } from '../../process/exit-error.ts';

/** Records that are larger are refused: servers take messages of 1 MiB unless they are configured otherwise. */
export const RECORD_BYTES_MAX = 768 * 1024;

export type AppendOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown'; readonly cause: unknown };

/** Positions of the oldest record that is kept and of the newest one; `last` is 0 in a log that never held any. */
export interface LogExtent {
  readonly first: number;
  readonly last: number;
}

export interface LogRecord {
  readonly position: number;
  /** Belongs to the receiver. */
  readonly bytes: Buffer;
}

export interface ReplicatedLog {
  /** Rejects when the log cannot be reached. */
  extent(): Promise<LogExtent>;
  /** Appends `record` as position `expectedLast + 1`. Never rejects. */
  append(expectedLast: number, record: Uint8Array): Promise<AppendOutcome>;
  /** The record at a position; null where there is none, yet or any more. Rejects when the log cannot be reached. */
  read(position: number): Promise<Buffer | null>;
  /** Forgets all records before a position. Rejects when it is not known whether the log has. */
  purge(before: number): Promise<void>;
  /** Calls `listener` with each record that a node has appended. Returns what ends that. */
  onAppended(listener: (record: LogRecord) => void): () => void;
  /** Tells all listeners, of which there may be none. */
  announce(message: Uint8Array): void;
  /** Calls `listener` with each announcement, this node's own included. Returns what ends that. */
  onAnnouncement(listener: (message: Buffer) => void): () => void;
  close(): Promise<void>;
}

/** The log is there no more. What it held may be in the journals of the nodes. */
export class LogGoneError extends ExitError {
  constructor(message: string) {
    super(EXIT.badConfig, message);
  }
}

/** No server of the log answered within the time, or none that knows what there is: they may be choosing a leader. */
export class LogAwayError extends Error {
  override readonly name = 'LogAwayError';
}

/** The log would not keep what it acknowledges. The message is everything that the operator needs to read. */
export class UnsafeLogError extends ExitError {
  constructor(message: string) {
    super(EXIT.badConfig, message);
  }
}
