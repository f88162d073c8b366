/**
 * Finds the route for a method and a path in a tree of path segments, which is built once from patterns such as
 * `/api/admin/projects/:projectId/features/:featureName`.
 *
 * - One spelling per resource: matching is on the raw path, so empty segments (`//`, a slash at the end that the
 *   pattern does not have), dot segments (encoded ones too), path parameters (`;`) and encoded spellings of fixed
 *   segments name nothing.
 * - Fixed segments take precedence over parameters. When the fixed segment does not lead to a route with the method,
 *   the parameter is tried, so that a flag named `validate` stays reachable next to `/features/validate`.
 * - Parameters are decoded once, after matching: a `%2F` is part of the value and never splits it.
 */
import assert from 'node:assert/strict';
import { nearestName } from '../../domain/json/nearest-name.ts';
import { notFound, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { TransportRequestHead } from '../transport/transport.ts';
import { NO_PARAMS, type Params } from './params.ts';

export interface Route<T> {
  readonly method: string;
  /** Segments starting with `:` are parameters. */
  readonly pattern: string;
  readonly value: T;
}

type RouteMatch<T> =
  | { readonly kind: 'found'; readonly found: T; readonly params: Params }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'method-not-allowed' /** Sorted, HEAD with GET. */; readonly allowed: string[] }
  | { readonly kind: 'bad-encoding' };

export interface RouteMatcher<T> {
  match(method: string, rawPath: string): RouteMatch<T>;
}

/**
 * Compiles the routes, all under `basePath` (such as `/flags`; empty for none).
 * HEAD takes the route of GET, unless it has its own.
 */
export function compileRoutes<T>(routes: readonly Route<T>[], basePath = ''): RouteMatcher<T> {
  const root = new Branch<T>();
  const fixed = new Map<string, Map<string, RouteMatch<T>>>();
  const ownHeads = new Set(routes.flatMap(({ method, pattern }) => (method === 'HEAD' ? pattern : [])));
  const all = routes.flatMap((route) =>
    route.method === 'GET' && !ownHeads.has(route.pattern) ? [route, { ...route, method: 'HEAD' }] : route,
  );
  for (const { method, pattern, value } of all) {
    const segments = segmentsOf(basePath + pattern);
    const { leaves } = segments.reduce((branch, segment) => branch.grow(segment), root);
    assert(!leaves.has(method), `two routes for ${method} ${pattern}`);
    const names = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1));
    leaves.set(method, { value, names });
    if (names.length > 0) continue;
    const ofMethod = fixed.get(method) ?? new Map<string, RouteMatch<T>>();
    fixed.set(method, ofMethod.set(basePath + pattern, { kind: 'found', found: value, params: NO_PARAMS }));
  }
  let start: Start<T> = { branch: root, prefix: '' };
  return {
    match(method, path) {
      if (start.prefix !== '' && path.startsWith(start.prefix)) return search(start, method, path);
      start = { branch: root, prefix: '' };
      // Saves searching the paths that SDKs ask for all the time.
      return fixed.get(method)?.get(path) ?? search(start, method, path);
    },
  };
}

interface Leaf<T> {
  readonly value: T;
  /** Names of the parameters, in their order. */
  readonly names: readonly string[];
}

class Branch<T> {
  readonly fixed = new Map<string, Branch<T>>();
  parameter: Branch<T> | null = null;
  /** By method; empty where no pattern ends. */
  readonly leaves = new Map<string, Leaf<T>>();

  /** The branch for one more pattern, which goes on with this segment. */
  grow(segment: string): Branch<T> {
    if (segment.startsWith(':')) {
      this.parameter ??= new Branch();
      return this.parameter;
    }
    const grown = this.fixed.get(segment) ?? new Branch<T>();
    this.fixed.set(segment, grown);
    return grown;
  }
}

const NOT_FOUND = { kind: 'not-found' } as const;
const BAD_ENCODING = { kind: 'bad-encoding' } as const;
const [SLASH, DOT, PERCENT] = [0x2f, 0x2e, 0x25] as const;

/** A parameter in the place of a fixed segment, still to be tried. */
interface Fork<T> {
  readonly branch: Branch<T>;
  /** The start of the segment behind it; -1 where the path ends. */
  readonly start: number;
  /** Raw values on the way to it, and its own. */
  readonly values: readonly string[];
}

