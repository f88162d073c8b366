/** Repair of damaged data folders. */
import type { Addon } from '../../host/addon.ts';
import type { RepairHost } from './command.ts';

export const repair = (host: RepairHost): Addon => ({
  name: 'repair',
  verbs: { repair: async () => (await import('./command.ts')).addRepair(host) },
});
