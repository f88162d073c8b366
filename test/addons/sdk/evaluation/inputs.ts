/** Evaluators and inputs for tests. */
import { contextLength, contextOf } from '../../../../src/addons/sdk/evaluation/context.ts';
import { type EvaluationWalk, Evaluator } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import type { Explanation } from '../../../../src/addons/sdk/evaluation/explanation.ts';
import type { Outcome } from '../../../../src/addons/sdk/evaluation/outcome.ts';
import { type EvaluationInput, finished } from '../../../../src/addons/sdk/evaluation/run.ts';
import { ENVIRONMENT, flagOf, type SdkDocument, type SdkFeature, segmentsOf } from './sdk-document.ts';

/** 1 May 2024, 12:00 UTC. */
export const NOW_MS = Date.UTC(2024, 4, 1, 12);

export function evaluatorOf(document: SdkDocument): Evaluator {
  return new Evaluator({
    environment: ENVIRONMENT,
    environmentEnabled: true,
    flags: document.features.map(flagOf),
    segments: segmentsOf(document),
  });
}

/** Always draws the same number; throws when `random` is absent, so that a test that needs none finds out. */
export function inputOf(
  context: Readonly<Record<string, unknown>>,
  { random = null, hostName = null }: { random?: number | null; hostName?: string | null } = {},
): EvaluationInput {
  const given = contextOf(context);
  return {
    context: given,
    contextLength: contextLength(given),
    nowMs: NOW_MS,
    hostName,
    random: () => {
      if (random === null) throw new Error('nothing here should be drawn at random');
      return random;
    },
  };
}

export function allOutcomes(walk: EvaluationWalk): Outcome[] {
  const outcomes: Outcome[] = [];
  while (!walk.advance(outcomes));
  return outcomes;
}

export function explanationOf(
  evaluator: Evaluator,
  name: string,
  input: EvaluationInput,
): Explanation | null {
  const steps = evaluator.explanation(name, input);
  return steps && finished(steps);
}

/** A flag that is on, with what is given. */
export function feature(parts: Partial<SdkFeature> = {}): SdkFeature {
  return { name: 'flag', enabled: true, strategies: [{ name: 'default' }], ...parts };
}
