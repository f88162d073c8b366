/**
 * Many flags evaluated for a context, or for many contexts and environments, each with its explanation
 * (docs/specification/playground.md). The shapes are those of Unleash's playground.
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { ALL } from '../../../domain/decide/token-commands.ts';
import type { FlagEvaluation } from '../../../domain/evaluation/evaluator.ts';
import type { Explanation } from '../../../domain/evaluation/explanation.ts';
import type { EvaluationInput } from '../../../domain/evaluation/run.ts';
import { environmentOf } from '../../../domain/flags/flag.ts';
import { list } from '../../../domain/json/list-schema.ts';
import { noEnvironment, refuseUnknownProjects } from '../../../domain/state/locate.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { JSON_HEADERS } from '../../dispatch/json-response.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import { inSlices } from '../../dispatch/slices.ts';
import { ContextSchema } from '../../evaluation/request-input.ts';
import type { ScopeEvaluator, ShownScope } from '../../evaluation/scope-evaluator.ts';
import { scopeEvaluators } from '../../evaluation/scope-evaluators.ts';
import { AdvancedPlaygroundSchema, PlaygroundSchema } from '../schemas/playground-schemas.ts';
import { Combinations, type SentContext } from './combinations.ts';
import { playgroundInput } from './explain.ts';
import { explanationView } from './explanation-view.ts';

/** Evaluations of one request: flags times contexts times environments. Each takes some ten microseconds, in slices. */
export const EVALUATIONS_MAX = 15_000;

/** Of the contexts of all evaluations of a request, each counted as often as it is tried: so many take a second. */
export const TRIED_FIELDS_MAX = 2_000_000;

/** Of a response, in characters: explanations repeat strategies and segments, which may be large. */
export const RESPONSE_LENGTH_MAX = 8 * 1024 * 1024;

const ENVIRONMENTS_MAX = 20;
const PROJECTS_MAX = 100;

const PROJECTS_PHRASE = `"*", or a list of at most ${PROJECTS_MAX} project ids`;
const ProjectsSchema = v.pipe(
  v.optional(
    v.union(
      [v.literal(ALL), v.pipe(list(v.string(), PROJECTS_PHRASE), v.maxLength(PROJECTS_MAX, PROJECTS_PHRASE))],
      PROJECTS_PHRASE,
    ),
    ALL,
  ),
  v.description('Whose flags to evaluate; those of every project by default.'),
);

const PlaygroundBody = v.pipe(
  v.object({ environment: v.string(), projects: ProjectsSchema, context: ContextSchema }),
  v.title('PlaygroundRequest'),
);

const ENVIRONMENTS_PHRASE = `a list of 1 to ${ENVIRONMENTS_MAX} names of environments`;
const AdvancedPlaygroundBody = v.pipe(
  v.object({
    environments: v.pipe(
      list(v.string(), ENVIRONMENTS_PHRASE),
      v.minLength(1, ENVIRONMENTS_PHRASE),
      v.maxLength(ENVIRONMENTS_MAX, ENVIRONMENTS_PHRASE),
    ),
    projects: ProjectsSchema,
    context: v.pipe(
      ContextSchema,
      v.description(
        'As that of the playground; a text with commas stands for several values, which are tried one by one.',
      ),
    ),
  }),
  v.title('AdvancedPlaygroundRequest'),
);

type Projects = readonly string[] | typeof ALL;

/** A flag that is not archived. */
interface NamedFlag {
  readonly name: string;
  readonly project: string;
}

/** Those of an evaluator, by name. Refuses more than one request evaluates before it goes through all of them. */
async function flagsOf(
  { asker }: RequestContext<unknown>,
  { evaluator }: Pick<Place, 'evaluator'>,
  projects: Projects,
): Promise<NamedFlag[] | Refusal> {
  const wanted = projects === ALL ? null : new Set(projects);
  const found: NamedFlag[] = [];
  const { blocks } = evaluator;
  let at = 0;
  await inSlices(() => {
    for (const { flag } of blocks[at]?.flags ?? []) {
      const { name, project } = flag;
      if (wanted === null || wanted.has(project)) found.push({ name, project });
    }
    at += 1;
    return at >= blocks.length || found.length > EVALUATIONS_MAX;
  }, asker);
  return found.length > EVALUATIONS_MAX ? TOO_MANY_FLAGS : found;
}

const TOO_MANY_FLAGS = invalid(
  `One request evaluates at most ${EVALUATIONS_MAX} times, and the projects have more flags; name fewer projects.`,
  '/body/projects',
);

function refuseNumber(flags: number, contexts: number, environments: number): Refusal | null {
  if (flags * contexts * environments <= EVALUATIONS_MAX) return null;
  return invalid(
    `One request evaluates at most ${EVALUATIONS_MAX} times, and these are ${flags} flags, ${contexts} contexts and ${environments} environments; name fewer projects, values or environments.`,
    '/body',
  );
}

