/** Change requests: changes of an environment that others approve before they are applied. */
import type { Addon } from '../../host/addon.ts';

export const changeRequests: Addon = {
  name: 'change-requests',
  configure: async (setup) => (await import('./configure.ts')).configureChangeRequests(setup),
};
