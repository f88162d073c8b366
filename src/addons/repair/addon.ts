/** Repair of damaged data folders. */
import type { Addon } from '../../host/addon.ts';
import type { RepairParts } from './command.ts';

export const repair = (parts: () => Promise<RepairParts>): Addon => ({
  name: 'repair',
  verbs: { repair: async () => (await import('./command.ts')).addRepair(await parts()) },
});
