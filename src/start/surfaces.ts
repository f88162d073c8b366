/** The surfaces that programs talk to, all of which the description lists. */
import { adminSurface } from '../http/admin/surface.ts';
import { inviteSurface, resetSurface } from '../http/people/link-surfaces.ts';
import { clientSurface } from '../http/sdk/client-surface.ts';
import { edgeSurface } from '../http/sdk/edge-surface.ts';
import { flagdSurface } from '../http/sdk/flagd-surface.ts';
import { frontendSurface } from '../http/sdk/frontend-surface.ts';
import { ofrepStreamSurface, ofrepSurface } from '../http/sdk/ofrep-surface.ts';
import type { Surface } from '../http/serving/surface.ts';

/** Nothing is below its path. Pages may read the 404s there, by which their SDKs are told so. */
const frontendOff: Surface = { ...frontendSurface, access: null, routes: [], description: null };

/** `frontendApi`: whether SDKs in browsers and phones are served. */
export function surfacesOf({ frontendApi }: { readonly frontendApi: boolean }): readonly Surface[] {
  return frontendApi ? SURFACES : SURFACES.map((one) => (one === frontendSurface ? frontendOff : one));
}

/** Of all requests that SDKs send again and again, as they are sent. */
export function polledPaths(basePath: string): readonly string[] {
  return SURFACES.flatMap(({ prefix, routes }) =>
    routes.flatMap((route) =>
      route.kind === 'read' && route.isPolled === true ? basePath + prefix + route.path : [],
    ),
  );
}

export const SURFACES: readonly Surface[] = [
  adminSurface,
  clientSurface,
  frontendSurface,
  ofrepSurface,
  ofrepStreamSurface,
  edgeSurface,
  flagdSurface,
  resetSurface,
  inviteSurface,
];
