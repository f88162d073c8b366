/** What is told where no route matches, and the headers that belong to it. */
import { nearestName } from '../../domain/state/nearest-name.ts';
import { notFound, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { TransportRequestHead } from '../transport/transport.ts';
import type { RouteMatch, RouteMatcher } from './route-matcher.ts';

/** Longer paths are not repeated whole. No route is as long. */
const SHOWN_LENGTH_MAX = 200;

/** Other spellings of a path that people mean: with or without a slash at the end, and with one slash for several. */
function otherSpellings(path: string): readonly string[] {
  const bare = path.replace(/\/{1,10}$/, '');
  return [bare, `${bare}/`, bare.replaceAll(/\/{2,10}/g, '/')].filter((one) => one !== path && one !== '');
}

function shortened(path: string): string {
  return path.length <= SHOWN_LENGTH_MAX ? path : `${path.slice(0, SHOWN_LENGTH_MAX)}…`;
}

interface KnownRoutes<T> {
  readonly matcher: RouteMatcher<T>;
  /** The paths of all routes, with their prefixes. */
  readonly patterns: readonly string[];
}

export function unmatched<T>(
  { method, path }: TransportRequestHead,
  match: Exclude<RouteMatch<T>, { kind: 'found' }>,
  known: KnownRoutes<T>,
): [Refusal, (readonly string[])?] {
  const named = shortened(path);
  if (match.kind === 'not-found') {
    const advice = path.length > SHOWN_LENGTH_MAX ? '' : nearestRoute(path, method, known);
    return [notFound(`There is nothing at the path ${named}.${advice}`)];
  }
  if (match.kind === 'bad-encoding') {
    return [refuse('ValidationError', `The path ${named} is not valid percent-encoded UTF-8.`)];
  }
  const allowed = match.allowed.join(', ');
  const message = `The path ${named} does not support ${method}; it supports ${allowed}.`;
  return [refuse('MethodNotAllowedError', message), ['allow', allowed]];
}

function nearestRoute<T>(path: string, method: string, { matcher, patterns }: KnownRoutes<T>): string {
  const meant = otherSpellings(path).find((one) => matcher.match(method, one).kind === 'found');
  if (meant !== undefined) return ` Did you mean "${meant}"?`;
  const segments = path.split('/');
  const misspelled = misspellings(segments, patterns);
  for (let at = segments.length - 1; at > 0; at -= 1) {
    const nearest = nearestName(segments[at]!, misspelled.get(at) ?? []);
    if (nearest !== null) return ` Did you mean "${segments.with(at, nearest).join('/')}"?`;
  }
  return '';
}

/** By position: what would have to stand there for one of the patterns to match, if everything else stays. */
function misspellings(segments: readonly string[], patterns: readonly string[]): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const pattern of patterns) {
    const expected = pattern.split('/');
    if (expected.length !== segments.length) continue;
    const differing = [...segments.keys()].filter((at) => !isAt(segments[at]!, expected[at]!));
    const [at] = differing;
    if (differing.length !== 1 || at === undefined || expected[at]!.startsWith(':')) continue;
    found.set(at, (found.get(at) ?? new Set()).add(expected[at]!));
  }
  return found;
}

const isAt = (segment: string, expected: string): boolean =>
  expected.startsWith(':') ? segment !== '' : segment === expected;
