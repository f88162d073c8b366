/** Repair of damaged data folders. */
import type { Addon } from '../../host/addon.ts';
import type { Copies } from './command.ts';

export const repair = (copies: Copies): Addon => ({
  name: 'repair',
  verbs: { repair: async () => (await import('./command.ts')).addRepair(copies) },
});
