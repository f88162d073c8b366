/** Change requests as a part of a server: their records, their routes, and the guard of protected environments. */
import type { WorldOwner } from '../../domain/state/world.ts';
import type { ConfiguredAddon, Setup } from '../../host/addon.ts';
import type { AddonMetrics } from '../../http/serving/metrics.ts';
import { API_PREFIX } from '../../http/serving/surface.ts';
import { unrefTimer } from '../../process/timers.ts';
import { configurationRoutes, protectNewProject } from './configuration-routes.ts';
import { DueRequests } from './due-requests.ts';
import { guardEnvironments } from './guard.ts';
import { REQUEST } from './kind.ts';
import { pendingChangeRequests } from './pending.ts';
import { PROTECTION, skipsIn } from './protection.ts';
import { requestRoutes } from './routes.ts';

export function configureChangeRequests({ log }: Pick<Setup, 'log'>): ConfiguredAddon {
  return {
    kinds: [PROTECTION, REQUEST],
    guard: guardEnvironments,
    protectNewProject,
    pending: pendingChangeRequests,
    routes: { [API_PREFIX]: [...configurationRoutes, ...requestRoutes] },
    open: (host) => {
      const due = new DueRequests({
        ...{ engine: host.engine, isLeading: () => host.isLeading(), timer: unrefTimer },
        onFault: (error) =>
          // Operators: report it; it is tried again after ten seconds
          log.error({ err: error }, 'what is due of change requests was not carried out'),
      });
      due.start();
      return { metrics: metricsOf(host.engine), close: () => due.close() };
    },
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
