/**
 * Routes about the strategies and the switch of a flag in an environment (docs/specification/strategies.md,
 * docs/specification/switches.md).
 */
import type { Command } from '../../../domain/decide/decide.ts';
import { strategyData } from '../../../domain/decide/strategy-commands.ts';
import { StrategyInputSchema } from '../../../domain/flags/strategy.ts';
import { PatchSchema } from '../../../domain/json/json-patch.ts';
import type { DomainEvent } from '../../../domain/state/events.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import type { Params } from '../../serving/params.ts';
import { type RequestContext, type RouteDraft, underTag, writeRoute } from '../../serving/route.ts';
import type { HttpResponse } from '../../transport/transport.ts';
import * as locate from '../requests/locators.ts';
import { StrategySchema } from '../schemas/schemas.ts';

const ENVIRONMENT = '/projects/:projectId/features/:featureName/environments/:environment';
const STRATEGIES = `${ENVIRONMENT}/strategies`;
const STRATEGY = `${STRATEGIES}/:strategyId`;

const inEnvironment = ({ projectId, featureName, environment }: Params) => ({
  project: projectId,
  flag: featureName,
  environment,
});
const named = (params: Params) => ({ ...inEnvironment(params), strategyId: params.strategyId });

/** The strategy from its event, or from the state when nothing changed. */
function updatedResponse(
  { world, params }: RequestContext<unknown>,
  [event]: readonly DomainEvent[],
): HttpResponse {
  if (event?.type === 'feature-strategy-update') return jsonResponse(200, event.data);
  const { record, strategy } = locate.present(locate.strategy(world, params));
  return jsonResponse(200, strategyData(record.flag, strategy));
}

/** The added strategy, whose id is only in its event. */
function addedResponse(_: RequestContext<unknown>, events: readonly DomainEvent[]): HttpResponse {
  const added = events.find((event) => event.type === 'feature-strategy-add');
  if (added === undefined) throw new Error('a strategy was added without its event');
  return jsonResponse(200, added.data);
}

function switchRoute(position: 'on' | 'off'): RouteDraft {
  return writeRoute(`POST ${ENVIRONMENT}/${position}`, {
    operationId: `toggleFeatureEnvironment${position === 'on' ? 'On' : 'Off'}`,
    tag: 'Features',
    summary: `Switch a flag ${position} in an environment.`,
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE_ENVIRONMENT'],
    locate: locate.flagEnvironment,
    command: ({ params }): Command => ({
      type: 'switch-environment',
      project: params.projectId,
      flag: params.featureName,
      environment: params.environment,
      enabled: position === 'on',
    }),
  });
}

export const strategyRoutes = underTag('Strategies', [
  writeRoute(`POST ${STRATEGIES}`, {
    operationId: 'addFeatureStrategy',
    summary: 'Add a strategy to a flag in an environment.',
    permission: 'flag:write',
    needs: ['CREATE_FEATURE_STRATEGY'],
    locate: locate.flagEnvironment,
    body: StrategyInputSchema,
    success: { status: 200, schema: StrategySchema },
    command: ({ params, body }) => ({ type: 'add-strategy', ...inEnvironment(params), strategy: body }),
    respond: addedResponse,
  }),
  writeRoute(`PUT ${STRATEGY}`, {
    operationId: 'updateFeatureStrategy',
    summary: 'Replace a strategy.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE_STRATEGY'],
    locate: locate.strategy,
    body: StrategyInputSchema,
    success: { status: 200, schema: StrategySchema },
    command: ({ params, body }) => ({ type: 'replace-strategy', ...named(params), strategy: body }),
    respond: updatedResponse,
  }),
  writeRoute(`PATCH ${STRATEGY}`, {
    operationId: 'patchFeatureStrategy',
    summary: 'Change a strategy by a JSON Patch.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE_STRATEGY'],
    locate: locate.strategy,
    body: PatchSchema,
    success: { status: 200, schema: StrategySchema },
    command: ({ params, body }) => ({
      type: 'patch-strategy',
      project: params.projectId,
      flag: params.featureName,
      environment: params.environment,
      strategyId: params.strategyId,
      operations: body,
    }),
    respond: updatedResponse,
  }),
  writeRoute(`DELETE ${STRATEGY}`, {
    operationId: 'deleteFeatureStrategy',
    summary: 'Remove a strategy.',
    permission: 'flag:write',
    needs: ['DELETE_FEATURE_STRATEGY'],
    locate: locate.strategy,
    command: ({ params }) => ({ type: 'remove-strategy', ...named(params) }),
  }),
  switchRoute('on'),
  switchRoute('off'),
]);
