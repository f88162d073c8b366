/** Flags evaluated for a context that somebody makes up, and why one is on or off for it. */
import type { Addon } from '../../host/addon.ts';

export const playground: Addon = {
  name: 'playground',
  configure: async () => {
    const [{ playgroundRoutes }, { explainRoutes }] = await Promise.all([
      import('./playground.ts'),
      import('./explain.ts'),
    ]);
    return { adminRoutes: [...playgroundRoutes, ...explainRoutes] };
  },
};
