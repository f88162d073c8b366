/**
 * The processor time that tests take at worst, in about microseconds. Long evaluations are cut into steps by it, and rules that would
 * take too long are refused when they are written. It is told from the rule alone, for two contexts: one as
 * applications have it, and the longest one there may be. `test/domain/evaluation/cost.test.ts` looks for rules that take longer.
 */

/** Characters of all names and values of a context together. An application's has some hundred. */
const ORDINARY_LENGTH_MAX = 1_024;

/** The same for the longest one. Every flag may hash or search any of them. */
export const CONTEXT_LENGTH_MAX = 16_384;

export interface Cost {
  readonly ordinary: number;
  readonly worst: number;
}

export const NO_COST: Cost = { ordinary: 0, worst: 0 };

/** `at` gives what it is for a context of so many characters. */
export function costBy(at: (length: number) => number): Cost {
  return { ordinary: at(ORDINARY_LENGTH_MAX), worst: at(CONTEXT_LENGTH_MAX) };
}

export function sumOf(costs: Iterable<Cost>): Cost {
  let [ordinary, worst] = [0, 0];
  for (const cost of costs) {
    ordinary += cost.ordinary;
    worst += cost.worst;
  }
  return { ordinary, worst };
}

/** The cost that applies to contexts of so many characters. */
export function costKind(contextLength: number): keyof Cost {
  return contextLength <= ORDINARY_LENGTH_MAX ? 'ordinary' : 'worst';
}
