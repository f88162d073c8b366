/** Explanations of evaluations as responses show them: in the shape of Unleash's playground, and with what decided. */
import type {
  ConstraintResult,
  Explanation,
  SegmentResult,
  StrategyResult,
} from '../../../domain/evaluation/explanation.ts';

/** Where in the interface the strategy can be changed. */
export interface StrategyPlace {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}

/** `unknown` is for a strategy of a kind that only the SDK of an application could evaluate. */
type Verdict = boolean | 'unknown';

export function explanationView(explanation: Explanation, place: StrategyPlace) {
  const { outcome, decidedBy, parents, strategies, variant } = explanation;
  return {
    isEnabled: outcome.enabled,
    isEnabledInCurrentEnvironment: !['environment-disabled', 'flag-disabled'].includes(decidedBy.kind),
    hasUnsatisfiedDependency: parents.some(({ result }) => !result),
    strategies: { result: verdictOf(explanation), data: strategies.map((one) => strategyView(one, place)) },
    variant: outcome.toggle.variant,
    decidedBy,
    reason: outcome.reason,
    parentResults: parents.map(({ dependency, result }) => ({ ...dependency, result })),
    variantDecision: variant,
  };
}

function verdictOf({ strategies }: Explanation): Verdict {
  if (strategies.length === 0 || strategies.some(({ result }) => result)) return true;
  return strategies.some(({ status }) => status === 'unknown-kind') ? 'unknown' : false;
}

function strategyView(explained: StrategyResult, { project, flag, environment }: StrategyPlace) {
  const { strategy, status, result, constraints, segments, rollout } = explained;
  const { id, name, title, disabled, parameters } = strategy;
  const edit = `/projects/${project}/features/${flag}/strategies/edit?environmentId=${environment}&strategyId=${id}`;
  return {
    ...{ id, name, title, disabled, parameters },
    result: {
      enabled: status === 'evaluated' ? result : 'unknown',
      evaluationStatus: EVALUATION_STATUS[status],
    },
    constraints: constraints.map(constraintView),
    segments: segments.map(segmentView),
    links: { edit },
    rollout,
  };
}

const EVALUATION_STATUS = {
  evaluated: 'complete',
  disabled: 'unevaluated',
  'unknown-kind': 'incomplete',
} as const;

function constraintView({ constraint, contextValue, result }: ConstraintResult) {
  const { contextName, operator, caseInsensitive = false, inverted = false, values = [], value } = constraint;
  return {
    ...{ contextName, operator, caseInsensitive, inverted, values },
    ...(value === undefined ? {} : { value }),
    contextValue,
    result,
  };
}

function segmentView({ id, name, constraints, result }: SegmentResult) {
  return { id, name: name ?? '', constraints: constraints.map(constraintView), result };
}
