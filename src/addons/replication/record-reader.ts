/**
 * Follows the records of the log, in order, and says what they decide: batches of frames, and who leads.
 *
 * It insists that each record follows: by the id and the checksum of the event before it, and by its epoch. What does
 * not is `LogDamageError`: a log that lost a record, or holds one of another history, is never applied.
 *
 * The parts of a batch that a leader did not finish are forgotten when the next one takes over: the batch never happened.
 */
import assert from 'node:assert/strict';
import { chainAfter, type FrameBody, isNewer } from '../../persistence/journal/frame-format.ts';
import { peekId } from '../../persistence/journal/frame-payload.ts';
import type { NodeHistory } from './node-history.ts';
import {
  type ClusterRecord,
  decodeBatch,
  decodeRecord,
  type FramesRecord,
  LogDamageError,
  NewerRecordError,
  type NodeIdentity,
  type TakeOverRecord,
} from './record-format.ts';
import type { LogRecord } from './replicated-log.ts';

/** A frame, with the id of its last event, and the checksums of the frame before it and of its own. */
export interface DecidedFrame {
  readonly body: FrameBody;
  readonly lastId: number;
  readonly previousChain: number;
  readonly chain: number;
}

/** The place from which a node that wrote to the log reads on. */
export interface ReaderPlace {
  readonly position: number;
  readonly epoch: number;
  /** The last event decided, and its frame's checksum. */
  readonly id: number;
  readonly chain: number;
}

/** `leader`: null where no node has led yet. `pending`: a part of a batch, which is not decided yet. */
export type Decided =
  | { readonly kind: 'batch'; readonly frames: readonly DecidedFrame[] }
  | { readonly kind: 'leader'; readonly epoch: number; readonly leader: NodeIdentity | null }
  | { readonly kind: 'pending' };

export class RecordReader {
  readonly #history: NodeHistory;
  position: number;
  epoch = 0;
  /** The last event decided, and its frame's checksum; null before the first record, from which both are taken. */
  #place: { readonly id: number; readonly chain: number } | null = null;
  #leader: NodeIdentity | null = null;
  #parts: FramesRecord[] = [];

  /** `from`: the position of the first record that will be read. */
  constructor(history: NodeHistory, from: number) {
    this.#history = history;
    this.position = from - 1;
  }

  get place(): { readonly id: number; readonly chain: number } | null {
    return this.#place;
  }

  get leader(): NodeIdentity | null {
    return this.#leader;
  }

  /** Goes on after records that this node wrote itself. */
  resume({ position, epoch, id, chain }: ReaderPlace): void {
    assert(position >= this.position, 'the log only grows');
    this.position = position;
    this.epoch = epoch;
    this.#place = { id, chain };
    this.#parts = [];
  }

  read({ position, bytes }: LogRecord): Decided {
    if (position !== this.position + 1)
      throw new LogDamageError(`position ${position} of the log comes after position ${this.position}`);
    const record = decodeRecord(bytes);
    this.#check(record, position);
    this.position = position;
    this.#place ??= { id: record.previousId, chain: record.previousChain };
    return record.kind === 'take-over' ? this.#lead(record) : this.#add(record);
  }

  #check(record: ClusterRecord, position: number): void {
    const where = `position ${position} of the log`;
    this.#history.meet(record, where);
    const place = this.#place;
    if (place === null) return;
    if (record.previousId !== place.id || record.previousChain !== place.chain) {
      throw new LogDamageError(
        `${where} follows event ${record.previousId} of another history than event ${place.id} before it`,
      );
    }
    const follows = record.kind === 'take-over' ? record.epoch > this.epoch : record.epoch === this.epoch;
    if (this.epoch > 0 && !follows)
      throw new LogDamageError(`${where} has epoch ${record.epoch}, after a record of epoch ${this.epoch}`);
  }

  #lead({ epoch, by }: TakeOverRecord): Decided {
    this.epoch = epoch;
    // A command that begins a log leads nothing.
    this.#leader = by.address === '' ? null : by;
    this.#parts = [];
    return { kind: 'leader', epoch, leader: this.#leader };
  }

  #add(record: FramesRecord): Decided {
    this.epoch = record.epoch;
    this.#leader = record.by;
    if (record.part !== this.#parts.length)
      throw new LogDamageError(
        `a batch in the log has part ${record.part} in place of ${this.#parts.length}`,
      );
    this.#parts.push(record);
    if (this.#parts.length < record.parts) return { kind: 'pending' };
    const bodies = decodeBatch(Buffer.concat(this.#parts.map(({ content }) => content)));
    this.#parts = [];
    return { kind: 'batch', frames: this.#chained(bodies, record.lastId) };
  }

  #chained(bodies: readonly FrameBody[], lastId: number): readonly DecidedFrame[] {
    const place = this.#place;
    assert(place !== null, 'a record has a place before it');
    let { id, chain } = place;
    const firstIds = bodies.map(({ payload }) => peekId(payload));
    const frames = bodies.map((body, at) => {
      if (isNewer(body))
        throw new NewerRecordError('the log holds a change of a newer version, which cannot be read here');
      if (firstIds[at] !== id + 1)
        throw new LogDamageError(`a frame in the log does not begin with event ${id + 1}`);
      id = at + 1 < bodies.length ? (firstIds[at + 1] ?? 0) - 1 : lastId;
      const previousChain = chain;
      chain = chainAfter(chain, body);
      return { body, lastId: id, previousChain, chain };
    });
    this.#place = { id, chain };
    return frames;
  }
}
