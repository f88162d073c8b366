/** Why a flag is on or off for a context, now or at any moment of the past (docs/specification/playground.md). */
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import { titled } from '../../domain/json/schema.ts';
import { locateFlag } from '../../domain/state/locate.ts';
import { invalid, isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { ALL, type ProjectState, type World } from '../../domain/state/world.ts';
import { AT_PARAMETER, eventIdIn, pastFlag } from '../../http/admin/flag-history.ts';
import { JSON_HEADERS } from '../../http/serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { contextIssue, contextLength, contextOf } from '../sdk/evaluation/context.ts';
import { Evaluator } from '../sdk/evaluation/evaluator.ts';
import type { EvaluationInput } from '../sdk/evaluation/run.ts';
import { scopeEvaluators } from '../sdk/evaluation/scope-evaluators.ts';
import { ContextSchema } from '../sdk/request-input.ts';
import { bodyOf, explanationPieces } from './explanation-view.ts';
import { ExplanationSchema } from './playground-schemas.ts';

const ExplainBody = titled('ExplainRequest', {
  environment: v.string(),
  context: v.optional(ContextSchema, {}),
});
type Context = RequestContext<v.InferOutput<typeof ExplainBody>>;

/** `random` is for strategies whose stickiness is chance. */
export function playgroundInput(
  sent: Readonly<Record<string, unknown>>,
  nowMs: number,
): EvaluationInput | Refusal {
  const context = contextOf(sent);
  const length = contextLength(context);
  const issue = contextIssue(length);
  if (issue !== null) return invalid(issue, '/body/context');
  return { context, contextLength: length, nowMs, random: Math.random, hostName: null };
}

function noEnvironment(environment: string, project: string): Refusal {
  return invalid(`The project "${project}" has no environment "${environment}".`, '/body/environment');
}

function archived(flag: string): Refusal {
  return notFound(`The flag "${flag}" is archived, so applications do not know it.`);
}

/** Few at a time, as in the playground. */
function response(
  context: Context,
  evaluator: Evaluator,
  explained: Explained,
): Promise<ReadResponse | Refusal> {
  return context.reads.walk(() => responseInTurn(context, evaluator, explained), context.requester);
}

async function responseInTurn(
  context: Context,
  evaluator: Evaluator,
  { input, revision, eventId }: Explained,
): Promise<ReadResponse | Refusal> {
  const { projectId: project, featureName: flag } = context.params;
  const { environment } = context.body;
  const evaluation = evaluator.explanation(flag, input);
  if (evaluation === null) return archived(flag);
  const fields = { name: flag, projectId: project, environment, eventId };
  const pieces = explanationPieces(evaluation, { project, flag, environment }, () => fields);
  const body = await bodyOf(pieces, context, 'give the flag fewer segments');
  if (isRefusal(body)) return body;
  return { revision, response: { status: 200, headers: JSON_HEADERS, body } };
}

interface Explained {
  readonly input: EvaluationInput;
  readonly revision: number;
  readonly eventId: number | null;
}

async function explainNow(context: Context): Promise<ReadResponse | Refusal> {
  const { world, engine, params, body } = context;
  const located = locateFlag(world, params.projectId, params.featureName);
  if (located.refused) return located;
  if (!hasEnvironment(located.project, body.environment)) {
    return noEnvironment(body.environment, params.projectId);
  }
  const input = playgroundInput(body.context, context.now());
  if (isRefusal(input)) return input;
  const scope = { projects: ALL, environment: body.environment } as const;
  const { shown } = await scopeEvaluators(engine).get(scope, () => engine.lastId);
  return response(context, shown.evaluator, { input, revision: shown.revision, eventId: null });
}

async function explainPast(context: Context): Promise<ReadResponse | Refusal> {
  const { requester, params, body } = context;
  const eventId = eventIdIn(context);
  if (isRefusal(eventId)) return eventId;
  const past = await pastFlag(context, eventId, { parents: [] });
  if (past.refused) return past;
  const parents = past.flag.dependencies.map(({ feature }) => feature);
  const whole = parents.length === 0 ? past : await pastFlag(context, eventId, { parents });
  if (whole.refused) return whole;
  if (!hasEnvironment(whole.project, body.environment)) {
    return noEnvironment(body.environment, params.projectId);
  }
  const input = playgroundInput(body.context, whole.atMs ?? context.now());
  if (isRefusal(input)) return input;
  // Other flags of the project stand in for those that were not requested.
  const evaluator = evaluatorWithoutFlags(whole.world, body.environment);
  const flags = [whole.flag, ...parents.flatMap((name) => whole.project.flags.get(name)?.flag ?? [])];
  await inTurns(
    each(flags, (flag) => evaluator.set(flag)),
    requester,
  );
  return response(context, evaluator, { input, revision: whole.eventId, eventId: whole.eventId });
}

/** Without flags, which its caller adds: few of a past project, or all of another in turns. */
export function evaluatorWithoutFlags(world: World, environment: string): Evaluator {
  return new Evaluator({
    environment,
    environmentEnabled: isEnabled(world, environment),
    flags: [],
    segments: world.directory.segments,
  });
}

function isEnabled({ directory }: World, environment: string): boolean {
  return directory.environments.find(({ name }) => name === environment)?.enabled === true;
}

function hasEnvironment({ settings }: ProjectState, environment: string): boolean {
  return settings.environments.includes(environment);
}

export const explainRoutes = underTag('Playground', [
  readRoute('POST /projects/:projectId/features/:featureName/explain', {
    operationId: 'explainFeature',
    summary:
      'Read why a flag is on or off for a context: the strategy, constraint, segment and bucket that decided.',
    query: { at: AT_PARAMETER },
    body: ExplainBody,
    success: { status: 200, schema: ExplanationSchema },
    refusals: ['NotFoundError'],
    read: (context) => (context.query('at') === '' ? explainNow(context) : explainPast(context)),
  }),
]);
