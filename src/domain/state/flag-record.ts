/** The record of a flag: the flag and what is known of it besides. Immutable; a change makes another one. */
import type { Flag } from '../flags/flag.ts';
import { Slot } from '../value/projection.ts';

/**
 * The most bytes of JSON for a byte of memory: a character of one byte is written as six, inside a parameter that is a list or an
 * object as seven.
 */
const JSON_PER_MEMORY_MAX = 8;

export class FlagRecord {
  readonly flag: Flag;
  /** Id of the last event that changed the flag. */
  readonly revision: number;
  /** Id of the user who created the flag, or that of a token or of the server; null where nobody recorded it. */
  readonly createdBy: number | null;
  /** The flag's share of the memory of the state. */
  readonly bytes: number;
  readonly #slot: Slot;

  constructor(parts: Pick<FlagRecord, 'flag' | 'revision' | 'createdBy' | 'bytes'>, slot = new Slot(null)) {
    this.flag = parts.flag;
    this.revision = parts.revision;
    this.createdBy = parts.createdBy;
    this.bytes = parts.bytes;
    this.#slot = slot;
  }

  /** For what surfaces derive from the flag as it is in this record. */
  get slot(): Slot {
    return this.#slot.ofVersion(this);
  }

  /** No fewer bytes than the flag or any part of it takes as JSON, known without measuring it. */
  get jsonBytesMax(): number {
    return this.bytes * JSON_PER_MEMORY_MAX;
  }

  /** The record after a change. `growth`: in bytes of memory. */
  changed({
    flag,
    revision,
    growth,
  }: Pick<FlagRecord, 'flag' | 'revision'> & { growth: number }): FlagRecord {
    const { createdBy, bytes } = this;
    return new FlagRecord({ flag, revision, createdBy, bytes: bytes + growth }, this.#slot);
  }
}
