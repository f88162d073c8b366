/** The search for flags in all projects (docs/specification/flags.md#search). */

import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import type { FlagsSeen } from '../../actors/usage-view.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { shown } from '../../domain/json/issues.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { authorOf } from '../serving/access.ts';
import { JSON_HEADERS } from '../serving/json-response.ts';
import {
  type QueryParameter,
  type ReadResponse,
  type RequestContext,
  readRoute,
  underTag,
} from '../serving/route.ts';
import { flagsNow, type ShownFlag } from './chunk-walk.ts';
import { callerFavorites } from './favorites.ts';
import { CONDITION_PARAMETERS, type FlagTest, flagConditions } from './flag-conditions.ts';
import { FoundFlagSchema, foundFlagView } from './found-flag.ts';
import * as locate from './locators.ts';
import { projectFigures } from './project-figures.ts';
import { choiceIn, DIRECTIONS, pageParameters } from './query-parameters.ts';
import { settledResponse } from './responses.ts';
import { NextOffset } from './schemas.ts';
import { SortedPage } from './sorted-page.ts';

// The orders in which the search lists flags (docs/specification/flags.md#search).

const FIELDS = ['name', 'type', 'project', 'createdAt', 'lastSeenAt', 'stale'] as const;

/** A switch is sorted by the environment's name behind it. */
const SWITCH = 'environment:';

const ORDER_PARAMETERS: Readonly<Record<'sortBy' | 'sortOrder', QueryParameter>> = {
  sortBy: {
    description: `One of ${FIELDS.join(', ')}, or ${SWITCH}<name> for a switch; createdAt unless sent.`,
  },
  sortOrder: { description: 'asc, unless desc is sent.', schema: { type: 'string', enum: DIRECTIONS } },
};

type FlagOrder = (a: Flag, b: Flag) => number;

function flagOrder(context: Pick<RequestContext<unknown>, 'query'>, seen: FlagsSeen): FlagOrder | Refusal {
  const field = context.query('sortBy') || 'createdAt';
  const isKnown = FIELDS.some((one) => one === field) || field.startsWith(SWITCH);
  if (!isKnown) {
    return invalid(
      `The query parameter sortBy must be one of ${FIELDS.join(', ')}, or ${SWITCH} and the name of an environment, not ${shown(field)}.`,
      '/query/sortBy',
    );
  }
  const direction = choiceIn(context, 'sortOrder', DIRECTIONS, 'asc');
  if (isRefusal(direction)) return direction;
  const sign = direction === 'asc' ? 1 : -1;
  const keyOf = sortKey(field, seen);
  // Names are unique, so that pages never overlap.
  return (a, b) => sign * compare(keyOf(a), keyOf(b)) || compare(a.name, b.name);
}

type Key = string | number;

function sortKey(field: string, seen: FlagsSeen): (flag: Flag) => Key {
  switch (field as (typeof FIELDS)[number]) {
    case 'name':
      return ({ name }) => name;
    case 'type':
      return ({ type }) => type;
    case 'project':
      return ({ project }) => project;
    case 'stale':
      return ({ stale }) => Number(stale);
    case 'createdAt':
      return ({ createdAt }) => createdAt;
    case 'lastSeenAt':
      return ({ name }) => seen.flag(name)?.atMs ?? 0;
    default: {
      const environment = field.slice(SWITCH.length);
      return (flag) => Number(environmentOf(flag, environment).enabled);
    }
  }
}

const compare = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0);

// Schemas of responses to searches for flags.

const FoundFlagsSchema = titled('FoundFlags', {
  features: v.array(FoundFlagSchema),
  total: described(Integer, 'All that were found, whatever the page.'),
  nextOffset: NextOffset,
});

const FlagCreatorsSchema = v.array(titled('FlagCreator', { id: Integer, name: v.string() }));

/** Bytes after which a page ends although more flags were found. Protects the event loop, and memory. */
const PAGE_BYTES_MAX = 1024 * 1024;

const PAGE = pageParameters({
  limitMax: 100,
  limitInitial: 50,
  limit: 'The maximum number of flags; 50 unless it is sent.',
  offset: 'How many flags to pass over.',
});

type Context = RequestContext<unknown>;

