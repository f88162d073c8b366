/**
 * The format of a record in the replicated log. Every number is little-endian.
 *
 *   offset  bytes  what
 *        0      4  magic: "FLRC"
 *        4      2  format version: 1
 *        6      2  kind: 1 frames, 2 take-over
 *        8      4  CRC-32 of bytes 0–7 followed by byte 12 to the end; so far alike in every format
 *       12      8  epoch: how often a node has taken over, this time included
 *       20      8  id of the last event before the record
 *       28      4  checksum of that event's frame; 0 before the first event of all
 *       32      8  of frames: id of the last event of the batch
 *       40      4  of frames: which part of the batch this is, from 0 on
 *       44      4  of frames: how many parts the batch has; only the last one makes it decided
 *       48      2  length of the text that follows
 *       50      …  JSON, UTF-8: the cluster's name, the node that wrote the record, and the history's id, which release 0.2.0
 *                  neither writes nor minds
 *        …      …  of frames: a part of the batch
 *
 * A batch is the concatenation of its frames, each of them as
 *
 *        0      4  payload length in bytes
 *        4      2  content version, as in a frame of the journal (frame-format.ts)
 *        6      2  rules of replay
 *        8      …  payload
 *
 * and is cut anywhere into parts, because servers take no message of more than 1 MiB and a frame may have 32.
 *
 * Every record names the event before it and that event's checksum. So a node that was away, or whose log has lost
 * something, finds out before it takes over anything that does not follow.
 *
 * History: 1, the first.
 */

import { crc32 } from 'node:zlib';
import { LogLostError } from '../../persistence/journal/commit-log.ts';
import { FRAME_BYTES_MAX } from '../../persistence/journal/frame.ts';
import type { FrameBody } from '../../persistence/journal/frame-format.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { ExitError } from '../../process/exit-error.ts';

const MAGIC = Buffer.from('FLRC', 'latin1');
export const RECORD_VERSION = 1;
const HEADER_BYTES = 50;
const FRAME_HEAD_BYTES = 8;
const KINDS = ['frames', 'take-over'] as const;

/** Bytes of a batch in one record: far below what a server takes, and one round trip for all but the largest batches. */
export const PART_BYTES_MAX = 512 * 1024;

/** A start of a node: what tells it from every other one, and how it is reached. */
export interface NodeIdentity {
  /** The node as the operator named it. */
  readonly node: string;
  /** Eight hexadecimal digits, drawn at each start. */
  readonly run: string;
  /** The address at which other nodes reach its interface, such as `http://flags-1:4242`. */
  readonly address: string;
}

interface RecordBase {
  readonly cluster: string;
  /** The history that the record belongs to; null in one that release 0.2.0 wrote. */
  readonly history: string | null;
  readonly epoch: number;
  readonly by: NodeIdentity;
  /** The last event before the record, and its frame's checksum. */
  readonly previousId: number;
  readonly previousChain: number;
}

export interface FramesRecord extends RecordBase {
  readonly kind: 'frames';
  readonly lastId: number;
  readonly part: number;
  readonly parts: number;
  readonly content: Buffer;
}

export interface TakeOverRecord extends RecordBase {
  readonly kind: 'take-over';
}

export type ClusterRecord = FramesRecord | TakeOverRecord;

/** The log holds what no node of this cluster writes, or what does not follow. Nothing of it may be applied. */
export class LogDamageError extends LogLostError {
  override readonly name = 'LogDamageError';
}

/** A newer version wrote the record, and this one cannot know what it means. */
export class NewerRecordError extends ExitError {
  constructor(message: string) {
    super(EXIT.damagedData, message);
  }
}

export function encodeRecord(record: ClusterRecord): Buffer {
  const { cluster, by, history } = record;
  const text = Buffer.from(JSON.stringify({ cluster, by, ...(history !== null && { history }) }));
  const content = record.kind === 'frames' ? record.content : Buffer.alloc(0);
  const bytes = Buffer.alloc(HEADER_BYTES + text.length + content.length);
  bytes.set(MAGIC, 0);
  bytes.writeUInt16LE(RECORD_VERSION, 4);
  bytes.writeUInt16LE(KINDS.indexOf(record.kind) + 1, 6);
  bytes.writeBigUInt64LE(BigInt(record.epoch), 12);
  bytes.writeBigUInt64LE(BigInt(record.previousId), 20);
  bytes.writeUInt32LE(record.previousChain, 28);
  if (record.kind === 'frames') {
    bytes.writeBigUInt64LE(BigInt(record.lastId), 32);
    bytes.writeUInt32LE(record.part, 40);
    bytes.writeUInt32LE(record.parts, 44);
  }
  bytes.writeUInt16LE(text.length, 48);
  bytes.set(text, HEADER_BYTES);
  bytes.set(content, HEADER_BYTES + text.length);
  bytes.writeUInt32LE(checksumOf(bytes), 8);
  return bytes;
}

