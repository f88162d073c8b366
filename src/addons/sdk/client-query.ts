/** The flags that a request asks for: those that its token covers, narrowed by its query string. */
import type { Cache, CachePart, CachePartOptions } from '../../actors/cache.ts';
import type { Requester } from '../../actors/turn.ts';
import { defaultEnvironment, locateEnvironment } from '../../domain/state/locate.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { ALL, type ProjectState, type World } from '../../domain/state/world.ts';
import { type CallerScope, UNLIMITED } from '../../http/serving/access.ts';
import { FILTER_PARAMETERS, type FlagFilter, filterOf, isFiltering } from '../../http/serving/flag-filter.ts';
import type { RequestContext } from '../../http/serving/route.ts';
import { onceEach } from './evaluation/once-each.ts';

export interface ClientQuery extends FlagFilter {
  readonly environment: string;
  /** Project ids in alphabetical order. */
  readonly projects: readonly string[] | typeof ALL;
  readonly inlineSegments: boolean;
  /** Whether a query string narrows what the token covers. */
  readonly isNarrowed: boolean;
  /** Equal for queries that ask for the same. */
  readonly key: string;
}

/** The caller who is charged for the time that a narrowed query takes (src/actors/loop-accounts.ts). The response that all callers with the token share is charged to none. */
export function payerOf(
  { isNarrowed }: ClientQuery,
  context: RequestContext<unknown>,
): Requester | undefined {
  if (!isNarrowed) return undefined;
  const { name, charge } = context.requester;
  return { name, charge };
}

export function requesterOf(query: ClientQuery, context: RequestContext<unknown>): Requester {
  const { signal } = context.requester;
  return { name: '', ...payerOf(query, context), signal };
}

/** Values cached by the keys of queries. Those of narrowed queries are many, and take no room from the others (src/actors/cache.ts). */
export class QueryCache<V> {
  readonly #whole: CachePart<string, V>;
  readonly #narrowed: CachePart<string, V>;

  constructor(cache: Cache, options: Omit<CachePartOptions<string, V>, 'isMultiplied'>) {
    this.#whole = cache.part(options);
    this.#narrowed = cache.part({ ...options, isMultiplied: true });
  }

  get size(): number {
    return this.#whole.size + this.#narrowed.size;
  }

  of({ isNarrowed }: ClientQuery): CachePart<string, V> {
    return isNarrowed ? this.#narrowed : this.#whole;
  }
}

/** The first version of the SDKs' specification in which clients resolve references to segments. */
const SEGMENTS_SINCE = { major: 4, minor: 2 };

export function projectsOf(
  world: World,
  { projects }: Pick<ClientQuery, 'projects'>,
): Iterable<ProjectState> {
  if (projects === ALL) return world.projects.values();
  return projects.flatMap((id) => world.projects.get(id) ?? []);
}

export function coversProject({ projects }: Pick<ClientQuery, 'projects'>, id: string): boolean {
  return projects === ALL || projects.includes(id);
}

export function clientQuery(
  context: RequestContext<unknown>,
  inlineSegments = !knowsSegments(context.header('unleash-client-spec')),
): ClientQuery | Refusal {
  const { scope } = context.caller;
  if (context.rawQuery !== '') return narrowed(context, inlineSegments);
  return scope.environment === ALL
    ? queryOfAnyone(context.world, inlineSegments)
    : queryOfScope(scope, inlineSegments);
}

/** For a caller without a token. Its environment is not its own, and may become another. */
export function queryOfAnyone(world: World, inlineSegments: boolean): ClientQuery {
  return makeQuery(UNLIMITED, { inlineSegments, environment: defaultEnvironment(world) });
}

/** For all that a token covers; it names an environment. */
export function queryOfScope(scope: CallerScope, inlineSegments: boolean): ClientQuery {
  return queriesOfScope(scope)[inlineSegments ? 1 : 0]!;
}

/** Nearly every request is one of these two: of a token, without a query string. */
const queriesOfScope = onceEach((scope: CallerScope) =>
  [false, true].map((inlineSegments) => makeQuery(scope, { inlineSegments })),
);

interface Narrowing extends Partial<FlagFilter> {
  readonly inlineSegments: boolean;
  readonly environment?: string | undefined;
  readonly projects?: readonly string[];
}

/** Makes the query. The token's scope is fixed: a query string only narrows what the token leaves open. */
function makeQuery(scope: CallerScope, narrowing: Narrowing): ClientQuery {
  const { inlineSegments, namePrefix = '', tags = [], projects: asked = ALL } = narrowing;
  const environment = scope.environment === ALL ? (narrowing.environment ?? '') : scope.environment;
  const covered = scope.projects === ALL ? asked : scope.projects;
  const projects: ClientQuery['projects'] = covered === ALL ? ALL : [...new Set(covered)].sort();
  const parts = { environment, projects, namePrefix, tags, inlineSegments };
  const isNarrowed = isFiltering(parts) || (scope.projects === ALL && projects !== ALL);
  return { ...parts, isNarrowed, key: JSON.stringify(parts) };
}

function narrowed(context: RequestContext<unknown>, inlineSegments: boolean): ClientQuery | Refusal {
  const { world, caller } = context;
  const filter = filterOf(context);
  if (isRefusal(filter)) return filter;
  const environment = context.query('environment') || defaultEnvironment(world);
  if (caller.scope.environment === ALL && environment !== undefined) {
    const located = locateEnvironment(world, environment);
    if (isRefusal(located)) return invalid(located.message, '/query/environment');
  }
  const projects = context.queryAll('project');
  return makeQuery(caller.scope, {
    ...filter,
    inlineSegments,
    environment,
    ...(projects.length === 0 ? {} : { projects }),
  });
}

/** The header that was read last, and its verdict: nearly all clients of a service send the same one. */
let lastSpec = '';
let lastVerdict = false;

function knowsSegments(clientSpec: string): boolean {
  if (clientSpec === lastSpec) return lastVerdict;
  const [, major, minor] = /^(\d{1,4})\.(\d{1,4})/.exec(clientSpec) ?? [];
  const majorsAhead = Number(major) - SEGMENTS_SINCE.major;
  lastSpec = clientSpec;
  lastVerdict = majorsAhead > 0 || (majorsAhead === 0 && Number(minor) >= SEGMENTS_SINCE.minor);
  return lastVerdict;
}

export const QUERY_PARAMETERS = {
  project: {
    description: 'Id of a project; may be given more than once. A token for some projects decides itself.',
  },
  ...FILTER_PARAMETERS,
  environment: {
    description: 'Only without authentication: the environment. Otherwise it is that of the token.',
  },
} as const;