interface Search {
  readonly isWanted: FlagTest;
  readonly order: FlagOrder;
  readonly limit: number;
  readonly offset: number;
}

function searchOf(context: Context): Search | Refusal {
  const page = PAGE.of(context);
  if (isRefusal(page)) return page;
  const favorites = favoriteFlags(context);
  const isWanted = flagConditions(context, favorites);
  if (isRefusal(isWanted)) return isWanted;
  const order = flagOrder(context, context.usage.seen);
  if (isRefusal(order)) return order;
  if (context.query('favoritesFirst') !== 'true') return { isWanted, order, ...page };
  const rank = ({ name }: Flag): number => (favorites.has(name) ? 0 : 1);
  return { isWanted, order: (a, b) => rank(a) - rank(b) || order(a, b), ...page };
}

const favoriteFlags = ({ world, caller }: Context): ReadonlySet<string> =>
  new Set(callerFavorites(world, caller)?.flags);

interface FoundPage {
  readonly listed: readonly ShownFlag[];
  readonly total: number;
}

/** The flags of the page: the walk over all flags, and the order of those found, in turns. */
async function findPage(context: Context, search: Search): Promise<FoundPage | Refusal> {
  const { isWanted, order, limit, offset } = search;
  const { world, reads, requester } = context;
  return reads.walk(async () => {
    const flags = flagsNow(world.projects.values());
    const page = new SortedPage<ShownFlag>((a, b) => order(a.record.flag, b.record.flag));
    const add = (flag: ShownFlag): void => {
      if (isWanted(flag.record)) page.add(flag);
    };
    await inTurns(each(flags, add), requester);
    const listed: ShownFlag[] = [];
    let position = 0;
    const list = (flag: ShownFlag): boolean => {
      if (listed.length === limit) return true;
      if (position >= offset) listed.push(flag);
      position += 1;
      return false;
    };
    await inTurns(each(page.inOrder(), list), requester);
    return { listed, total: page.total };
  }, requester);
}

async function searchResponse(context: Context): Promise<ReadResponse | Refusal> {
  const search = searchOf(context);
  if (isRefusal(search)) return search;
  const { engine, usage, world, requester } = context;
  const favorites = favoriteFlags(context);
  const found = await findPage(context, search);
  if (isRefusal(found)) return found;
  const features: string[] = [];
  let bytes = 0;
  const show = ({ project, record }: ShownFlag): boolean => {
    const text = JSON.stringify(foundFlagView({ world, seen: usage.seen, favorites }, project, record));
    bytes += Buffer.byteLength(text);
    features.push(text);
    return bytes >= PAGE_BYTES_MAX;
  };
  await inTurns(each(found.listed, show), requester);
  const nextOffset = search.offset + features.length;
  const rest = {
    total: found.total,
    ...(nextOffset < found.total && features.length > 0 ? { nextOffset } : {}),
  };
  const body = `{"features":[${features.join(',')}],${JSON.stringify(rest).slice(1)}`;
  return { revision: engine.lastId, response: { status: 200, headers: JSON_HEADERS, body } };
}

export const flagSearchRoutes = underTag('Features', [
  readRoute('GET /search/features', {
    operationId: 'searchFeatures',
    summary: 'Search the flags of all projects.',
    query: {
      ...CONDITION_PARAMETERS,
      ...ORDER_PARAMETERS,
      favoritesFirst: { description: "true lists the caller's favorites ahead of the others." },
      ...PAGE.parameters,
    },
    success: { status: 200, schema: FoundFlagsSchema },
    refusals: ['ValidationError'],
    read: (context) => searchResponse(context),
  }),
]);

/** The route that lists who created the flags of a project, for filters of searches. */
export const flagCreatorRoutes = underTag('Projects', [
  readRoute('GET /projects/:projectId/flag-creators', {
    operationId: 'getProjectFlagCreators',
    summary: 'List who created the flags of a project that are not archived.',
    locate: locate.project,
    success: { status: 200, schema: FlagCreatorsSchema },
    read: async (context, project) => {
      const { world, now, requester } = context;
      const [figures] = await projectFigures([project], { world, now: now() }, requester);
      const creators = [...figures!.creators].map((userId) => authorOf(context.world, userId));
      return settledResponse(
        context,
        creators.map(({ id, name }) => ({ id, name })),
      );
    },
  }),
]);
