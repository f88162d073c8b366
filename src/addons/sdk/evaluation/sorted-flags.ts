/**
 * Compiled flags by name, in immutable blocks. A change costs as much as a copy of its block, whose columns are made when next needed.
 * So a copy of all flags shares every block that has not changed with the original, and shows the flags of one moment however long
 * it takes to go through them.
 */

import { type Cost, segmentCost, sumOf } from '../../../domain/flags/evaluation-cost.ts';
import type { CompiledFlag } from './compiled-flag.ts';
import { FlagColumns } from './flag-columns.ts';
import type { CompiledScope } from './rules.ts';
import type { Run } from './run.ts';

/** A block that grows beyond it becomes two. Making the columns of so many flags takes some 20 µs. */
const BLOCK_FLAGS_MAX = 64;

/** Immutable, apart from the columns that it keeps. */
class Block {
  /** At least one. */
  readonly flags: readonly CompiledFlag[];
  #columns: FlagColumns | null = null;
  #cost: BlockCost | null = null;

  constructor(flags: readonly CompiledFlag[]) {
    this.flags = flags;
  }

  get hasColumns(): boolean {
    return this.#columns !== null;
  }

  /** By which lists are evaluated; made when they are first asked for. */
  get columns(): FlagColumns {
    this.#columns ??= new FlagColumns(this.flags);
    return this.#columns;
  }

  get cost(): BlockCost {
    this.#cost ??= new BlockCost(this.flags);
    return this.#cost;
  }

  get firstName(): string {
    return this.flags[0]!.name;
  }

  /** The position of the flag of that name, or the one that it would have. */
  positionOf(name: string): number {
    return firstWhere(this.flags.length, (at) => this.flags[at]!.name >= name);
  }
}

/** Some neighbouring flags. */
export type FlagBlock = Pick<Block, 'flags' | 'columns' | 'hasColumns' | 'cost'>;

export class SortedFlags {
  /** Blocks in the order of the names' UTF-16 units, none of them empty. */
  readonly #blocks: Block[];
  #size: number;

  private constructor(blocks: Block[], size: number) {
    this.#blocks = blocks;
    this.#size = size;
  }

  static of(flags: Iterable<CompiledFlag>): SortedFlags {
    const sorted = [...flags].sort((a, b) => (a.name < b.name ? -1 : 1));
    const blocks: Block[] = [];
    for (let at = 0; at < sorted.length; at += BLOCK_FLAGS_MAX)
      blocks.push(new Block(sorted.slice(at, at + BLOCK_FLAGS_MAX)));
    return new SortedFlags(blocks, sorted.length);
  }

  /** Costs a reference for each block. */
  copy(): SortedFlags {
    return new SortedFlags([...this.#blocks], this.#size);
  }

  get blocks(): readonly FlagBlock[] {
    return this.#blocks;
  }

  get size(): number {
    return this.#size;
  }

  get(name: string): CompiledFlag | undefined {
    const block = this.#blocks[this.#blockAt(name)];
    if (block === undefined) return undefined;
    const flag = block.flags[block.positionOf(name)];
    return flag?.name === name ? flag : undefined;
  }

  /** Puts the flag in place of the one of its name. */
  set(flag: CompiledFlag): void {
    const blockAt = Math.max(this.#blockAt(flag.name), 0);
    const block = this.#blocks[blockAt];
    if (block === undefined) {
      this.#blocks.push(new Block([flag]));
      this.#size += 1;
      return;
    }
    const at = block.positionOf(flag.name);
    const known = block.flags[at];
    if (known === flag) return;
    const isNew = known?.name !== flag.name;
    const flags = block.flags.toSpliced(at, isNew ? 0 : 1, flag);
    if (isNew) this.#size += 1;
    if (flags.length <= BLOCK_FLAGS_MAX) this.#blocks[blockAt] = new Block(flags);
    else this.#blocks.splice(blockAt, 1, ...halves(flags, at));
  }

  delete(name: string): void {
    const blockAt = this.#blockAt(name);
    const block = this.#blocks[blockAt];
    if (block === undefined) return;
    const at = block.positionOf(name);
    if (block.flags[at]?.name !== name) return;
    this.#size -= 1;
    if (block.flags.length === 1) this.#blocks.splice(blockAt, 1);
    else this.#blocks[blockAt] = new Block(block.flags.toSpliced(at, 1));
  }

  /** The position of the block in which the name is, if it is in one; -1 for a name before all blocks. */
  #blockAt(name: string): number {
    return firstWhere(this.#blocks.length, (at) => this.#blocks[at]!.firstName > name) - 1;
  }
}

/** Two blocks of one. Flags that come in the order of their names, each behind all others, leave full ones behind. */
function halves(flags: readonly CompiledFlag[], addedAt: number): readonly [Block, Block] {
  const middle = addedAt === flags.length - 1 ? addedAt : flags.length >> 1;
  return [new Block(flags.slice(0, middle)), new Block(flags.slice(middle))];
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

// The cost of some neighbouring flags together, which tells whether they are evaluated at once, or one by one and in steps.

/** The cost of the tests that are done at once, in about microseconds at worst. */
const AT_ONCE_COST_MAX = 2_000;

class BlockCost {
  /** The cost of their own rules. */
  readonly #cost: Cost;
  readonly #segments: ReadonlySet<number>;
  readonly #parents: ReadonlySet<string>;

  constructor(flags: readonly CompiledFlag[]) {
    this.#cost = sumOf(flags.map(({ cost }) => cost));
    this.#segments = new Set(flags.flatMap(segmentsOf));
    this.#parents = new Set(flags.flatMap(({ dependencies }) => dependencies.map(({ feature }) => feature)));
  }

  isHeavy(scope: CompiledScope, { costKind }: Run): boolean {
    let cost = this.#cost[costKind];
    const addSegment = (id: number): void => {
      const segment = scope.segment(id);
      if (segment !== undefined) cost += segmentCost(segment)[costKind];
    };
    this.#segments.forEach(addSegment);
    for (const name of this.#parents) {
      if (cost > AT_ONCE_COST_MAX) return true;
      const parent = scope.flag(name);
      if (parent === undefined) continue;
      cost += parent.cost[costKind];
      segmentsOf(parent).forEach(addSegment);
    }
    return cost > AT_ONCE_COST_MAX;
  }
}

function segmentsOf({ strategies }: CompiledFlag): readonly number[] {
  return strategies.flatMap(({ conditions }) => conditions.segments);
}
