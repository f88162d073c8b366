/** A response made of evaluations for the context of a request. */
import type { Evaluator } from '../../domain/evaluation/evaluator.ts';
import type { EvaluationInput } from '../../domain/evaluation/run.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ReadAnswer, RequestContext } from '../dispatch/route.ts';
import { requestInput, type SentContext } from './request-input.ts';
import type { ScopeEvaluator } from './scope-evaluator.ts';
import { scopeEvaluators } from './scope-evaluators.ts';

/** `reply` evaluates flags of what the caller's token covers, in their newest state. */
export function evaluated(
  request: RequestContext<unknown>,
  sent: SentContext,
  reply: (evaluator: Evaluator, input: EvaluationInput) => ReadAnswer['reply'] | Refusal,
): ReadAnswer | Refusal | Promise<ReadAnswer | Refusal> {
  const input = requestInput(request, sent);
  if (isRefusal(input)) return input;
  const { engine, caller } = request;
  const answer = ({ evaluator, revision }: ScopeEvaluator): ReadAnswer | Refusal => {
    const made = reply(evaluator, input);
    return isRefusal(made) ? made : { revision, reply: made };
  };
  const found = scopeEvaluators(engine).get(caller.scope, () => engine.lastId);
  return found instanceof Promise ? found.then(answer) : answer(found);
}
