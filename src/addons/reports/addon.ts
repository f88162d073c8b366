/** Reports: how the flags of a project are, what was done lately, and how much there is of everything in the service. */
import type { Addon } from '../../host/addon.ts';

export const reports: Addon = {
  name: 'reports',
  configure: async () => {
    const [{ API_PREFIX }, { projectReportRoutes }, { staleFlagRoutes }, { statisticsRoutes }] =
      await Promise.all([
        import('../../http/serving/surface.ts'),
        import('./project-reports.ts'),
        import('./stale-flags.ts'),
        import('./statistics.ts'),
      ]);
    return { routes: { [API_PREFIX]: [...projectReportRoutes, ...staleFlagRoutes, ...statisticsRoutes] } };
  },
};
