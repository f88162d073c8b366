/** The surfaces that applications talk to, as the settings have them. */
import type { Surface } from '../../http/serving/surface.ts';
import { type Environment, oneOf } from '../../process/settings.ts';
import { clientSurface } from './client-surface.ts';
import { edgeSurface } from './edge-surface.ts';
import { frontendSurface } from './frontend-surface.ts';
import { ofrepStreamSurface, ofrepSurface } from './ofrep-surface.ts';

/** None; server-side SDKs; OpenFeature clients besides. */
const STREAMING_HINTS = ['off', 'sdk', 'all'] as const;

/** Nothing is below its path. Pages may read the 404s there, which tell their SDKs. */
const frontendOff: Surface = { ...frontendSurface, access: null, routes: [], description: null };

export function sdkSurfaces(env: Environment): readonly Surface[] {
  const hint = oneOf(env, 'STREAMING_HINT', STREAMING_HINTS, 'off');
  const hasFrontend = oneOf(env, 'FRONTEND_API', ['on', 'off'], 'on') === 'on';
  return [
    clientSurface({ hintsAtStreams: hint !== 'off' }),
    hasFrontend ? frontendSurface : frontendOff,
    ofrepSurface({ hintsAtStreams: hint === 'all' }),
    ofrepStreamSurface,
    edgeSurface,
  ];
}
