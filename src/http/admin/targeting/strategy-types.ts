/** Strategy types: the kinds that a strategy can name. */
import { namedRecords } from '../../../domain/state/directory-records.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { StrategyTypeSchema, StrategyTypesSchema } from '../schemas/targeting-schemas.ts';
import { settledResponse } from '../views/responses.ts';
import { strategyTypeView } from '../views/views.ts';
import { namedRoutes } from './named-routes.ts';

const TYPES = '/strategies';
const TYPE = `${TYPES}/:strategyName`;

const { create, read, update, remove } = namedRoutes({
  kind: 'strategyTypes',
  path: TYPES,
  param: 'strategyName',
  tag: 'Strategies',
  shown: StrategyTypeSchema,
  view: (_, type) => strategyTypeView(type),
  bodies: ['CreateStrategyType', 'UpdateStrategyType'],
  create: {
    operationId: 'createStrategy',
    summary: 'Define a strategy type that your applications implement.',
    needs: ['CREATE_STRATEGY'],
  },
  read: { operationId: 'getStrategy', summary: 'Read a strategy type.' },
  update: {
    operationId: 'updateStrategy',
    summary: 'Change a strategy type that is not predefined; what is absent keeps its value.',
    needs: ['UPDATE_STRATEGY'],
  },
  remove: {
    operationId: 'removeStrategy',
    summary: 'Delete a strategy type that is not predefined and that no strategy uses.',
    needs: ['DELETE_STRATEGY'],
  },
});

function deprecationRoute(action: 'deprecate' | 'reactivate'): Route {
  return writeRoute({
    method: 'POST',
    path: `${TYPE}/${action}`,
    operationId: `${action}Strategy`,
    tag: 'Strategies',
    summary:
      action === 'deprecate'
        ? 'Deprecate a strategy type: strategies of the type go on working, and forms stop offering it.'
        : 'Take back the deprecation of a strategy type.',
    permission: 'targeting:write',
    needs: ['UPDATE_STRATEGY'],
    locate: locate.strategyType,
    success: { status: 200, schema: null },
    command: ({ params }) => ({
      type: 'deprecate-strategy-type',
      name: params.strategyName,
      deprecated: action === 'deprecate',
    }),
    respond: () => emptyResponse(200),
  });
}

export const strategyTypeRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: TYPES,
    operationId: 'getAllStrategies',
    tag: 'Strategies',
    summary: 'List the strategy types.',
    permission: 'read',
    success: { status: 200, schema: StrategyTypesSchema },
    read: (context) =>
      settledResponse(context, {
        version: 1,
        strategies: namedRecords(context.world, 'strategyTypes').map(strategyTypeView),
      }),
  }),
  create,
  read,
  update,
  remove,
  deprecationRoute('deprecate'),
  deprecationRoute('reactivate'),
];
