/** Why a flag is on or off for a context, now or at any moment of the past (docs/specification/playground.md). */
import * as v from 'valibot';
import type { PastFlag } from '../../../actors/flag-history.ts';
import { ALL } from '../../../domain/decide/token-commands.ts';
import { contextIssue, contextLength, contextOf } from '../../../domain/evaluation/context.ts';
import { Evaluator } from '../../../domain/evaluation/evaluator.ts';
import type { Explanation } from '../../../domain/evaluation/explanation.ts';
import type { EvaluationInput } from '../../../domain/evaluation/run.ts';
import { locateFlag } from '../../../domain/state/locate.ts';
import { invalid, isRefusal, notFound, type Refusal } from '../../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../../domain/state/world.ts';
import { jsonResponse } from '../../dispatch/json-response.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import { inSlices } from '../../dispatch/slices.ts';
import { ContextSchema } from '../../evaluation/request-input.ts';
import { scopeEvaluators } from '../../evaluation/scope-evaluators.ts';
import { AT_PARAMETER, eventIdIn } from '../flags/history.ts';
import { ExplanationSchema } from '../schemas/playground-schemas.ts';
import { explanationView } from './explanation-view.ts';

const ExplainBody = v.pipe(
  v.object({ environment: v.string(), context: v.optional(ContextSchema, {}) }),
  v.title('ExplainRequest'),
);
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

function response(
  { params, body }: Context,
  explanation: Explanation | null,
  { revision, eventId }: { readonly revision: number; readonly eventId: number | null },
): ReadResponse | Refusal {
  const { projectId: project, featureName: flag } = params;
  const { environment } = body;
  if (explanation === null) return archived(flag);
  const view = explanationView(explanation, { project, flag, environment });
  return {
    revision,
    response: jsonResponse(200, { name: flag, projectId: project, environment, eventId, ...view }),
  };
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
  const { evaluator, revision } = shown;
  const explanation = await explained(context, evaluator, input);
  return response(context, explanation, { revision, eventId: null });
}

async function explainPast(context: Context): Promise<ReadResponse | Refusal> {
  const { reads, engine, asker, params, body } = context;
  const eventId = eventIdIn(context);
  if (isRefusal(eventId)) return eventId;
  const query = { project: params.projectId, flag: params.featureName, eventId, durableId: engine.durableId };
  const past = await reads.flagAt({ ...query, evaluation: { parents: [] } }, asker);
  if (past.refused) return past;
  const parents = past.flag.dependencies.map(({ feature }) => feature);
  const whole =
    parents.length === 0 ? past : await reads.flagAt({ ...query, evaluation: { parents } }, asker);
  if (whole.refused) return whole;
  if (!hasEnvironment(whole.project, body.environment)) {
    return noEnvironment(body.environment, params.projectId);
  }
  const input = playgroundInput(body.context, whole.atMs ?? context.now());
  if (isRefusal(input)) return input;
  const explanation = await explained(context, pastEvaluator(whole, parents, body.environment), input);
  return response(context, explanation, { revision: whole.eventId, eventId: whole.eventId });
}

/** Some of its tests at a time. */
async function explained(
  { params, asker }: Context,
  evaluator: Evaluator,
  input: EvaluationInput,
): Promise<Explanation | null> {
  const explanation = evaluator.explanation(params.featureName, input);
  if (explanation === null) return null;
  await inSlices(() => explanation.advance(), asker);
  return explanation.result();
}

/** Other flags of the project stand in for those that nobody asked for. */
function pastEvaluator(
  { flag, project, world }: PastFlag,
  parents: readonly string[],
  environment: string,
): Evaluator {
  const flags = [flag, ...parents.flatMap((name) => project.flags.get(name)?.flag ?? [])];
  return new Evaluator({
    environment,
    environmentEnabled: isEnabled(world, environment),
    flags,
    segments: world.directory.segments,
  });
}

function isEnabled({ directory }: World, environment: string): boolean {
  return directory.environments.find(({ name }) => name === environment)?.enabled === true;
}

function hasEnvironment({ settings }: ProjectState, environment: string): boolean {
  return settings.environments.includes(environment);
}

export const explainRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/projects/:projectId/features/:featureName/explain',
    operationId: 'explainFeature',
    tag: 'Playground',
    summary:
      'Read why a flag is on or off for a context: the strategy, constraint, segment and bucket that decided.',
    permission: 'read',
    query: { at: AT_PARAMETER },
    body: ExplainBody,
    success: { status: 200, schema: ExplanationSchema },
    refusals: ['NotFoundError', 'ValidationError'],
    read: (context) => (context.query('at') === '' ? explainNow(context) : explainPast(context)),
  }),
];
