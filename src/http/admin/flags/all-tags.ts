/** The tags that flags have, over all projects, each once. */
import type { Tag } from '../../../domain/flags/flag.ts';
import { isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import { inSlices } from '../../dispatch/slices.ts';
import { TagsSchema } from '../schemas/directory-schemas.ts';
import { settledResponse } from '../views/responses.ts';
import { flagsNow } from '../views/shelf-walk.ts';

/** Bounds the response, which ends there: 10,000 tags take a megabyte. */
const TAGS_MAX = 10_000;

type Context = RequestContext<unknown>;

async function tagList(context: Context, isWanted: (tag: Tag) => boolean): Promise<ReadResponse | Refusal> {
  const { reads, asker } = context;
  const found = await reads.walk(async () => {
    const known = new Map<string, Tag>();
    const flags = flagsNow(context.world.projects.values());
    await inSlices(() => {
      const { done, value } = flags.next();
      if (done === true || known.size >= TAGS_MAX) return true;
      const { tags, archivedAt } = value.record.flag;
      if (archivedAt !== null) return false;
      for (const tag of tags) if (isWanted(tag)) known.set(`${tag.type}:${tag.value}`, tag);
      return false;
    }, asker);
    return known;
  }, asker);
  if (isRefusal(found)) return found;
  const tags = [...found.keys()].sort().map((key) => found.get(key));
  return settledResponse(context, { version: 1, tags });
}

export const allTagsRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/tags',
    operationId: 'getTags',
    tag: 'Tags',
    summary: 'List the tags that flags have, in alphabetical order.',
    permission: 'read',
    success: { status: 200, schema: TagsSchema },
    read: (context) => tagList(context, () => true),
  }),
  readRoute({
    method: 'GET',
    path: '/tags/:type',
    operationId: 'getTagsByType',
    tag: 'Tags',
    summary: 'List the tags of one type that flags have, in alphabetical order.',
    permission: 'read',
    success: { status: 200, schema: TagsSchema },
    read: (context) => tagList(context, ({ type }) => type === context.params.type),
  }),
];
