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
import { pendingRequests } from '../../domain/state/pending-requests.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { ALL } from '../../domain/state/world.ts';
import { JSON_HEADERS } from '../../http/serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { fieldsLeftOut } from '../sdk/evaluation/context.ts';
import type { ShownScope } from '../sdk/evaluation/scope-evaluator.ts';
import { scopeEvaluators } from '../sdk/evaluation/scope-evaluators.ts';
import type { FlagBlock } from '../sdk/evaluation/sorted-flags.ts';
import { ContextSchema } from '../sdk/request-input.ts';
import { Combinations } from './combinations.ts';
import { evaluatorWithoutFlags, playgroundInput } from './explain.ts';
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

const RequestPlaygroundBody = titled('ChangeRequestPlaygroundRequest', {
  context: AdvancedPlaygroundBody.entries.context,
});

type Context = RequestContext<unknown>;
type Input = v.InferOutput<typeof AdvancedPlaygroundBody>;

/** A flag that is not archived. */
interface NamedFlag {
  readonly name: string;
  readonly project: string;
}

/** The flags of an evaluator, by name. Refuses more than one request evaluates before it goes through all of them. */
async function flagsOf(
  { world, requester }: Context,
  { evaluator }: Place,
  projects: Input['projects'],
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
  { engine, world, requester }: Context,
  environments: readonly string[],
): Promise<readonly [Place, ...Place[]] | Refusal> {
  const unknown = environments.find(
    (wanted) => !world.directory.environments.some(({ name }) => name === wanted),
  );
  if (unknown !== undefined) return invalid(noEnvironment(world, unknown), '/body/environments');
  const evaluators = scopeEvaluators(engine);
  for (;;) {
    // All projects: the evaluator of a set of them would be made for this request alone.
    const found = environments.map((environment) =>
      evaluators.get({ projects: ALL, environment }, () => engine.lastId),
    );
    // One that has to be made first shows a later moment than the others.
    const ready = found.flatMap((one) =>
      one instanceof Promise ? [] : [{ environment: one.scope.environment, ...one.shown }],
    );
    if (ready.length === found.length) return ready as [Place];
    await Promise.all(found);
    requester.signal?.throwIfAborted();
  }
}

async function playAdvanced(context: RequestContext<Input>): Promise<ReadResponse | Refusal> {
  const { world, body } = context;
  const unknown = body.projects === ALL ? null : refuseUnknownProjects(world, body.projects);
  if (unknown !== null) return unknown;
  const places = await placesOf(context, [...new Set(body.environments)]);
  if (isRefusal(places)) return places;
  return play(context, body, places);
}

/** The flags of the project as a change request would leave them, in its environment. */
async function playRequest(
  context: RequestContext<v.InferOutput<typeof RequestPlaygroundBody>>,
): Promise<ReadResponse | Refusal> {
  const { engine, params, requester, body } = context;
  const { world: whole, lastId: revision } = engine;
  const at = { nowMs: context.now(), lastId: revision };
  const applied = pendingRequests.applied({ seen: context.world, whole }, params.id, at);
  if (isRefusal(applied)) return applied;
  const { environment, world, project } = applied;
  const { flags } = world.projects.get(project)!;
  if (flags.activeCount > EVALUATIONS_MAX)
    return invalid(
      `One request evaluates at most ${EVALUATIONS_MAX} flags, and the project has more.`,
      '/body',
    );
  const evaluator = evaluatorWithoutFlags(world, environment);
  await inTurns(
    each(flags.values(), ({ flag }) => evaluator.set(flag)),
    requester,
  );
  const input = { environments: [environment], projects: [project], context: body.context };
  return play(context, input, [{ environment, evaluator, revision }]);
}

