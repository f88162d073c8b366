/** HTTP on node:http, for platforms without a binary of uWebSockets.js, and for a limit on the connections of one address. */
import type { Addon } from '../../host/addon.ts';
import { row } from '../../process/setting-row.ts';
import { CONNECTIONS_PER_ADDRESS_MAX, engineOf } from './settings.ts';

export const nodeHttp: Addon = {
  name: 'node-http',
  settings: [
    {
      names: ['CONNECTIONS_PER_ADDRESS'],
      initial: 'no limit',
      purpose: `connections that one address may have open, up to ${CONNECTIONS_PER_ADDRESS_MAX.toLocaleString('en')}; makes \`HTTP_ENGINE=auto\` mean \`node\``,
    },
    row('HTTP_ENGINE', 'auto', '`uws` (uWebSockets.js), `node` (node:http), or the first available'),
  ],
  configure: async ({ env }) => {
    const engine = engineOf(env);
    return engine === null ? null : { engine };
  },
};
