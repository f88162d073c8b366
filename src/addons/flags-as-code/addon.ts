/** Flags in files beside the code that asks for them. */
import type { Addon } from '../../host/addon.ts';

export const flagsAsCode: Addon = {
  name: 'flags-as-code',
  verbs: {
    plan: async () => (await import('./commands.ts')).addPlan,
    apply: async () => (await import('./commands.ts')).addApply,
    pull: async () => (await import('./pull.ts')).addPull,
    promote: async () => (await import('./commands.ts')).addPromote,
  },
  configure: async () => {
    const [{ API_PREFIX }, { flagsAsCodeRoutes }] = await Promise.all([
      import('../../http/serving/surface.ts'),
      import('./routes.ts'),
    ]);
    return { routes: { [API_PREFIX]: flagsAsCodeRoutes } };
  },
};
