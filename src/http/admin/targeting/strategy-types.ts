/** The deprecation of strategy types. */
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';

function deprecationRoute(action: 'deprecate' | 'reactivate'): Route {
  return writeRoute({
    method: 'POST',
    path: `/strategies/:strategyName/${action}`,
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
  deprecationRoute('deprecate'),
  deprecationRoute('reactivate'),
];
