/** The record of a flag: the flag and what is known of it besides. Immutable; a change makes another one. */
import { type Flag, type FlagEnvironment, flagOf } from '../flags/flag.ts';
import { itemSize, memoryGrowth } from '../json/memory-size.ts';
import { Slot } from '../value/projection.ts';
import { recordSize } from './state-memory.ts';

/**
 * The most bytes of JSON for a byte of memory: a character of one byte is written as six, inside a parameter that is a list or an
 * object as seven.
 */
const JSON_PER_MEMORY_MAX = 8;

export class FlagRecord {
  readonly flag: Flag;
  /** Id of the last event that changed the flag. */
  readonly revision: number;
  /** Id of the user who created the flag, or that of a token or of the server; null where it was not recorded. */
  readonly createdBy: number | null;
  /** The flag's share of the memory of the state. */
  readonly bytes: number;
  /** The share of each of its environments, which are among them. */
  readonly environmentBytes: readonly number[];
  /** Null until something is derived from the flag. */
  #slot: Slot | null;

  constructor(
    parts: Omit<FlagRecord, 'slot' | 'jsonBytesMax' | 'changed' | 'without'>,
    slot: Slot | null = null,
  ) {
    this.flag = parts.flag;
    this.revision = parts.revision;
    this.createdBy = parts.createdBy;
    this.bytes = parts.bytes;
    this.environmentBytes = parts.environmentBytes;
    this.#slot = slot;
  }

  static of({ flag, revision, createdBy }: Pick<FlagRecord, 'flag' | 'revision' | 'createdBy'>): FlagRecord {
    const environmentBytes = flag.environments.length === 0 ? NONE : flag.environments.map(itemSize);
    const bytes = recordSize(flagOf(flag, flag, NONE)) + sumOf(environmentBytes);
    return new FlagRecord({ flag, revision, createdBy, bytes, environmentBytes });
  }

  /** For what surfaces derive from the flag as it is in this record. */
  get slot(): Slot {
    this.#slot ??= new Slot(null);
    return this.#slot.ofVersion(this);
  }

  /** No fewer bytes than the flag or any part of it takes as JSON, known without measuring it. */
  get jsonBytesMax(): number {
    return this.bytes * JSON_PER_MEMORY_MAX;
  }

  /** The record after a change. `growth`: in bytes of memory, without the environments. */
  changed({
    flag,
    revision,
    growth,
  }: Pick<FlagRecord, 'flag' | 'revision'> & { growth: number }): FlagRecord {
    const { createdBy } = this;
    const environmentBytes = this.#environmentBytesOf(flag.environments);
    const bytes = this.bytes + growth + sumOf(environmentBytes) - sumOf(this.environmentBytes);
    return new FlagRecord({ flag, revision, createdBy, bytes, environmentBytes }, this.#slot);
  }

  /** The record when the flag has lost what it has in the environment. */
  without(environment: string, revision: number): FlagRecord {
    const { flag } = this;
    const left = flag.environments.filter(({ name }) => name !== environment);
    if (left.length === flag.environments.length) return this;
    return this.changed({ flag: flagOf(flag, flag, left), revision, growth: 0 });
  }

  #environmentBytesOf(environments: readonly FlagEnvironment[]): readonly number[] {
    const { flag, environmentBytes } = this;
    if (environments === flag.environments) return environmentBytes;
    return environments.map((after) => {
      let at = 0;
      while (at < flag.environments.length && flag.environments[at]!.name !== after.name) at += 1;
      const before = flag.environments[at];
      if (before === undefined) return itemSize(after);
      const isSame = before.strategies === after.strategies && before.variants === after.variants;
      return environmentBytes[at]! + (isSame ? 0 : memoryGrowth(before, after));
    });
  }
}

const NONE: readonly never[] = [];

function sumOf(sizes: readonly number[]): number {
  let sum = 0;
  for (const size of sizes) sum += size;
  return sum;
}