function refuseFields(evaluations: number, fields: number): Refusal | null {
  if (evaluations * fields <= TRIED_FIELDS_MAX) return null;
  return invalid(
    `The contexts of one request may have at most ${TRIED_FIELDS_MAX} fields over all evaluations, and these are ${evaluations} evaluations with ${fields} fields; send fewer fields, values, projects or environments.`,
    '/body/context',
  );
}

interface Place extends ShownScope {
  readonly environment: string;
}

/** Several environments as they are at the same moment. */
async function placesOf(
  { engine, world, asker }: RequestContext<unknown>,
  environments: readonly string[],
  path: string,
): Promise<readonly [Place, ...Place[]] | Refusal> {
  const unknown = environments.find(
    (wanted) => !world.directory.environments.some(({ name }) => name === wanted),
  );
  if (unknown !== undefined) return invalid(noEnvironment(world, unknown), path);
  const evaluators = scopeEvaluators(engine);
  for (;;) {
    // All projects: the evaluator of a set of them would be made for this request alone.
    const found = environments.map((environment) =>
      evaluators.get({ projects: ALL, environment }, () => engine.lastId),
    );
    // One that has to be made first shows a later moment than the others.
    const ready = found.flatMap((one) => (one instanceof Promise ? [] : [placeBy(one)]));
    if (ready.length === found.length) return ready as [Place];
    await Promise.all(found);
    asker.signal.throwIfAborted();
  }
}

/** Flags evaluated one after another, some of the tests of each at a time. */
class FlagByFlag {
  #current: FlagEvaluation<Explanation> | null = null;

