/**
 * The error after which the journal guarantees nothing more. The process ends with exit code 74 (invariant 6).
 */
import { FencedError, LogLostError } from './commit-log.ts';
import { LostFileError } from './presence.ts';

export interface JournalFailureDetails {
  readonly file: string;
  /** Offset of the batch that could not be made durable. */
  readonly offset: number;
  /** Everything up to this event is on disk. */
  readonly durableId: number;
  readonly cause: unknown;
}

export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly file: string;
  readonly offset: number;
  readonly durableId: number;

  constructor({ file, offset, durableId, cause }: JournalFailureDetails) {
    super(messageOf({ file, offset, durableId, cause }), { cause });
    this.file = file;
    this.offset = offset;
    this.durableId = durableId;
  }
}

function messageOf({ file, offset, durableId, cause }: JournalFailureDetails): string {
  if (cause instanceof LostFileError) return cause.message;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const rest = `Every event up to ${durableId} is on disk; nothing after it was acknowledged.`;
  if (cause instanceof LogLostError)
    return `This node cannot go on: ${reason}. ${rest} Compare the journals of all nodes before you start one of them again.`;
  return cause instanceof FencedError
    ? `This node may not write any more: ${reason}. ${rest} Start the server again; it will follow.`
    : `The journal could not be written at offset ${offset} of ${file}: ${reason}. ${rest} Look at the disk and its free space, then start the server again.`;
}
