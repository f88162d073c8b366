/** Responses made of evaluations for the context of a request, of what the caller's token covers, in its newest state. */
import type { Evaluator } from '../../domain/evaluation/evaluator.ts';
import type { EvaluationInput } from '../../domain/evaluation/run.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { TaggedResponse } from '../dispatch/json-response.ts';
import type { ReadResponse, RequestContext } from '../dispatch/route.ts';
import type { HttpResponse } from '../transport/transport.ts';
import { requestInput, type SentContext } from './request-input.ts';
import type { ScopeEvaluator } from './scope-evaluator.ts';
import { type ScopeEvaluators, scopeEvaluators } from './scope-evaluators.ts';

type Result = ReadResponse | Refusal;

/** `evaluate` evaluates one flag or a few. */
export function evaluated(
  request: RequestContext<unknown>,
  sent: SentContext,
  evaluate: (evaluator: Evaluator, input: EvaluationInput) => HttpResponse | Refusal,
): Result | Promise<Result> {
  return withEvaluator(request, ({ evaluator, revision }) => {
    const input = requestInput(request, sent);
    if (isRefusal(input)) return input;
    const made = evaluate(evaluator, input);
    return isRefusal(made) ? made : { revision, response: made };
  });
}

export interface ListOptions {
  /** Equal for requests that get the same list of the same state for the same context. */
  readonly key: string;
  /** Evaluates all flags. */
  evaluate(evaluator: Evaluator, input: EvaluationInput): TaggedResponse;
  /** The response, or another in its place that this request gets. */
  finish?(response: TaggedResponse): HttpResponse;
}

/** A list of all flags, which is kept for the next request with the same context where it may be. */
export function evaluatedList(
  request: RequestContext<unknown>,
  sent: SentContext,
  options: ListOptions,
): Result | Promise<Result> {
  return withEvaluator(request, (scope, { repeated }) => {
    const response = listOf(request, sent, { ...options, scope, repeated });
    if (isRefusal(response)) return response;
    return { revision: scope.revision, response: options.finish?.(response) ?? response };
  });
}

function listOf(
  request: RequestContext<unknown>,
  sent: SentContext,
  {
    scope,
    repeated,
    key: list,
    evaluate,
  }: ListOptions & Pick<ScopeEvaluators, 'repeated'> & { readonly scope: ScopeEvaluator },
): TaggedResponse | Refusal {
  const key = `${scope.key}\n${list}\n${sent.key}`;
  const known = repeated.get(key);
  if (known !== undefined) return known;
  const input = requestInput(request, sent);
  if (isRefusal(input)) return input;
  const made = evaluate(scope.evaluator, input);
  if (input.isRepeatable) repeated.keep(key, made);
  return made;
}

function withEvaluator(
  { engine, caller }: RequestContext<unknown>,
  respond: (scope: ScopeEvaluator, evaluators: ScopeEvaluators) => Result,
): Result | Promise<Result> {
  const evaluators = scopeEvaluators(engine);
  const found = evaluators.get(caller.scope, () => engine.lastId);
  if (!(found instanceof Promise)) return respond(found, evaluators);
  return found.then((late) => respond(late, evaluators));
}
