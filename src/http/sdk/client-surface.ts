/** What server-side SDKs and Unleash Edge ask for. */
import { SDK_ERRORS, sdkAccess } from '../serving/sdk-access.ts';
import type { Surface } from '../serving/surface.ts';
import { deltaRoute } from './client-delta.ts';
import { clientFlagRoutes } from './client-flags.ts';
import { streamingRoute } from './client-streaming.ts';
import { applicationReportRoutes, bulkReportRoutes } from './reports.ts';

export const clientSurface: Surface = {
  prefix: '/api/client',
  access: sdkAccess('client'),
  errors: SDK_ERRORS,
  routes: [
    ...clientFlagRoutes,
    deltaRoute,
    streamingRoute,
    ...applicationReportRoutes({ side: 'backend', below: '', tag: 'Client' }),
    ...bulkReportRoutes,
  ],
  description: `\`/api/client\` is for server-side SDKs: the flags of the projects and the environment that a client token
covers. Only durable changes are shown. 401 and 403 have a body with nothing but a \`message\`.`,
};
