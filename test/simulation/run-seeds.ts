/** Seed after seed, up to a number of them or a time, or to the first that fails. */
import { type SimulationFailure, simulate } from './scenario.ts';
import { emptyTally, type Tally } from './tally.ts';

export interface RunOptions {
  readonly first: number;
  readonly count: number;
  /** No further seed is begun after this; unlimited when absent. */
  readonly budgetSeconds?: number;
  onSeed?(done: number): void;
}

export interface RunResult {
  readonly tally: Tally;
  readonly failure: SimulationFailure | null;
  readonly seconds: number;
}

export async function runSeeds(options: RunOptions): Promise<RunResult> {
  const { first, count, budgetSeconds = Number.POSITIVE_INFINITY } = options;
  const tally = emptyTally();
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  for (let done = 0; done < count && seconds() < budgetSeconds; done += 1) {
    try {
      await simulate(first + done, tally);
    } catch (failure) {
      return { tally, failure: failure as SimulationFailure, seconds: seconds() };
    }
    options.onSeed?.(done + 1);
  }
  return { tally, failure: null, seconds: seconds() };
}
