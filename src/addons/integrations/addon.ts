/** Integrations, which tell others of events. */
import type { Addon } from '../../host/addon.ts';
import { row } from '../../process/setting-row.ts';

export const integrations: Addon = {
  name: 'integrations',
  settings: [
    row(
      'INTEGRATION_PRIVATE_HOSTS',
      null,
      'Hosts, separated by commas, to which [integrations](docs/integrations.md#where-it-may-send) may send although their addresses are private.',
    ),
  ],
  files: ['integrations.cursors'],
  configure: async (setup) => (await import('./configure.ts')).configureIntegrations(setup),
};
