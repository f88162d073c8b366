/** Flags for applications: the interfaces of SDKs, and of OpenFeature. */
import type { Addon } from '../../host/addon.ts';
import { row } from '../../process/setting-row.ts';

export const sdk: Addon = {
  name: 'sdk',
  settings: [
    row('FRONTEND_API', 'on', '`off`: everything below `/api/frontend` responds 404'),
    row(
      'STREAMING_HINT',
      'off',
      '`sdk`: tells polling server-side SDKs to stream; `all`: also OpenFeature clients in browsers',
    ),
  ],
  configure: async ({ env }) => ({ surfaces: (await import('./surfaces.ts')).sdkSurfaces(env) }),
};
