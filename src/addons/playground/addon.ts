/** Flags evaluated for a made-up context, and why one is on or off for it. */
import type { Addon } from '../../host/addon.ts';

export const playground: Addon = {
  name: 'playground',
  configure: async () => {
    const [{ API_PREFIX }, { playgroundRoutes }, { explainRoutes }] = await Promise.all([
      import('../../http/serving/surface.ts'),
      import('./playground.ts'),
      import('./explain.ts'),
    ]);
    return { routes: { [API_PREFIX]: [...playgroundRoutes, ...explainRoutes] } };
  },
};
