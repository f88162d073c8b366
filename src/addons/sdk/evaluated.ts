/** Responses made of evaluations for the context of a request, of what the caller's token covers, in its newest state. */
import { atOnce, inTurns, until } from '../../actors/turn.ts';
import { networkOf } from '../../domain/flags/address.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import type { TaggedResponse } from '../../http/serving/json-response.ts';
import type { ReadResponse, RequestContext } from '../../http/serving/route.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';
import type { EvaluationWalk } from './evaluation/evaluator.ts';
import type { Outcome } from './evaluation/outcome.ts';
import type { Renderings } from './evaluation/renderings.ts';
import type { ScopeEvaluator, ShownScope } from './evaluation/scope-evaluator.ts';
import { type ScopeEvaluators, scopeEvaluators } from './evaluation/scope-evaluators.ts';
import type { OutcomeList } from './outcome-lists.ts';
import { type RequestInput, requestInput, type SentContext } from './request-input.ts';

type Result = ReadResponse | Refusal;

/** Longer lists wait for their turn before they are begun, because waiting lists must take no memory. */
export const FLAGS_AT_ONCE = 2_000;

/** So many outcomes are put into a list together, which takes a tenth of a millisecond when their bytes are there. */
const OUTCOMES_AT_ONCE = 1_024;

/** About what a request holds while it waits, without its context. */
const REQUEST_BYTES = 16 * 1024;

/** One flag; a refusal where the token does not cover it. */
export function evaluated(
  request: RequestContext<unknown>,
  sent: SentContext,
  { name, respond }: { readonly name: string; respond(outcome: Outcome): HttpResponse },
): Result | Promise<Result> {
  return withEvaluator(request, ({ shown }) => {
    const input = requestInput(request, sent);
    if (isRefusal(input)) return input;
    const { evaluator, revision } = shown;
    if (!evaluator.has(name)) return notFound(`This token covers no flag "${name}".`);
    const evaluation = evaluator.evaluation(name, input);
    const read = (outcome: Outcome): ReadResponse => ({ revision, response: respond(outcome) });
    const done = atOnce(evaluation);
    return done !== null ? read(done.value) : inTurns(evaluation, request.requester).then(read);
  });
}

export interface ListOptions {
  /** Equal for requests that get the same list of the same state for the same context. */
  readonly key: string;
  readonly onlyEnabled: boolean;
  begin(renderings: Renderings): OutcomeList;
  /** The response, or another in its place that this request gets. */
  finish?(response: TaggedResponse): HttpResponse;
}

/**
 * A list of all flags at one moment, which is cached for the next request with the same context where it may be. Of few flags it is made
 * at once, of many in turns.
 */
export function evaluatedList(
  request: RequestContext<unknown>,
  sent: SentContext,
  options: ListOptions,
): Result | Promise<Result> {
  return withEvaluator(request, (scope, evaluators) => {
    const list = begun(request, sent, { scope, evaluators, options });
    if (!(list instanceof EvaluatedList)) return list;
    if (scope.shown.evaluator.size <= FLAGS_AT_ONCE && atOnce(until(() => list.advance())) !== null)
      return list.end(sent);
    const { signal, name } = request.requester;
    const requester = { name: `${name} ${networkOf(request.remoteAddress())}`, signal };
    return evaluators.longLists.run(
      () => longList(request, sent, options),
      requester,
      REQUEST_BYTES + 2 * sent.key.length,
    );
  });
}

async function longList(
  request: RequestContext<unknown>,
  sent: SentContext,
  options: ListOptions,
): Promise<Result> {
  const { signal } = request.requester;
  return withEvaluator(request, async (scope, evaluators) => {
    const list = begun(request, sent, { scope, evaluators, options });
    if (!(list instanceof EvaluatedList)) return list;
    await inTurns(
      until(() => list.advance()),
      { signal },
    );
    return list.end(sent);
  });
}

interface WantedList {
  readonly scope: ScopeEvaluator;
  readonly evaluators: ScopeEvaluators;
  readonly options: ListOptions;
}

/** The list to evaluate, unless it is cached or the context is refused. */
function begun(
  request: RequestContext<unknown>,
  sent: SentContext,
  { scope, evaluators, options }: WantedList,
): EvaluatedList | Result {
  const cached = evaluators.lists.get(`${scope.key}\n${options.key}\n${sent.key}`);
  if (cached !== undefined) return readOf(cached, scope.shown, options);
  const input = requestInput(request, sent);
  return isRefusal(input) ? input : new EvaluatedList(evaluators, { scope, input, options });
}

function readOf(list: TaggedResponse, { revision }: ShownScope, { finish }: ListOptions): ReadResponse {
  return { revision, response: finish?.(list) ?? list };
}

interface EvaluatedListOptions {
  readonly scope: ScopeEvaluator;
  readonly input: RequestInput;
  readonly options: ListOptions;
}

class EvaluatedList {
  readonly #evaluators: ScopeEvaluators;
  readonly #scope: ScopeEvaluator;
  readonly #shown: ShownScope;
  readonly #input: RequestInput;
  readonly #options: ListOptions;
  readonly #walk: EvaluationWalk;
  readonly #list: OutcomeList;
  #outcomes: Outcome[] = [];
  /** The number of outcomes that are in the list. */
  #at = 0;
  #isWalked = false;

  constructor(evaluators: ScopeEvaluators, { scope, input, options }: EvaluatedListOptions) {
    this.#evaluators = evaluators;
    this.#scope = scope;
    this.#shown = scope.shown;
    this.#input = input;
    this.#options = options;
    this.#walk = this.#shown.evaluator.walk(input, options.onlyEnabled);
    this.#list = options.begin(evaluators.renderings);
  }

  /** Evaluates some more flags, or adds some more to the list. True when all are in it. */
  advance(): boolean {
    if (!this.#isWalked && this.#outcomes.length < OUTCOMES_AT_ONCE) {
      this.#isWalked = this.#walk.advance(this.#outcomes);
      return false;
    }
    this.#at = this.#list.add(this.#outcomes, this.#at);
    if (this.#at < this.#outcomes.length) return false;
    this.#outcomes = [];
    this.#at = 0;
    return this.#isWalked;
  }

  end(sent: SentContext): ReadResponse {
    const made = this.#list.end();
    // A list that took its time may show what is not the newest state any more.
    const isNewest = this.#scope.shown === this.#shown;
    if (isNewest && this.#input.isRepeatable)
      this.#evaluators.lists.set(`${this.#scope.key}\n${this.#options.key}\n${sent.key}`, made);
    return readOf(made, this.#shown, this.#options);
  }
}

function withEvaluator(
  { state, caller }: RequestContext<unknown>,
  respond: (scope: ScopeEvaluator, evaluators: ScopeEvaluators) => Result | Promise<Result>,
): Result | Promise<Result> {
  const evaluators = scopeEvaluators(state);
  const found = evaluators.get(caller.scope, () => state.lastId);
  if (!(found instanceof Promise)) return respond(found, evaluators);
  return found.then((late) => respond(late, evaluators));
}
