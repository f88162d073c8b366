/**
 * Compiled flags by name, in blocks. A change costs as much as its block: only the columns of that one are made anew, when they are
 * asked for next.
 */
import type { CompiledFlag } from './compiled-flag.ts';
import { FlagColumns } from './flag-columns.ts';

/** A block that grows beyond it becomes two. Making the columns of so many flags takes some 20 µs. */
const BLOCK_FLAGS_MAX = 64;

class Block {
  /** At least one. */
  readonly #flags: CompiledFlag[];
  #columns: FlagColumns | null = null;

  constructor(flags: CompiledFlag[]) {
    this.#flags = flags;
  }

  get hasColumns(): boolean {
    return this.#columns !== null;
  }

  get columns(): FlagColumns {
    this.#columns ??= new FlagColumns(this.#flags);
    return this.#columns;
  }

  get size(): number {
    return this.#flags.length;
  }

  get firstName(): string {
    return this.#flags[0]!.flag.name;
  }

  /** Puts the flag in place of the one of its name, or where it belongs. */
  set(flag: CompiledFlag): void {
    const { name } = flag.flag;
    const at = this.#positionOf(name);
    this.#flags.splice(at, this.#flags[at]?.flag.name === name ? 1 : 0, flag);
    this.#columns = null;
  }

  delete(name: string): void {
    const at = this.#positionOf(name);
    if (this.#flags[at]?.flag.name !== name) return;
    this.#flags.splice(at, 1);
    this.#columns = null;
  }

  /** Keeps the first half, and gives the other one. */
  split(): Block {
    this.#columns = null;
    return new Block(this.#flags.splice(this.#flags.length >> 1));
  }

  #positionOf(name: string): number {
    return firstWhere(this.#flags.length, (at) => this.#flags[at]!.flag.name >= name);
  }
}

export class SortedFlags {
  /** In the order of the names' UTF-16 units, none of them empty. */
  readonly #blocks: Block[] = [];

  constructor(flags: Iterable<CompiledFlag>) {
    const sorted = [...flags].sort((a, b) => (a.flag.name < b.flag.name ? -1 : 1));
    for (let at = 0; at < sorted.length; at += BLOCK_FLAGS_MAX)
      this.#blocks.push(new Block(sorted.slice(at, at + BLOCK_FLAGS_MAX)));
  }

  get blocks(): readonly Pick<Block, 'columns'>[] {
    return this.#blocks;
  }

  /** Makes the columns of one block. True when all have theirs. */
  makeColumns(): boolean {
    const block = this.#blocks.find(({ hasColumns }) => !hasColumns);
    return block?.columns === undefined;
  }

  /** Puts the flag in place of the one of its name. */
  set(flag: CompiledFlag): void {
    const at = Math.max(this.#blockAt(flag.flag.name), 0);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push(new Block([flag]));
      return;
    }
    block.set(flag);
    if (block.size > BLOCK_FLAGS_MAX) this.#blocks.splice(at + 1, 0, block.split());
  }

  delete(name: string): void {
    const at = this.#blockAt(name);
    const block = this.#blocks[at];
    block?.delete(name);
    if (block?.size === 0) this.#blocks.splice(at, 1);
  }

  /** The position of the block in which the name is, if it is in one; -1 for a name before all blocks. */
  #blockAt(name: string): number {
    return firstWhere(this.#blocks.length, (at) => this.#blocks[at]!.firstName > name) - 1;
  }
}

/** The first of `count` positions that `isBehind` holds for; it holds for all that follow. `count` where there is none. */
function firstWhere(count: number, isBehind: (at: number) => boolean): number {
  let [start, end] = [0, count];
  while (start < end) {
    const middle = (start + end) >> 1;
    if (isBehind(middle)) end = middle;
    else start = middle + 1;
  }
  return start;
}