/** The start of a search: at the first parameter of the path before, if the path leads there too, as most do. */
interface Start<T> {
  branch: Branch<T>;
  /** The path up to there; empty at the root. */
  prefix: string;
}

/** Goes back from fixed segments to parameters; every branch of the tree lies on one way only, so it is visited at most once. */
function search<T>(begin: Start<T>, method: string, path: string): RouteMatch<T> {
  if (path.charCodeAt(0) !== SLASH || path.includes(';')) return NOT_FOUND;
  let forks: Fork<T>[] | null = null;
  let others: Branch<T>[] | null = null;
  let values: string[] = [];
  let { branch } = begin;
  let start = begin.prefix.length || 1;
  for (;;) {
    let next: Branch<T> | undefined;
    if (start === -1) {
      const leaf = branch.leaves.get(method);
      if (leaf !== undefined) return foundAt(leaf, values);
      if (branch.leaves.size > 0) others = [...(others ?? []), branch];
    } else {
      const slash = path.indexOf('/', start);
      const segment = slash === -1 ? path.slice(start) : path.slice(start, slash);
      const from = start;
      start = slash === -1 ? -1 : slash + 1;
      next = branch.fixed.size === 0 ? undefined : branch.fixed.get(segment);
      const { parameter } = branch;
      if (parameter !== null && isName(segment)) {
        if (begin.prefix === '') {
          begin.branch = branch;
          begin.prefix = path.slice(0, from);
        }
        if (next === undefined) {
          next = parameter;
          values.push(segment);
        } else forks = [...(forks ?? []), { branch: parameter, start, values: [...values, segment] }];
      }
    }
    if (next !== undefined) {
      branch = next;
      continue;
    }
    const fork = forks?.pop();
    if (fork === undefined) return others === null ? NOT_FOUND : notAllowed(others);
    ({ branch, start } = fork);
    values = [...fork.values];
  }
}

/** Empty and dot segments name nothing, in any spelling: a proxy in front may have resolved them already. */
function isName(segment: string): boolean {
  const first = segment.charCodeAt(0);
  if (first !== DOT && first !== PERCENT) return segment !== '';
  const dots = segment.replaceAll(/%2e/gi, '.');
  return dots !== '.' && dots !== '..';
}

function foundAt<T>({ value, names }: Leaf<T>, values: readonly string[]): RouteMatch<T> {
  const params: Record<string, string> = {};
  for (let at = 0; at < names.length; at += 1) {
    const decoded = decodeSegment(values[at]!);
    if (decoded === null) return BAD_ENCODING;
    params[names[at]!] = decoded;
  }
  return { kind: 'found', found: value, params: params as Params };
}

function notAllowed<T>(branches: readonly Branch<T>[]): RouteMatch<T> {
  const methods = new Set(branches.flatMap(({ leaves }) => [...leaves.keys()]));
  return { kind: 'method-not-allowed', allowed: [...methods].sort() };
}

/** A single slash at the end names the page of a folder: it is an empty last segment, and no other spelling of it. */
function segmentsOf(pattern: string): string[] {
  assert(
    /^(\/[A-Za-z0-9:._~-]+)*\/?$/.test(pattern) && pattern !== '',
    `route pattern ${JSON.stringify(pattern)} is not a plain path`,
  );
  return pattern.slice(1).split('/');
}

const CONTROL_PATTERN = /\p{Cc}/u;

/**
 * Percent-decoding of one path segment: exactly once, strictly. Bad hex, bytes that are not shortest-form UTF-8,
 * and control characters (NUL above all) are refused rather than repaired, so that a name has one meaning.
 */
function decodeSegment(raw: string): string | null {
  let isEncoded = false;
  // One loop instead of two searches: this runs for every parameter of every request.
  for (let i = 0; i < raw.length; i += 1) {
    const code = raw.charCodeAt(i);
    // Undecoded, only visible ASCII may stand in a path. Other bytes must come percent-encoded.
    if (code <= 0x20 || code >= 0x7f) return null;
    isEncoded ||= code === PERCENT;
  }
  return isEncoded ? decode(raw) : raw;
}

function decode(raw: string): string | null {
  try {
    // Strict by specification: bad hex, overlong forms, surrogates and cut sequences all throw.
    const decoded = decodeURIComponent(raw);
    return CONTROL_PATTERN.test(decoded) ? null : decoded;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

// The response where no route matches, and its headers.

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
