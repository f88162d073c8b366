/** The search for flags in all projects (docs/specification/flags.md#search). */
import type { Flag } from '../../../domain/flags/flag.ts';
import { isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { JSON_HEADERS } from '../../serving/json-response.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../../serving/route.ts';
import { inSlices } from '../../serving/slices.ts';
import { pageParameters } from '../requests/page-parameters.ts';
import { FoundFlagsSchema } from '../schemas/search-schemas.ts';
import { callerFavorites } from '../views/directory-views.ts';
import { foundFlagView } from '../views/found-flag-view.ts';
import { flagsNow, type ShownFlag } from '../views/shelf-walk.ts';
import { SortedPage } from '../views/sorted-page.ts';
import { CONDITION_PARAMETERS, type FlagTest, flagConditions } from './flag-conditions.ts';
import { type FlagOrder, flagOrder, ORDER_PARAMETERS } from './flag-order.ts';

/** Where a page ends although more flags were found. Protects the event loop, and memory. */
const PAGE_BYTES_MAX = 1024 * 1024;

const PAGE = pageParameters({
  limitMax: 100,
  limitInitial: 50,
  limit: 'The maximum number of flags; 50 unless it is sent.',
  offset: 'How many flags to pass over.',
  offsetPhrase: 'an integer from 0',
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
  const isWanted = flagConditions(context);
  if (isRefusal(isWanted)) return isWanted;
  const order = flagOrder(context, context.usage.seen);
  if (isRefusal(order)) return order;
  if (context.query('favoritesFirst') !== 'true') return { isWanted, order, ...page };
  const favorites = favoriteFlags(context);
  const rank = ({ name }: Flag): number => (favorites.has(name) ? 0 : 1);
  return { isWanted, order: (a, b) => rank(a) - rank(b) || order(a, b), ...page };
}

const favoriteFlags = ({ world, caller }: Context): ReadonlySet<string> =>
  new Set(callerFavorites(world, caller)?.flags);

interface FoundPage {
  readonly listed: readonly ShownFlag[];
  readonly total: number;
}

/** The flags of the page: the walk over all flags, and the order of those found, in slices. */
async function findPage(context: Context, search: Search): Promise<FoundPage | Refusal> {
  const { isWanted, order, limit, offset } = search;
  const { world, reads, asker } = context;
  return reads.walk(async () => {
    const flags = flagsNow(world.projects.values());
    const page = new SortedPage<ShownFlag>((a, b) => order(a.record.flag, b.record.flag));
    await inSlices(() => {
      const { done, value } = flags.next();
      if (done !== true && isWanted(value.record)) page.add(value);
      return done === true;
    }, asker);
    page.end();
    const listed: ShownFlag[] = [];
    let position = 0;
    await inSlices(() => {
      if (listed.length === limit) return true;
      const found = page.next();
      if (found !== undefined && position >= offset) listed.push(found);
      position += 1;
      return found === undefined;
    }, asker);
    return { listed, total: page.total };
  }, asker);
}

async function searchResponse(context: Context): Promise<ReadResponse | Refusal> {
  const search = searchOf(context);
  if (isRefusal(search)) return search;
  const { engine, usage, world, asker } = context;
  const favorites = favoriteFlags(context);
  const found = await findPage(context, search);
  if (isRefusal(found)) return found;
  const features: string[] = [];
  let bytes = 0;
  await inSlices(() => {
    const next = found.listed[features.length];
    if (next === undefined || bytes >= PAGE_BYTES_MAX) return true;
    const view = foundFlagView({ world, seen: usage.seen, favorites }, next.project, next.record);
    const text = JSON.stringify(view);
    bytes += Buffer.byteLength(text);
    features.push(text);
    return false;
  }, asker);
  const nextOffset = search.offset + features.length;
  const rest = {
    total: found.total,
    ...(nextOffset < found.total && features.length > 0 ? { nextOffset } : {}),
  };
  const body = `{"features":[${features.join(',')}],${JSON.stringify(rest).slice(1)}`;
  return { revision: engine.lastId, response: { status: 200, headers: JSON_HEADERS, body } };
}

export const flagSearchRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/search/features',
    operationId: 'searchFeatures',
    tag: 'Features',
    summary: 'Search the flags of all projects.',
    permission: 'read',
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
];
