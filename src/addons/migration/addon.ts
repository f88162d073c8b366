/** Import from an Unleash. */
import type { Addon } from '../../host/addon.ts';

export const migration: Addon = {
  name: 'migration',
  verbs: { 'import-unleash': async () => (await import('./command.ts')).addImportUnleash },
};
