/** The surfaces that programs talk to, all of which the description lists. */
import { adminSurface } from './admin/surface.ts';
import { clientSurface } from './client/surface.ts';
import type { Surface } from './dispatch/surface.ts';
import { edgeSurface } from './edge/surface.ts';
import { frontendSurface } from './frontend/surface.ts';
import { ofrepStreamSurface, ofrepSurface } from './ofrep/surface.ts';

export const SURFACES: readonly Surface[] = [
  adminSurface,
  clientSurface,
  frontendSurface,
  ofrepSurface,
  ofrepStreamSurface,
  edgeSurface,
];
