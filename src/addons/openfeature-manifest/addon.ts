/** The flags of a project as a manifest of OpenFeature's command line, which makes typed flags for code of it. */
import type { Addon } from '../../host/addon.ts';

export const openfeatureManifest: Addon = {
  name: 'openfeature-manifest',
  configure: async () => {
    const { manifestSurface } = await import('./manifest-surface.ts');
    return { surfaces: [manifestSurface] };
  },
};
