/** Change requests as a part of a server: their records, their routes, and the guard of protected environments. */
import type { WorldOwner } from '../../domain/state/world.ts';
import type { ConfiguredAddon } from '../../host/addon.ts';
import type { AddonMetrics } from '../../http/serving/metrics.ts';
import { API_PREFIX } from '../../http/serving/surface.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { guardEnvironments } from './guard.ts';
import { REQUEST } from './kind.ts';
import { pendingChangeRequests } from './pending.ts';
import { PROTECTION, skipsIn } from './protection.ts';
import { requestRoutes } from './routes.ts';

export function configureChangeRequests(): ConfiguredAddon {
  return {
    kinds: [PROTECTION, REQUEST],
    guard: guardEnvironments,
    pending: pendingChangeRequests,
    routes: { [API_PREFIX]: [...configurationRoutes, ...requestRoutes] },
    open: ({ engine }) => ({ metrics: metricsOf(engine) }),
  };
}

/** Counted in the state, so it goes on after a restart. */
export const metricsOf = (state: WorldOwner): AddonMetrics => ({
  counters: [
    [
      'flagstaff_change_request_skips_total',
      'Changes of protected environments that were made without a change request.',
      () => skipsIn(state.world),
    ],
  ],
});