  /** A flag for one context in one environment; undefined as long as it is to be asked for again. */
  evaluation({ name, project }: NamedFlag, { environment, evaluator }: Place, input: EvaluationInput) {
    this.#current ??= evaluator.explanation(name, input);
    assert(this.#current !== null, 'the flags are those of the evaluators');
    if (!this.#current.advance()) return undefined;
    const explanation = this.#current.result();
    this.#current = null;
    const view = explanationView(explanation, { project, flag: name, environment });
    const { variants } = environmentOf(explanation.flag, environment);
    return { name, projectId: project, ...view, variants };
  }
}

/**
 * JSON made in slices: `next` gives the next piece of text, which may be empty, and undefined at the end. Pieces are counted one by one, because those of
 * one flag may be longer than a whole response.
 */
async function joined(
  { asker }: RequestContext<unknown>,
  next: () => string | undefined,
): Promise<string | Refusal> {
  const pieces: string[] = [];
  let length = 0;
  await inSlices(() => {
    const piece = next();
    if (piece === undefined) return true;
    pieces.push(piece);
    length += piece.length;
    return length > RESPONSE_LENGTH_MAX;
  }, asker);
  if (length <= RESPONSE_LENGTH_MAX) return `[${pieces.join('')}]`;
  return invalid(
    `The explanations are longer than ${RESPONSE_LENGTH_MAX} characters; name fewer projects, values or environments.`,
    '/body',
  );
}

function jsonOf(input: unknown, features: string, rest = ''): ReadResponse['response'] {
  const body = `{"input":${JSON.stringify(input)},"features":${features}${rest}}`;
  return { status: 200, headers: JSON_HEADERS, body };
}

function placeBy({ scope, shown }: ScopeEvaluator): Place {
  return { environment: scope.environment, ...shown };
}

/** What a request evaluates, and by what: all of it as it is at one moment. */
interface Begun {
  readonly places: readonly [Place, ...Place[]];
  readonly flags: readonly NamedFlag[];
}

async function begin(
  context: RequestContext<{ readonly projects: Projects }>,
  environments: readonly string[],
  path: string,
): Promise<Begun | Refusal> {
  const { projects } = context.body;
  const unknown = projects === ALL ? null : refuseUnknownProjects(context.world, projects);
  if (unknown !== null) return unknown;
  const places = await placesOf(context, environments, path);
  if (isRefusal(places)) return places;
  const flags = await flagsOf(context, places[0], projects);
  return isRefusal(flags) ? flags : { places, flags };
}

const newestOf = (places: readonly Place[]): number =>
  places.reduce((newest, { revision }) => Math.max(newest, revision), 0);

async function play(
  context: RequestContext<v.InferOutput<typeof PlaygroundBody>>,
): Promise<ReadResponse | Refusal> {
  const { body } = context;
  const input = playgroundInput(body.context, context.now());
  if (isRefusal(input)) return input;
  const begun = await begin(context, [body.environment], '/body/environment');
  if (isRefusal(begun)) return begun;
  const { flags, places } = begun;
  const [place] = places;
  const flagByFlag = new FlagByFlag();
  let at = 0;
  const features = await joined(context, () => {
    const flag = flags[at];
    if (flag === undefined) return undefined;
    const evaluation = flagByFlag.evaluation(flag, place, input);
    if (evaluation === undefined) return '';
    at += 1;
    return `${at === 1 ? '' : ','}${JSON.stringify(evaluation)}`;
  });
  if (isRefusal(features)) return features;
  return { revision: place.revision, response: jsonOf(body, features) };
}

async function playAdvanced(
  context: RequestContext<v.InferOutput<typeof AdvancedPlaygroundBody>>,
): Promise<ReadResponse | Refusal> {
  const { body } = context;
  const environments = [...new Set(body.environments)];
  const begun = await begin(context, environments, '/body/environments');
  if (isRefusal(begun)) return begun;
  const { flags, places } = begun;
  const combinations = Combinations.of(body.context);
  if (isRefusal(combinations)) return combinations;
  const { count } = combinations;
  const flagCount = Math.max(1, flags.length);
  const tooMany =
    refuseNumber(flagCount, count, environments.length) ??
    refuseFields(flagCount * count * environments.length, combinations.fieldCount);
  if (tooMany !== null) return tooMany;
  const refusal = await refuseContexts(context, combinations);
  if (refusal !== null) return refusal;
  const contexts = { count, at: (index: number) => triedContext(context, combinations, index) };
  const features = await joined(context, featureSteps(flags, places, contexts));
  if (isRefusal(features)) return features;
  const warnings = ',"warnings":{"invalidContextProperties":[]}';
  return { revision: newestOf(places), response: jsonOf(body, features, warnings) };
}

interface TriedContext {
  readonly sent: SentContext;
  readonly input: EvaluationInput | Refusal;
}

/** Made one by one: thousands of them, each with thousands of properties, would take gigabytes. */
interface TriedContexts {
  readonly count: number;
  at(index: number): TriedContext;
}

/** Each step evaluates one flag for one context in one environment, and gives the next piece of the JSON. */
function featureSteps(
  flags: readonly NamedFlag[],
  places: readonly Place[],
  contexts: TriedContexts,
): () => string | undefined {
  const perFlag = places.length * contexts.count;
  const flagByFlag = new FlagByFlag();
  let step = 0;
  /** Before the next evaluation in the list of its environment. */
  let separator = '';
  return () => {
    const flag = flags[Math.floor(step / perFlag)];
    if (flag === undefined) return undefined;
    const inFlag = step % perFlag;
    const placeAt = Math.floor(inFlag / contexts.count);
    const contextAt = inFlag % contexts.count;
    const place = places[placeAt]!;
    const { sent, input } = contexts.at(contextAt);
    const { environment } = place;
    const evaluation = isRefusal(input) ? null : flagByFlag.evaluation(flag, place, input);
    if (evaluation === undefined) return '';
    let piece = '';
    if (inFlag === 0) piece += `${step === 0 ? '' : ','}${openingOf(flag)}`;
    if (contextAt === 0) {
      piece += `${placeAt === 0 ? '' : ','}${JSON.stringify(environment)}:[`;
      separator = '';
    }
    if (evaluation !== null) {
      piece += separator + JSON.stringify({ ...evaluation, environment, context: sent });
      separator = ',';
    }
    if (contextAt === contexts.count - 1) piece += ']';
    step += 1;
    return inFlag === perFlag - 1 ? `${piece}}}` : piece;
  };
}

const openingOf = ({ name, project }: NamedFlag): string =>
  `{"name":${JSON.stringify(name)},"projectId":${JSON.stringify(project)},"environments":{`;

function triedContext(
  { now }: RequestContext<unknown>,
  combinations: Combinations,
  index: number,
): TriedContext {
  const sent = combinations.at(index);
  return { sent, input: playgroundInput(sent, now()) };
}

/** Of every combination of the values the first that cannot be evaluated. */
async function refuseContexts(
  context: RequestContext<unknown>,
  combinations: Combinations,
): Promise<Refusal | null> {
  let refusal: Refusal | null = null;
  let at = 0;
  await inSlices(() => {
    const { input } = triedContext(context, combinations, at);
    if (isRefusal(input)) refusal = input;
    at += 1;
    return refusal !== null || at >= combinations.count;
  }, context.asker);
  return refusal;
}

/** Few at a time, because what each puts together may take megabytes. */
function inTurn<Body>(play: (context: RequestContext<Body>) => Promise<ReadResponse | Refusal>) {
  return (context: RequestContext<Body>) => context.reads.walk(() => play(context), context.asker);
}

export const playgroundRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/playground',
    operationId: 'getPlayground',
    tag: 'Playground',
    summary: 'Evaluate flags for a context, each with what decided.',
    permission: 'read',
    body: PlaygroundBody,
    success: { status: 200, schema: PlaygroundSchema },
    refusals: ['ValidationError'],
    read: inTurn(play),
  }),
  readRoute({
    method: 'POST',
    path: '/playground/advanced',
    operationId: 'getAdvancedPlayground',
    tag: 'Playground',
    summary: 'Evaluate flags in several environments for every combination of the values of a context.',
    permission: 'read',
    body: AdvancedPlaygroundBody,
    success: { status: 200, schema: AdvancedPlaygroundSchema },
    refusals: ['ValidationError'],
    read: inTurn(playAdvanced),
  }),
];
