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

/** `fixedPaths`: paths of routes without parameters. */
export function unmatched<T>(
  { method, path }: TransportRequestHead,
  match: Exclude<RouteMatch<T>, { kind: 'found' }>,
  { matcher, fixedPaths }: { readonly matcher: RouteMatcher<T>; readonly fixedPaths: readonly string[] },
): [Refusal, (readonly string[])?] {
  const named = shortened(path);
  if (match.kind === 'not-found') {
    const advice = path.length > SHOWN_LENGTH_MAX ? '' : nearestRoute(path, method, { matcher, fixedPaths });
    return [notFound(`There is nothing at the path ${named}.${advice}`)];
  }
  if (match.kind === 'bad-encoding') {
    return [refuse('ValidationError', `The path ${named} is not valid percent-encoded UTF-8.`)];
  }
  const allowed = match.allowed.join(', ');
  const message = `The path ${named} does not support ${method}; it supports ${allowed}.`;
  return [refuse('MethodNotAllowedError', message), ['allow', allowed]];
}

function nearestRoute<T>(
  path: string,
  method: string,
  { matcher, fixedPaths }: { readonly matcher: RouteMatcher<T>; readonly fixedPaths: readonly string[] },
): string {
  const meant = otherSpellings(path).find((one) => matcher.match(method, one).kind === 'found');
  if (meant !== undefined) return ` Did you mean "${meant}"?`;
  const parent = path.slice(0, path.lastIndexOf('/') + 1);
  const siblings = fixedPaths.filter((one) => one.startsWith(parent)).map((one) => one.slice(parent.length));
  const nearest = nearestName(path.slice(parent.length), siblings);
  return nearest === null ? '' : ` Did you mean "${parent}${nearest}"?`;
}
