/** The cost of some neighbouring flags together, which tells whether they are evaluated at once, or one by one and in steps. */
import type { CompiledFlag } from './compiled-flag.ts';
import { type Cost, sumOf } from './cost.ts';
import type { CompiledScope } from './rules.ts';
import type { Run } from './run.ts';
import { segmentCost } from './segment-test.ts';

/** The cost of the tests that are done at once, in about microseconds at worst. */
export const AT_ONCE_COST_MAX = 2_000;

export class BlockCost {
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
