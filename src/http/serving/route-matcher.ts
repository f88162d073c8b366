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

export interface Route<T> {
  readonly method: string;
  /** Segments starting with `:` are parameters. */
  readonly pattern: string;
  readonly value: T;
}

type RouteMatch<T> =
  | {
      readonly kind: 'found';
      readonly found: T;
      /** Values in the order of the pattern. */
      readonly params: readonly string[];
    }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'method-not-allowed' /** Sorted, HEAD with GET. */; readonly allowed: string[] }
  | { readonly kind: 'bad-encoding' };

export interface RouteMatcher<T> {
  match(method: string, rawPath: string): RouteMatch<T>;
}

/**
 * Compiles the routes, all under `basePath` (such as `/flags`; empty for none).
 * HEAD goes where GET goes, unless it has a route of its own.
 */
export function compileRoutes<T>(routes: readonly Route<T>[], basePath = ''): RouteMatcher<T> {
  const root = new Branch<T>();
  for (const { method, pattern, value } of routes) {
    const leaf = segmentsOf(basePath + pattern).reduce((branch, segment) => branch.grow(segment), root);
    assert(!leaf.values.has(method), `two routes for ${method} ${pattern}`);
    leaf.values.set(method, value);
  }
  addHead(root);
  const tree: Tree<T> = { last: null, root, trunk: trunkOf(root, routes.length), plain: new Map() };
  addPlain(tree, root, '');
  return { match: (method, rawPath) => match(tree, method, rawPath) };
}

interface Tree<T> {
  /** The last one that was found among `plain`. Comparing with its path is faster than looking up any. */
  last: PlainMatch<T> | null;
  readonly root: Branch<T>;
  readonly trunk: Trunk<T>;
  /** Matches of patterns without parameters, by method and path. Saves searching those that SDKs ask for all the time. */
  readonly plain: Map<string, Map<string, PlainMatch<T>>>;
}

interface PlainMatch<T> {
  readonly method: string;
  readonly path: string;
  readonly match: RouteMatch<T>;
}

/** The fixed prefix that most patterns share, and the branch at its end. Saves searching its segments one by one. */
interface Trunk<T> {
  /** Such as `/api/admin/`. */
  readonly path: string;
  readonly branch: Branch<T>;
}

function trunkOf<T>(root: Branch<T>, routeCount: number): Trunk<T> {
  let trunk: Trunk<T> = { path: '/', branch: root };
  // A parameter beside a fixed segment may have to be tried after it, so the shared prefix ends there.
  while (trunk.branch.parameter === null) {
    const next = [...trunk.branch.fixed].find(([, branch]) => branch.patternCount > routeCount / 2);
    if (next === undefined) break;
    trunk = { path: `${trunk.path}${next[0]}/`, branch: next[1] };
  }
  return trunk;
}

class Branch<T> {
  readonly fixed = new Map<string, Branch<T>>();
  parameter: Branch<T> | null = null;
  /** By method; empty where no pattern ends. */
  readonly values = new Map<string, T>();
  /** How many patterns lead here or further. */
  patternCount = 0;

  /** The branch for one more pattern, which goes on with this segment. */
  grow(segment: string): Branch<T> {
    const grown = this.#branchAt(segment);
    grown.patternCount += 1;
    return grown;
  }

  #branchAt(segment: string): Branch<T> {
    if (segment.startsWith(':')) {
      this.parameter ??= new Branch();
      return this.parameter;
    }
    const known = this.fixed.get(segment);
    if (known !== undefined) return known;
    const grown = new Branch<T>();
    this.fixed.set(segment, grown);
    return grown;
  }
}

/** One search and its results. */
interface Search<T> {
  readonly method: string;
  readonly path: string;
  /** Raw parameter segments on the current way down. */
  readonly params: string[];
  /** Patterns that fit the path but lack the method; null until there is one. */
  others: Branch<T>[] | null;
}

const NO_PARAMS: readonly string[] = [];
const NOT_FOUND = { kind: 'not-found' } as const;
const BAD_ENCODING = { kind: 'bad-encoding' } as const;
const SEMICOLON = ';';

