/**
 * Many flags evaluated for a context, or for many contexts and environments, each with its explanation
 * (docs/specification/playground.md). The shapes are those of Unleash's playground.
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import { environmentOf } from '../../domain/flags/flag.ts';
import { described, list, titled } from '../../domain/json/schema.ts';
import { noEnvironment, refuseUnknownProjects } from '../../domain/state/locate.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { ALL } from '../../domain/state/world.ts';
import { JSON_HEADERS } from '../../http/serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { fieldsLeftOut } from '../sdk/evaluation/context.ts';
import type { EvaluationInput } from '../sdk/evaluation/run.ts';
import type { ScopeEvaluator, ShownScope } from '../sdk/evaluation/scope-evaluator.ts';
import { scopeEvaluators } from '../sdk/evaluation/scope-evaluators.ts';
import type { FlagBlock } from '../sdk/evaluation/sorted-flags.ts';
import { ContextSchema } from '../sdk/request-input.ts';
import { Combinations, type SentContext } from './combinations.ts';
import { playgroundInput } from './explain.ts';
import { bodyOf, explanationPieces } from './explanation-view.ts';
import { AdvancedPlaygroundSchema } from './playground-schemas.ts';

/** Evaluations of one request: flags times contexts times environments. Each takes some ten microseconds, in turns. */
export const EVALUATIONS_MAX = 15_000;

/** Fields of the contexts of all evaluations of a request, each counted as often as it is tried: so many take a second. */
export const TRIED_FIELDS_MAX = 2_000_000;

const ENVIRONMENTS_MAX = 20;
const PROJECTS_MAX = 100;

const PROJECTS_PHRASE = `"*", or a list of at most ${PROJECTS_MAX} project ids`;
const ProjectsSchema = described(
  v.optional(
    v.union(
      [v.literal(ALL), v.pipe(list(v.string(), PROJECTS_PHRASE), v.maxLength(PROJECTS_MAX, PROJECTS_PHRASE))],
      PROJECTS_PHRASE,
    ),
    ALL,
  ),
  'Whose flags to evaluate; those of every project by default.',
);

const ENVIRONMENTS_PHRASE = `a list of 1 to ${ENVIRONMENTS_MAX} names of environments`;
const AdvancedPlaygroundBody = titled('AdvancedPlaygroundRequest', {
  environments: v.pipe(
    list(v.string(), ENVIRONMENTS_PHRASE),
    v.minLength(1, ENVIRONMENTS_PHRASE),
    v.maxLength(ENVIRONMENTS_MAX, ENVIRONMENTS_PHRASE),
  ),
  projects: ProjectsSchema,
  context: described(
    ContextSchema,
    'The context to evaluate for; a text with commas stands for several values, which are tried one by one.',
  ),
});

type Projects = readonly string[] | typeof ALL;

/** A flag that is not archived. */
interface NamedFlag {
  readonly name: string;
  readonly project: string;
}

/** The flags of an evaluator, by name. Refuses more than one request evaluates before it goes through all of them. */
async function flagsOf(
  { world, requester }: RequestContext<unknown>,
  { evaluator }: Pick<Place, 'evaluator'>,
  projects: Projects,
): Promise<NamedFlag[] | Refusal> {
  const wanted = projects === ALL ? world.projects : new Set(projects);
  const found: NamedFlag[] = [];
  const add = ({ flags }: FlagBlock): boolean => {
    for (const { flag } of flags) {
      const { name, project } = flag;
      if (wanted.has(project)) found.push({ name, project });
    }
    return found.length > EVALUATIONS_MAX;
  };
  await inTurns(each(evaluator.blocks, add), requester);
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
  { engine, world, requester }: RequestContext<unknown>,
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
    requester.signal?.throwIfAborted();
  }
}

function evaluationPieces(
  { name, project }: NamedFlag,
  { environment, evaluator }: Place,
  input: EvaluationInput,
  further: object = {},
): Generator<string, void> {
  const evaluation = evaluator.explanation(name, input);
  assert(evaluation !== null, 'the flags are those of the evaluators');
  return explanationPieces(evaluation, { project, flag: name, environment }, ({ flag }) => ({
    ...{ name, projectId: project, variants: environmentOf(flag, environment).variants },
    ...further,
  }));
}

function* bodyPieces(input: unknown, features: Iterable<string>, rest = ''): Generator<string, void> {
  yield `{"input":${JSON.stringify(input)},"features":[`;
  yield* features;
  yield `]${rest}}`;
}

async function playgroundResponse(
  context: RequestContext<unknown>,
  revision: number,
  pieces: Iterable<string>,
): Promise<ReadResponse | Refusal> {
  const body = await bodyOf(pieces, context, 'name fewer projects, values or environments');
  return isRefusal(body) ? body : { revision, response: { status: 200, headers: JSON_HEADERS, body } };
}

function placeBy({ scope, shown }: ScopeEvaluator): Place {
  return { environment: scope.environment, ...shown };
}

/** The environments and flags that a request evaluates, all as they are at one moment. */
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
  const warnings = `,"warnings":${JSON.stringify({ invalidContextProperties: fieldsLeftOut(body.context) })}`;
  const pieces = bodyPieces(body, featurePieces(flags, places, contexts), warnings);
  return playgroundResponse(context, newestOf(places), pieces);
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

function* featurePieces(
  flags: readonly NamedFlag[],
  places: readonly Place[],
  contexts: TriedContexts,
): Generator<string, void> {
  for (const [flagAt, flag] of flags.entries()) {
    yield `${separator(flagAt)}${openingOf(flag)}`;
    for (const [placeAt, place] of places.entries()) {
      const { environment } = place;
      yield `${separator(placeAt)}${JSON.stringify(environment)}:[`;
      for (let at = 0; at < contexts.count; at += 1) {
        const { sent, input } = contexts.at(at);
        assert(!isRefusal(input), 'every context was checked before');
        yield separator(at);
        yield* evaluationPieces(flag, place, input, { environment, context: sent });
      }
      yield ']';
    }
    yield '}}';
  }
}

const separator = (position: number): string => (position === 0 ? '' : ',');

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

/** Refuses the first combination of the values that cannot be evaluated. */
async function refuseContexts(
  context: RequestContext<unknown>,
  combinations: Combinations,
): Promise<Refusal | null> {
  const steps = function* (): Generator<void, Refusal | null> {
    for (let at = 0; at < combinations.count; at += 1) {
      const { input } = triedContext(context, combinations, at);
      if (isRefusal(input)) return input;
      yield;
    }
    return null;
  };
  return inTurns(steps(), context.requester);
}

/** Few at a time, because what each puts together may take megabytes. */
function inTurn<Body>(play: (context: RequestContext<Body>) => Promise<ReadResponse | Refusal>) {
  return (context: RequestContext<Body>) => context.reads.walk(() => play(context), context.requester);
}

export const playgroundRoutes = underTag('Playground', [
  readRoute('POST /playground/advanced', {
    operationId: 'getAdvancedPlayground',
    summary: 'Evaluate flags in several environments for every combination of the values of a context.',
    body: AdvancedPlaygroundBody,
    success: { status: 200, schema: AdvancedPlaygroundSchema },
    read: inTurn(playAdvanced),
  }),
]);
