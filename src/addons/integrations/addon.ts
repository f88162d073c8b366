/** Integrations, which tell others of events. */
import type { Addon } from '../../host/addon.ts';

export const integrations: Addon = {
  name: 'integrations',
  configure: async () => {
    const [{ API_PREFIX }, { INTEGRATION }, { integrationRoutes }] = await Promise.all([
      import('../../http/serving/surface.ts'),
      import('./kind.ts'),
      import('./routes.ts'),
    ]);
    return { kinds: [INTEGRATION], routes: { [API_PREFIX]: integrationRoutes } };
  },
};
