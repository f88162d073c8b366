/** Reports of applications: what runs where, and how often flags are evaluated. */
import type { Addon } from '../../host/addon.ts';

export const usage: Addon = {
  name: 'usage',
  files: ['usage'],
  configure: async (setup) => (await import('./configure.ts')).configureUsage(setup),
};
