/** The deprecation of strategy types. */
import { type RouteDraft, underTag, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';

function deprecationRoute(action: 'deprecate' | 'reactivate'): RouteDraft {
  return writeRoute(`POST /strategies/:strategyName/${action}`, {
    operationId: `${action}Strategy`,
    summary:
      action === 'deprecate'
        ? 'Deprecate a strategy type: strategies of the type go on working, and forms stop offering it.'
        : 'Take back the deprecation of a strategy type.',
    permission: 'targeting:write',
    needs: ['UPDATE_STRATEGY'],
    locate: locate.strategyType,
    command: ({ params }) => ({
      type: 'deprecate-strategy-type',
      name: params.strategyName,
      deprecated: action === 'deprecate',
    }),
  });
}

export const strategyTypeRoutes = underTag('Strategies', [
  deprecationRoute('deprecate'),
  deprecationRoute('reactivate'),
]);