function match<T>(tree: Tree<T>, method: string, path: string): RouteMatch<T> {
  const { last, root, trunk, plain } = tree;
  if (last !== null && last.path === path && last.method === method) return last.match;
  // Four times as fast as `startsWith`.
  const isOnTrunk = path.slice(0, trunk.path.length) === trunk.path;
  const known = isOnTrunk ? undefined : plain.get(method)?.get(path);
  if (known !== undefined) {
    tree.last = known;
    return known.match;
  }
  if (path.charCodeAt(0) !== 0x2f || path.includes(SEMICOLON)) return NOT_FOUND;
  const search: Search<T> = { method, path, params: [], others: null };
  const leaf = isOnTrunk ? descend(search, trunk.branch, trunk.path.length) : descend(search, root, 1);
  if (leaf !== null) return decodeParams(leaf.values.get(method)!, search.params);
  if (search.others === null) return NOT_FOUND;
  return { kind: 'method-not-allowed', allowed: methodsOf(search.others) };
}

/**
 * The branch that the rest of the path, from `start`, leads to and that has the method. Backtracks from fixed
 * segments to parameters; every branch of the tree lies on one way only, so it is visited at most once.
 */
function descend<T>(search: Search<T>, branch: Branch<T>, start: number): Branch<T> | null {
  const slash = search.path.indexOf('/', start);
  const isLast = slash === -1;
  const segment = isLast ? search.path.slice(start) : search.path.slice(start, slash);
  const fixed = branch.fixed.size === 0 ? undefined : branch.fixed.get(segment);
  if (fixed !== undefined) {
    const leaf = isLast ? arrive(search, fixed) : descend(search, fixed, slash + 1);
    if (leaf !== null) return leaf;
  }
  if (branch.parameter === null || !isName(segment)) return null;
  search.params.push(segment);
  const leaf = isLast ? arrive(search, branch.parameter) : descend(search, branch.parameter, slash + 1);
  if (leaf === null) search.params.pop();
  return leaf;
}

function arrive<T>(search: Search<T>, branch: Branch<T>): Branch<T> | null {
  if (branch.values.has(search.method)) return branch;
  if (branch.values.size > 0) {
    search.others ??= [];
    search.others.push(branch);
  }
  return null;
}

/** Empty and dot segments name nothing, in any spelling: a proxy in front may have resolved them already. */
function isName(segment: string): boolean {
  if (segment === '') return false;
  const first = segment.charCodeAt(0);
  if (first !== 0x2e && first !== 0x25) return true;
  const dots = segment.replaceAll(/%2e/gi, '.');
  return dots !== '.' && dots !== '..';
}

/** Decodes in place: the array was made for this search. */
function decodeParams<T>(found: T, params: string[]): RouteMatch<T> {
  for (let i = 0; i < params.length; i += 1) {
    const decoded = decodeSegment(params[i]!);
    if (decoded === null) return BAD_ENCODING;
    params[i] = decoded;
  }
  return { kind: 'found', found, params };
}

function methodsOf<T>(branches: readonly Branch<T>[]): string[] {
  return [...new Set(branches.flatMap((branch) => [...branch.values.keys()]))].sort();
}

function addHead<T>(branch: Branch<T>): void {
  const get = branch.values.get('GET');
  if (get !== undefined && !branch.values.has('HEAD')) branch.values.set('HEAD', get);
  for (const child of branch.fixed.values()) addHead(child);
  if (branch.parameter !== null) addHead(branch.parameter);
}

/** `path`: of the branch. */
function addPlain<T>({ plain }: Pick<Tree<T>, 'plain'>, branch: Branch<T>, path: string): void {
  for (const [method, found] of branch.values) {
    let matches = plain.get(method);
    if (matches === undefined) {
      matches = new Map();
      plain.set(method, matches);
    }
    matches.set(path, { method, path, match: { kind: 'found', found, params: NO_PARAMS } });
  }
  for (const [segment, child] of branch.fixed) addPlain({ plain }, child, `${path}/${segment}`);
}

/** A single slash at the end names the page of a folder: it is an empty last segment, and no other spelling of it. */
function segmentsOf(pattern: string): string[] {
  assert(
    /^(\/[A-Za-z0-9:._~-]+)*\/?$/.test(pattern) && pattern !== '',
    `route pattern ${JSON.stringify(pattern)} is not a plain path`,
  );
  return pattern.split('/').slice(1);
}

/**
 * Percent-decoding of one path segment: exactly once, strictly. Bad hex, bytes that are not shortest-form UTF-8,
 * and control characters (NUL above all) are refused rather than repaired, so that a name has one meaning.
 */

const CONTROL_PATTERN = /\p{Cc}/u;
const PERCENT = 0x25;

/** The decoded segment, or null when its encoding is bad. */
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
