/** Repair of damaged data folders. */
import type { Addon } from '../../host/addon.ts';

export const repair: Addon = {
  name: 'repair',
  verbs: { repair: async () => (await import('./command.ts')).addRepair },
};
