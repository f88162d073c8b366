/**
 * Records of a snapshot as bytes, each decoded when it is asked for. Keeps the whole block in memory until nobody refers to it
 * any more.
 */
import assert from 'node:assert/strict';
import { guard, unpack } from '../codec/message-pack.ts';

/** Bytes of the place where a record ends, and of the length of an outline. */
export const LENGTH_BYTES = 4;

export class PackedRecords {
  readonly #payload: Buffer;
  readonly #endsAt: number;
  readonly #recordsAt: number;
  readonly count: number;

  private constructor(payload: Buffer, endsAt: number, count: number) {
    this.#payload = payload;
    this.#endsAt = endsAt;
    this.#recordsAt = endsAt + LENGTH_BYTES * count;
    this.count = count;
  }

  /** The records of a payload whose table of ends begins at `endsAt`; null when the table does not fit the payload. */
  static in(payload: Buffer, endsAt: number, count: number): PackedRecords | null {
    if (endsAt + LENGTH_BYTES * count > payload.length) return null;
    const records = new PackedRecords(payload, endsAt, count);
    let end = 0;
    for (let at = 0; at < count; at += 1) {
      const next = records.#endOf(at);
      if (next <= end) return null;
      end = next;
    }
    return records.#recordsAt + end === payload.length ? records : null;
  }

  /** Decodes one record. Throws when it is not one whole value that the server writes. */
  unpack(at: number): unknown {
    assert(at >= 0 && at < this.count, 'the block has the record');
    const start = at === 0 ? 0 : this.#endOf(at - 1);
    const bytes = this.#payload.subarray(this.#recordsAt + start, this.#recordsAt + this.#endOf(at));
    const { problem } = guard(bytes, RECORD_DEPTH);
    if (problem !== null) throw new Error(problem);
    return unpack(bytes);
  }

  #endOf(at: number): number {
    return this.#payload.readUInt32LE(this.#endsAt + LENGTH_BYTES * at);
  }
}

/** A record stands in the array of its block. */
export const RECORD_DEPTH = 1;

/** The place of a block of records, and the checks that identify its bytes. */
export interface BlockPlace {
  /** The snapshot. */
  readonly path: string;
  readonly offset: number;
  /** The bytes of the whole block. */
  readonly bytes: number;
  readonly checksum: number;
  /** Records in it. */
  readonly count: number;
}

/** A block of records with an outline, whose checksum holds. */
export class OutlinedBlock {
  readonly place: BlockPlace;
  readonly records: PackedRecords;
  readonly #outline: Buffer;

  private constructor(place: BlockPlace, records: PackedRecords, outline: Buffer) {
    this.place = place;
    this.records = records;
    this.#outline = outline;
  }

  /** The records and outlines of the block's payload; null when the table of ends does not fit it. */
  static in(payload: Buffer, place: BlockPlace): OutlinedBlock | null {
    const outlineBytes = payload.length < LENGTH_BYTES ? 0 : payload.readUInt32LE(0);
    const recordsAt = LENGTH_BYTES + outlineBytes;
    const records = PackedRecords.in(payload, recordsAt, place.count);
    return records && new OutlinedBlock(place, records, payload.subarray(LENGTH_BYTES, recordsAt));
  }

  /** Throws when it is not one whole value that the server writes. */
  outline(): unknown {
    const { problem } = guard(this.#outline);
    if (problem !== null) throw new Error(`the outline: ${problem}`);
    return unpack(this.#outline);
  }
}