async function play(
  context: Context,
  input: Input,
  places: readonly [Place, ...Place[]],
): Promise<ReadResponse | Refusal> {
  const flags = await flagsOf(context, places[0], input.projects);
  if (isRefusal(flags)) return flags;
  const combinations = Combinations.of(input.context);
  if (isRefusal(combinations)) return combinations;
  const { count, fieldCount } = combinations;
  const flagCount = Math.max(1, flags.length);
  const refusal =
    refuseNumber(flagCount, count, places.length) ??
    refuseFields(flagCount * count * places.length, fieldCount) ??
    (await refuseContexts(context, combinations));
  if (refusal !== null) return refusal;
  const pieces = await bodyOf(
    bodyPieces(context, input, { flags, places, combinations }),
    context,
    'name fewer projects, values or environments',
  );
  if (isRefusal(pieces)) return pieces;
  const revision = Math.max(0, ...places.map((place) => place.revision));
  return { revision, response: { status: 200, headers: JSON_HEADERS, body: pieces } };
}

interface Played {
  readonly flags: readonly NamedFlag[];
  readonly places: readonly Place[];
  readonly combinations: Combinations;
}

function* bodyPieces(
  { now }: Context,
  input: Input,
  { flags, places, combinations }: Played,
): Generator<string, void> {
  yield `{"input":${JSON.stringify(input)},"features":[`;
  for (const [flagAt, { name, project: projectId }] of flags.entries()) {
    yield `${separator(flagAt)}${JSON.stringify({ name, projectId }).slice(0, -1)},"environments":{`;
    for (const [placeAt, { environment, evaluator }] of places.entries()) {
      yield `${separator(placeAt)}${JSON.stringify(environment)}:[`;
      for (let at = 0; at < combinations.count; at += 1) {
        // Made one by one: thousands of them, each with thousands of properties, would take gigabytes.
        const sent = combinations.at(at);
        const tried = playgroundInput(sent, now());
        const evaluation = isRefusal(tried) ? null : evaluator.explanation(name, tried);
        assert(evaluation !== null, 'the flags are those of the evaluators, and every context was checked');
        yield separator(at);
        yield* explanationPieces(evaluation, { project: projectId, flag: name, environment }, ({ flag }) => ({
          ...{ name, projectId, variants: environmentOf(flag, environment).variants },
          ...{ environment, context: sent },
        }));
      }
      yield ']';
    }
    yield '}}';
  }
  yield `],"warnings":${JSON.stringify({ invalidContextProperties: fieldsLeftOut(input.context) })}}`;
}

const separator = (position: number): string => (position === 0 ? '' : ',');

/** Refuses the first combination of the values that cannot be evaluated. */
async function refuseContexts(
  { now, requester }: Context,
  combinations: Combinations,
): Promise<Refusal | null> {
  const steps = function* (): Generator<void, Refusal | null> {
    for (let at = 0; at < combinations.count; at += 1) {
      const input = playgroundInput(combinations.at(at), now());
      if (isRefusal(input)) return input;
      yield;
    }
    return null;
  };
  return inTurns(steps(), requester);
}

export const playgroundRoutes = underTag('Playground', [
  readRoute('POST /playground/advanced', {
    operationId: 'getAdvancedPlayground',
    summary: 'Evaluate flags in several environments for every combination of the values of a context.',
    body: AdvancedPlaygroundBody,
    success: { status: 200, schema: AdvancedPlaygroundSchema },
    // Few at a time, because what each puts together may take megabytes.
    read: (context) => context.reads.walk(() => playAdvanced(context), context.requester),
  }),
  readRoute('POST /playground/change-request/:id', {
    operationId: 'getChangeRequestPlayground',
    summary:
      'Evaluate the flags of a project as an open change request would leave them, in its environment.',
    body: RequestPlaygroundBody,
    success: { status: 200, schema: AdvancedPlaygroundSchema },
    refusals: ['NotFoundError', 'InvalidOperationError'],
    read: (context) => context.reads.walk(() => playRequest(context), context.requester),
  }),
]);