const checksumOf = (bytes: Buffer): number => crc32(bytes.subarray(12), crc32(bytes.subarray(0, 8)));

const isRecord = (bytes: Buffer): boolean =>
  bytes.length >= HEADER_BYTES && bytes.compare(MAGIC, 0, 4, 0, 4) === 0;

/** Whether the bytes are a record of any version, as it was written. */
export const isWhole = (bytes: Buffer): boolean =>
  isRecord(bytes) && bytes.readUInt32LE(8) === checksumOf(bytes);

/** Throws `NewerRecordError`, or `LogDamageError` for anything else that this version does not write. */
export function decodeRecord(bytes: Buffer): ClusterRecord {
  if (!isRecord(bytes)) throw new LogDamageError('the log holds something that is no record of Flagstaff');
  if (!isWhole(bytes)) throw new LogDamageError('a record of the log is damaged');
  const version = bytes.readUInt16LE(4);
  if (version > RECORD_VERSION) {
    throw new NewerRecordError(
      `the log holds a record of format ${version}, and this version knows formats up to ${RECORD_VERSION}`,
    );
  }
  const kind = KINDS[bytes.readUInt16LE(6) - 1];
  if (kind === undefined) throw new LogDamageError('a record of the log is of no kind');
  const contentAt = HEADER_BYTES + bytes.readUInt16LE(48);
  const text = bytes.toString('utf8', HEADER_BYTES, contentAt);
  const {
    cluster,
    by,
    history = null,
  } = JSON.parse(text) as Partial<RecordBase> & Pick<RecordBase, 'cluster' | 'by'>;
  const base: RecordBase = {
    ...{ cluster, by, history },
    epoch: Number(bytes.readBigUInt64LE(12)),
    previousId: Number(bytes.readBigUInt64LE(20)),
    previousChain: bytes.readUInt32LE(28),
  };
  if (kind === 'take-over') return { ...base, kind };
  return {
    ...{ ...base, kind },
    lastId: Number(bytes.readBigUInt64LE(32)),
    part: bytes.readUInt32LE(40),
    parts: bytes.readUInt32LE(44),
    content: bytes.subarray(contentAt),
  };
}

/** The frames of a batch as one piece of bytes, which nothing else uses. */
export function encodeBatch(bodies: Iterable<FrameBody>): Buffer {
  const frames = [...bodies];
  const bytes = Buffer.allocUnsafe(
    frames.reduce((sum, { payload }) => sum + FRAME_HEAD_BYTES + payload.length, 0),
  );
  let at = 0;
  for (const { payload, contentVersion, rules } of frames) {
    bytes.writeUInt32LE(payload.length, at);
    bytes.writeUInt16LE(contentVersion, at + 4);
    bytes.writeUInt16LE(rules, at + 6);
    bytes.set(payload, at + FRAME_HEAD_BYTES);
    at += FRAME_HEAD_BYTES + payload.length;
  }
  return bytes;
}

/** Throws `LogDamageError` where the bytes are no batch. The payloads are views. */
export function decodeBatch(bytes: Buffer): readonly FrameBody[] {
  const bodies: FrameBody[] = [];
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at - FRAME_HEAD_BYTES;
    const payloadBytes = left > 0 ? bytes.readUInt32LE(at) : 0;
    if (payloadBytes < 1 || payloadBytes > left || payloadBytes > FRAME_BYTES_MAX)
      throw new LogDamageError('a batch in the log is damaged');
    const contentVersion = bytes.readUInt16LE(at + 4);
    const rules = bytes.readUInt16LE(at + 6);
    at += FRAME_HEAD_BYTES;
    bodies.push({ payload: bytes.subarray(at, at + payloadBytes), contentVersion, rules });
    at += payloadBytes;
  }
  return bodies;
}

export const partsOf = (batch: Buffer, partBytes = PART_BYTES_MAX): readonly Buffer[] =>
  Array.from({ length: Math.ceil(batch.length / partBytes) }, (_, part) =>
    batch.subarray(part * partBytes, (part + 1) * partBytes),
  );
