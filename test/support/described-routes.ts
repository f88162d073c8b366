/** Every route that the description lists, of all surfaces, under its whole path. */
import assert from 'node:assert/strict';
import type { Route } from '../../src/http/serving/route.ts';
import type { Surface } from '../../src/http/serving/surface.ts';
import { SURFACES } from './surfaces.ts';

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

const PATTERNS = DESCRIBED.map((one) => ({
  one,
  pattern: new RegExp(`^${one.pattern.replaceAll(/:[^/]+/g, '[^/]+')}$`),
  params: one.pattern.split(':').length,
})).toSorted((one, other) => one.params - other.params);

/** The route of a request; the one with the fewest parameters where several match. */
export function describedRoute(method: string, path: string): DescribedRoute {
  const [plain = ''] = path.split('?');
  const found = PATTERNS.find(({ one, pattern }) => one.route.method === method && pattern.test(plain));
  assert(found !== undefined, `no route of the description is ${method} ${plain}`);
  return found.one;
}
