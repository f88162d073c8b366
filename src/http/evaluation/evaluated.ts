/** A response made of evaluations for the context of a request. */
import type { Evaluator } from '../../domain/evaluation/evaluator.ts';
import type { EvaluationInput } from '../../domain/evaluation/run.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ReadResponse, RequestContext } from '../dispatch/route.ts';
import { requestInput, type SentContext } from './request-input.ts';
import type { ScopeEvaluator } from './scope-evaluator.ts';
import { scopeEvaluators } from './scope-evaluators.ts';

type Evaluate = (evaluator: Evaluator, input: EvaluationInput) => ReadResponse['response'] | Refusal;

/** `evaluate` evaluates flags of what the caller's token covers, in their newest state. */
export function evaluated(
  request: RequestContext<unknown>,
  sent: SentContext,
  evaluate: Evaluate,
): ReadResponse | Refusal | Promise<ReadResponse | Refusal> {
  const input = requestInput(request, sent);
  if (isRefusal(input)) return input;
  const { engine, caller } = request;
  const found = scopeEvaluators(engine).get(caller.scope, () => engine.lastId);
  if (!(found instanceof Promise)) return responseOf(found, input, evaluate);
  return found.then((late) => responseOf(late, input, evaluate));
}

function responseOf(
  { evaluator, revision }: ScopeEvaluator,
  input: EvaluationInput,
  evaluate: Evaluate,
): ReadResponse | Refusal {
  const made = evaluate(evaluator, input);
  return isRefusal(made) ? made : { revision, response: made };
}
