/**
 * A flag as the bytes of a snapshot, decoded when first read: a start that decoded all flags before it was ready
 * would take several times as long. It gives the same object each time, as if it had been decoded at once.
 */
import assert from 'node:assert/strict';
import type { Flag } from './flag.ts';

/** The flags of one block of a snapshot. */
export interface FlagSource {
  /** The flag in that place. Called once for each. Throws when the bytes hold no such flag. */
  unpack(at: number): Unpacked;
}

export interface Unpacked {
  readonly flag: Flag;
  /** By how many bytes of memory it counts for more than it did while it was packed. */
  readonly growth: number;
}

export class PackedFlag {
  /** Null once the flag has been decoded, so that the bytes can go. */
  #source: FlagSource | null;
  readonly #at: number;
  #unpacked: Unpacked | null = null;

  constructor(source: FlagSource, at: number) {
    this.#source = source;
    this.#at = at;
  }

  get flag(): Flag {
    return this.#decoded().flag;
  }

  get growth(): number {
    return this.#decoded().growth;
  }

  #decoded(): Unpacked {
    if (this.#unpacked !== null) return this.#unpacked;
    assert(this.#source !== null, 'a packed flag has its bytes until it is decoded');
    this.#unpacked = this.#source.unpack(this.#at);
    this.#source = null;
    return this.#unpacked;
  }
}
