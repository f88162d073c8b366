/** Which flags a request asks for: what its token covers, narrowed by its query string. */
import { ALL } from '../../domain/decide/token-commands.ts';
import type { Flag, Tag } from '../../domain/flags/flag.ts';
import { defaultEnvironment, locateEnvironment } from '../../domain/state/locate.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { CallerScope } from '../dispatch/access.ts';
import type { RequestContext } from '../dispatch/route.ts';

export interface FeatureQuery {
  readonly environment: string;
  /** In alphabetical order. */
  readonly projects: readonly string[] | typeof ALL;
  /** Empty: any name. */
  readonly namePrefix: string;
  /** In alphabetical order; a flag needs one of them. Empty: any flag. */
  readonly tags: readonly Tag[];
  readonly inlineSegments: boolean;
  /** Whether a query string narrows what the token covers. */
  readonly isNarrowed: boolean;
  /** Equal for queries that ask for the same. */
  readonly key: string;
}

/** The first version of the SDKs' specification in which clients resolve references to segments. */
const SEGMENTS_SINCE = { major: 4, minor: 2 };

export function featureQuery(context: RequestContext<unknown>): FeatureQuery | Refusal {
  const inlineSegments = !knowsSegments(context.header('unleash-client-spec'));
  const { scope } = context.caller;
  if (context.rawQuery !== '') return narrowed(context.world, scope, context.rawQuery, inlineSegments);
  // The environment of a caller without a token is not its own, and may become another.
  if (scope.environment === ALL) {
    return makeQuery(scope, { inlineSegments, environment: defaultEnvironment(context.world) });
  }
  let known = queriesOfScopes.get(scope);
  if (known === undefined) {
    known = [false, true].map((inline) => makeQuery(scope, { inlineSegments: inline }));
    queriesOfScopes.set(scope, known);
  }
  return known[inlineSegments ? 1 : 0]!;
}

/** Nearly every request is one of these two: of a token, without a query string. */
const queriesOfScopes = new WeakMap<CallerScope, readonly FeatureQuery[]>();

interface Narrowing {
  readonly inlineSegments: boolean;
  readonly environment?: string | undefined;
  readonly projects?: readonly string[];
  readonly namePrefix?: string;
  readonly tags?: readonly Tag[];
}

/** What a token covers is not up to its bearer: a query string only narrows what the token leaves open. */
function makeQuery(scope: CallerScope, narrowing: Narrowing): FeatureQuery {
  const { inlineSegments, namePrefix = '', tags = [], projects: asked = ALL } = narrowing;
  const environment = scope.environment === ALL ? (narrowing.environment ?? '') : scope.environment;
  const covered = scope.projects === ALL ? asked : scope.projects;
  const projects: FeatureQuery['projects'] = covered === ALL ? ALL : [...new Set(covered)].sort();
  const parts = { environment, projects, namePrefix, tags, inlineSegments };
  const isNarrowed = namePrefix !== '' || tags.length > 0 || (scope.projects === ALL && projects !== ALL);
  return { ...parts, isNarrowed, key: JSON.stringify(parts) };
}

function narrowed(
  world: World,
  scope: CallerScope,
  rawQuery: string,
  inlineSegments: boolean,
): FeatureQuery | Refusal {
  const sent = new URLSearchParams(rawQuery);
  const tags = tagsOf(sent.getAll('tag'));
  if (isRefusal(tags)) return tags;
  const environment = sent.get('environment') ?? defaultEnvironment(world);
  if (scope.environment === ALL && environment !== undefined) {
    const located = locateEnvironment(world, environment);
    if (isRefusal(located)) return invalid(located.message, '/query/environment');
  }
  const projects = sent.getAll('project');
  return makeQuery(scope, {
    inlineSegments,
    environment,
    namePrefix: sent.get('namePrefix') ?? '',
    tags,
    ...(projects.length === 0 ? {} : { projects }),
  });
}

function tagsOf(texts: readonly string[]): readonly Tag[] | Refusal {
  const tags: Tag[] = [];
  for (const text of [...new Set(texts)].sort()) {
    const colon = text.indexOf(':');
    if (colon < 1 || colon === text.length - 1) {
      return invalid(
        `The query parameter tag must be a type and a value such as "simple:checkout", not ${JSON.stringify(text.slice(0, 100))}.`,
        '/query/tag',
      );
    }
    tags.push({ type: text.slice(0, colon), value: text.slice(colon + 1) });
  }
  return tags;
}

export function matches({ namePrefix, tags }: FeatureQuery, flag: Flag): boolean {
  if (!flag.name.startsWith(namePrefix)) return false;
  return tags.length === 0 || flag.tags.some((has) => tags.some((one) => isSameTag(one, has)));
}

function isSameTag(a: Tag, b: Tag): boolean {
  return a.type === b.type && a.value === b.value;
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
