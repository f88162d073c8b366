/** Strategy types: the kinds that a strategy can name. */
import * as v from 'valibot';
import { STRATEGY_TYPE } from '../../../domain/kinds/strategy-type.ts';
import { namedRecords } from '../../../domain/state/directory-records.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { StrategyTypeSchema, StrategyTypesSchema } from '../schemas/targeting-schemas.ts';
import { recorded, settledResponse } from '../views/responses.ts';
import { strategyTypeView } from '../views/targeting-views.ts';

const TYPES = '/strategies';
const TYPE = `${TYPES}/:strategyName`;

const CreateStrategyTypeBody = v.pipe(
  v.object({ name: STRATEGY_TYPE.nameSchema, ...STRATEGY_TYPE.sent }),
  v.title('CreateStrategyType'),
);
const UpdateStrategyTypeBody = v.pipe(v.object(STRATEGY_TYPE.sent), v.title('UpdateStrategyType'));

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
  writeRoute({
    method: 'POST',
    path: TYPES,
    operationId: 'createStrategy',
    tag: 'Strategies',
    summary: 'Define a strategy type that your applications implement.',
    permission: 'targeting:write',
    needs: ['CREATE_STRATEGY'],
    body: CreateStrategyTypeBody,
    success: { status: 201, schema: StrategyTypeSchema },
    refusals: ['NameExistsError', 'InvalidOperationError', 'PayloadTooLargeError'],
    command: ({ body: { name, ...fields } }) => ({
      type: 'create-named',
      kind: 'strategyTypes',
      name,
      fields,
    }),
    respond: (_, events) => jsonResponse(201, strategyTypeView(recorded(events, 'strategy-created').data)),
  }),
  readRoute({
    method: 'GET',
    path: TYPE,
    operationId: 'getStrategy',
    tag: 'Strategies',
    summary: 'Read a strategy type.',
    permission: 'read',
    locate: locate.strategyType,
    success: { status: 200, schema: StrategyTypeSchema },
    refusals: ['NotFoundError'],
    read: (context, type) => settledResponse(context, strategyTypeView(type)),
  }),
  writeRoute({
    method: 'PUT',
    path: TYPE,
    operationId: 'updateStrategy',
    tag: 'Strategies',
    summary: 'Change a strategy type that is not predefined; what is absent keeps its value.',
    permission: 'targeting:write',
    needs: ['UPDATE_STRATEGY'],
    locate: locate.strategyType,
    body: UpdateStrategyTypeBody,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError', 'PayloadTooLargeError'],
    command: ({ params, body }) => ({
      type: 'update-named',
      kind: 'strategyTypes',
      name: params.strategyName,
      fields: body,
    }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'DELETE',
    path: TYPE,
    operationId: 'removeStrategy',
    tag: 'Strategies',
    summary: 'Delete a strategy type that is not predefined and that no strategy uses.',
    permission: 'targeting:write',
    needs: ['DELETE_STRATEGY'],
    locate: locate.strategyType,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({ type: 'delete-named', kind: 'strategyTypes', name: params.strategyName }),
    respond: () => emptyResponse(200),
  }),
  deprecationRoute('deprecate'),
  deprecationRoute('reactivate'),
];
