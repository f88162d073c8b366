/** Explanations of evaluations as responses show them: in the shape of Unleash's playground, and with what decided. */
import { each, inTurns } from '../../actors/turn.ts';
import { invalid, type Refusal } from '../../domain/state/refusal.ts';
import type { RequestContext } from '../../http/serving/route.ts';
import { BodyPieces } from '../../http/transport/response.ts';
import type {
  ConstraintResult,
  Explanation,
  SegmentResult,
  StrategyResult,
} from '../sdk/evaluation/explanation.ts';
import type { Steps } from '../sdk/evaluation/run.ts';

/** The place of a strategy in the interface, where it can be changed. */
export interface StrategyPlace {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}

/** `unknown` is for a strategy of a kind that only the SDK of an application could evaluate. */
type Verdict = boolean | 'unknown';

/** Characters of a response: explanations repeat strategies and segments, which may be large. */
export const RESPONSE_LENGTH_MAX = 8 * 1024 * 1024;

/**
 * An explanation as JSON, in pieces: one of each strategy, which may have half a megabyte with its segments, and empty ones while the flag
 * is evaluated. `fieldsOf` gives what stands before it.
 */
export function* explanationPieces(
  evaluation: Steps<Explanation>,
  place: StrategyPlace,
  fieldsOf: (explanation: Explanation) => object,
): Generator<string, void> {
  let step = evaluation.next();
  for (; step.done !== true; step = evaluation.next()) yield '';
  const explanation = step.value;
  const { outcome, decidedBy, parents, strategies, variant, contextValues } = explanation;
  const view = {
    ...fieldsOf(explanation),
    isEnabled: outcome.enabled,
    isEnabledInCurrentEnvironment: !['environment-disabled', 'flag-disabled'].includes(decidedBy.kind),
    hasUnsatisfiedDependency: parents.some(({ result }) => !result),
    variant: outcome.toggle.variant,
    decidedBy,
    reason: outcome.reason,
    parentResults: parents.map(({ dependency, result }) => ({ ...dependency, result })),
    variantDecision: variant,
    contextValues: Object.fromEntries(contextValues),
  };
  const result = JSON.stringify(verdictOf(explanation));
  yield `${JSON.stringify(view).slice(0, -1)},"strategies":{"result":${result},"data":[`;
  for (const [at, strategy] of strategies.entries()) {
    yield `${at === 0 ? '' : ','}${JSON.stringify(strategyView(strategy, place))}`;
  }
  yield ']}}';
}

/** Pieces of so many characters are made bytes together, which takes a millisecond at most. */
const ENCODED_LENGTH = 128 * 1024;

/** A body of pieces, made in turns. A refusal when it is longer than a response may be; `advice` says what makes it shorter. */
export async function bodyOf(
  pieces: Iterable<string>,
  { requester }: Pick<RequestContext<unknown>, 'requester'>,
  advice: string,
): Promise<BodyPieces | Refusal> {
  const encoded: Uint8Array[] = [];
  let [text, length, byteLength] = ['', 0, 0];
  const encode = (): void => {
    const bytes = Buffer.from(text);
    encoded.push(bytes);
    byteLength += bytes.byteLength;
    text = '';
  };
  const add = (piece: string): boolean => {
    text += piece;
    length += piece.length;
    if (text.length >= ENCODED_LENGTH) encode();
    return length > RESPONSE_LENGTH_MAX;
  };
  await inTurns(each(pieces, add), requester);
  encode();
  if (length <= RESPONSE_LENGTH_MAX) return new BodyPieces(encoded, byteLength);
  return invalid(`The explanation is longer than ${RESPONSE_LENGTH_MAX} characters; ${advice}.`, '/body');
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

function constraintView({ constraint, result }: ConstraintResult) {
  const { contextName, operator, caseInsensitive = false, inverted = false, values = [], value } = constraint;
  return {
    ...{ contextName, operator, caseInsensitive, inverted, values },
    ...(value === undefined ? {} : { value }),
    result,
  };
}

function segmentView({ id, name, constraints, result }: SegmentResult) {
  return { id, name: name ?? '', constraints: constraints.map(constraintView), result };
}
