/** Signed heads of the history, for auditors. */
import type { Addon } from '../../host/addon.ts';

export const audit: Addon = {
  name: 'audit',
  files: ['history.heads', 'history.key'],
  settings: [
    {
      names: ['HISTORY_KEY_FILE'],
      initial: '`history.key` in the data folder',
      purpose:
        'key that [signs the history](docs/audit.md#keys), created at the first start; should be readable only by the server',
    },
  ],
  verbs: { audit: async () => (await import('./command.ts')).addAudit },
  historyFiles: async (surroundings) => (await import('./head-files.ts')).headFiles(surroundings),
  configure: async (setup) => (await import('./configure.ts')).configureAudit(setup),
};
