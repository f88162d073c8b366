/** The paths that Unleash 6.10 publishes and this server has too, and whether a response is what it publishes of them. */
import { readFileSync } from 'node:fs';
import { passwordSurface } from '../../src/addons/people/session-surfaces.ts';
import { probeSurface } from '../../src/http/serving/probes.ts';
import { SURFACES } from '../support/surfaces.ts';
import { conformsToPublished } from './published-schemas.ts';

/** By method and path: the statuses of successes, each with the name of the schema of its body, or null. */
const PUBLISHED = JSON.parse(
  readFileSync(new URL('published-paths.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** Names that the published paths use, and under which the published schemas have another. */
const ALIASES: Readonly<Record<string, string>> = {
  applicationEnvironmentInstancesSchema: 'applicationEnvironmentInstanceSchema',
  eventSearchResponseSchema: 'eventsSearchResponseSchema',
};

/** With whatever names the parameters have. */
const shapeOf = (operation: string): string => operation.replaceAll(/\{[^}]*\}|:[^/]+/g, '*');

/** Only their routes are looked at, none of which is called. */
const MADE_AT_START = [
  passwordSurface(undefined as never, undefined as never),
  probeSurface({ metrics: null } as never),
];

const OWN = new Set(
  [...SURFACES, ...MADE_AT_START].flatMap(({ prefix, routes }) =>
    routes.map(({ method, path }) => shapeOf(`${method} ${prefix}${path}`)),
  ),
);

/** Operations that both have. */
export const SHARED: readonly string[] = Object.keys(PUBLISHED).filter((one) => OWN.has(shapeOf(one)));

/** Operations that only Unleash has. */
export const MISSING: readonly string[] = Object.keys(PUBLISHED).filter((one) => !OWN.has(shapeOf(one)));

/** The operation that a request is for, if this server has it: the one with the fewest parameters, where several would do. */
export function sharedOperation(method: string, path: string): string | undefined {
  const segments = (path.split('?')[0] ?? '').split('/');
  const fits = (operation: string): boolean => {
    const [itsMethod, itsPath = ''] = operation.split(' ');
    const its = itsPath.split('/');
    return (
      itsMethod === method &&
      its.length === segments.length &&
      its.every((segment, at) => segment.startsWith('{') || segment === segments[at])
    );
  };
  const found = Object.keys(PUBLISHED)
    .filter(fits)
    .sort((a, b) => a.split('{').length - b.split('{').length)[0];
  return found !== undefined && SHARED.includes(found) ? found : undefined;
}

/** The part of the response that is not as published; null: nothing. */
export function departure(operation: string, status: number, body: unknown): string | null {
  const schemas = PUBLISHED[operation] ?? {};
  const found: string[] = [];
  if (!(status in schemas)) found.push(`status ${status}, not ${Object.keys(schemas)}`);
  const schema = schemas[status] ?? Object.values(schemas)[0] ?? null;
  try {
    if (schema !== null) conformsToPublished(ALIASES[schema] ?? schema, body, operation);
  } catch (error) {
    found.push((error as Error).message);
  }
  return found.length === 0 ? null : found.join('; ');
}
