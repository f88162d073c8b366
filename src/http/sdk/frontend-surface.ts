/** What SDKs in browsers and phones ask for: flags already evaluated. */
import { SDK_ERRORS, sdkAccess } from '../serving/sdk-access.ts';
import type { Surface } from '../serving/surface.ts';
import { toggleRoutes } from './frontend-toggles.ts';
import { unsupportedRoutes } from './frontend-unsupported.ts';
import { applicationReportRoutes } from './reports.ts';

export const frontendSurface: Surface = {
  prefix: '/api/frontend',
  access: sdkAccess('frontend'),
  errors: SDK_ERRORS,
  routes: [
    ...toggleRoutes,
    ...unsupportedRoutes,
    ...applicationReportRoutes({ side: 'frontend', below: '/client', tag: 'Frontend' }),
  ],
  isForPages: true,
  description: `\`/api/frontend\` is for SDKs in browsers and phones: the flags that are on for one context, of the projects and
the environment that a frontend token covers. Pages of other origins may call it.`,
};
