/** Every route that the description lists, of all surfaces, under its whole path. */
import type { Route } from '../../src/http/serving/route.ts';
import type { Surface } from '../../src/http/serving/surface.ts';
import { SURFACES } from '../../src/start/surfaces.ts';

export interface DescribedRoute {
  readonly surface: Surface;
  readonly route: Route;
  /** With the prefix of the surface. */
  readonly pattern: string;
}

export const DESCRIBED: readonly DescribedRoute[] = SURFACES.flatMap((surface) =>
  surface.routes.flatMap((route) =>
    route.kind === 'plain' ? [] : [{ surface, route, pattern: surface.prefix + route.path }],
  ),
);
