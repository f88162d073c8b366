/**
 * Runs of ours and of what it is held against, in turn: A B A B. The machine's mood changes within seconds, so the
 * share is the median over pairs of neighbours, and never made from two medians.
 */
import type { ClosedLoopRun } from './load/closed-loop-run.ts';
import { median } from './statistics.ts';

export interface PairedRuns {
  /** Medians. */
  readonly ours: ClosedLoopRun;
  readonly theirs: ClosedLoopRun;
  /** Our throughput as a share of theirs. */
  readonly share: number;
}

export async function runPaired(
  rounds: number,
  ours: () => Promise<ClosedLoopRun>,
  theirs: () => Promise<ClosedLoopRun>,
): Promise<PairedRuns> {
  const pairs: { readonly a: ClosedLoopRun; readonly b: ClosedLoopRun }[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push({ a: await ours(), b: await theirs() });
  return {
    ours: medianRun(pairs.map(({ a }) => a)),
    theirs: medianRun(pairs.map(({ b }) => b)),
    share: median(pairs.map(({ a, b }) => a.perSecond / b.perSecond)),
  };
}

function medianRun(runs: readonly ClosedLoopRun[]): ClosedLoopRun {
  const of = (key: keyof ClosedLoopRun): number => median(runs.map((run) => run[key]));
  return { requests: of('requests'), perSecond: of('perSecond'), p50: of('p50'), p99: of('p99') };
}
