/** Flags in a file: an export of what they are in one environment, and the import of such a file. */
import type { Addon } from '../../host/addon.ts';

export const transfer: Addon = {
  name: 'transfer',
  configure: async () => {
    const [{ API_PREFIX }, { transferRoutes }] = await Promise.all([
      import('../../http/serving/surface.ts'),
      import('./transfer.ts'),
    ]);
    return { routes: { [API_PREFIX]: transferRoutes } };
  },
};
