/** Signed heads of the history, for auditors. */
import type { Addon } from '../../host/addon.ts';

export const audit: Addon = {
  name: 'audit',
  files: ['history.heads', 'history.key', 'history.key.next'],
  settings: [
    {
      names: ['HISTORY_KEY_FILE'],
      initial: '`history.key` in the data folder',
      purpose:
        'key that [signs the history](docs/audit.md#keys), made at the first start; better where only the server may read',
    },
  ],
  verbs: { audit: async () => (await import('./command.ts')).addAudit },
  historyFiles: async (surroundings) => (await import('./head-files.ts')).headFiles(surroundings),
  configure: async (setup) => (await import('./configure.ts')).configureAudit(setup),
};
