/** Tags of a flag. */

import { takenTag } from '../../domain/decide/tag-commands.ts';
import { type Tag, tagKey } from '../../domain/flags/flag.ts';
import { titled } from '../../domain/json/schema.ts';
import type { LocatedFlag } from '../../domain/state/locate.ts';
import { invalidOperation, isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { BULK_FLAGS_MAX, FlagNamesSchema, TagBody, TagListSchema } from './bodies.ts';
import { TagsOfFlagSchema, TagsSchema, TagWithVersionSchema } from './directory-schemas.ts';
import * as locate from './locators.ts';
import { settledResponse } from './responses.ts';
import { TagSchema } from './schemas.ts';
import { walkFlags } from './shelf-walk.ts';
import { coloredTags } from './views.ts';

const TAGS = '/features/:featureName/tags';

const ChangeTagsBody = titled('ChangeTags', { addedTags: TagListSchema, removedTags: TagListSchema });

const ChangeTagsOfFlagsBody = titled('ChangeTagsOfFlags', {
  features: FlagNamesSchema,
  tags: ChangeTagsBody,
});

const CHANGE = {
  permission: 'flag:write',
  needs: ['UPDATE_FEATURE'],
  locate: locate.flagAnywhere,
} as const;

/** A flag whose project is not in the path, as commands name it. */
const flagIn = ({ project, record }: LocatedFlag) => ({
  project: project.settings.id,
  flag: record.flag.name,
});

export const tagRoutes = underTag('Tags', [
  readRoute(`GET ${TAGS}`, {
    operationId: 'listTags',
    summary: 'List the tags of a flag.',
    locate: locate.flagAnywhere,
    success: { status: 200, schema: TagsOfFlagSchema },
    read: (context, { record }) =>
      settledResponse(context, { version: 1, tags: coloredTags(context.world, record.flag) }),
  }),
  writeRoute(`POST ${TAGS}`, {
    operationId: 'addTag',
    summary: 'Add a tag to a flag.',
    ...CHANGE,
    body: TagBody,
    success: { status: 201, schema: TagSchema },
    command: ({ body }, located) => ({ type: 'tag-flag', ...flagIn(located), tag: body }),
    respond: ({ body }) => jsonResponse(201, body),
  }),
  writeRoute(`DELETE ${TAGS}/:type/:value`, {
    operationId: 'removeTag',
    summary: 'Remove a tag from a flag.',
    ...CHANGE,
    locate: locate.tag,
    command: ({ params }, located) => ({
      type: 'untag-flag',
      ...flagIn(located),
      tag: locate.tagOf(params),
    }),
  }),
  writeRoute(`PUT ${TAGS}`, {
    operationId: 'updateTags',
    summary: 'Add tags to a flag, and remove others.',
    ...CHANGE,
    body: ChangeTagsBody,
    success: { status: 200, schema: TagsOfFlagSchema },
    command: ({ params, body }, { project }) => ({
      type: 'change-tags',
      project: project.settings.id,
      flags: [params.featureName],
      added: body.addedTags,
      removed: body.removedTags,
    }),
    respond: ({ world, params }) => {
      const { record } = locate.present(locate.flagAnywhere(world, params));
      return jsonResponse(200, { version: 1, tags: coloredTags(world, record.flag) });
    },
  }),
  writeRoute('PUT /projects/:projectId/tags', {
    operationId: 'addTagToFeatures',
    summary: 'Add tags to many flags of a project, and remove others.',
    ...CHANGE,
    locate: locate.project,
    body: ChangeTagsOfFlagsBody,
    command: ({ params, body: { features, tags } }) => ({
      type: 'change-tags',
      project: params.projectId,
      flags: features,
      added: tags.addedTags,
      removed: tags.removedTags,
    }),
  }),
]);

// All tags, each once: those that flags have, over all projects, and those that were made by themselves.

/** Bounds the response, which ends there: 10,000 tags take a megabyte. */
const TAGS_MAX = 10_000;

const TAG = '/tags/:type/:value';

type Context = RequestContext<unknown>;

async function tagList(context: Context, isWanted: (tag: Tag) => boolean): Promise<ReadResponse | Refusal> {
  const known = new Map<string, Tag>();
  const add = (tag: Tag): void => {
    if (isWanted(tag)) known.set(`${tag.type}:${tag.value}`, tag);
  };
  for (const tag of context.world.directory.tags.values()) add(tag);
  const refusal = await walkFlags(context, context.world.projects.values(), ({ record: { flag } }) => {
    if (flag.archivedAt === null) flag.tags.forEach(add);
    return known.size >= TAGS_MAX;
  });
  if (refusal !== undefined) return refusal;
  const tags = [...known.keys()].sort().map((key) => known.get(key));
  return settledResponse(context, { version: 1, tags });
}

const isSame = (a: Tag, b: Tag): boolean => a.type === b.type && a.value === b.value;

/** Names of at most `countMax` flags that have the tag, archived ones included. */
async function flagsWith(context: Context, tag: Tag, countMax: number): Promise<readonly string[] | Refusal> {
  const names: string[] = [];
  const refusal = await walkFlags(context, context.world.projects.values(), ({ record: { flag } }) => {
    if (flag.tags.some((one) => isSame(one, tag))) names.push(flag.name);
    return names.length >= countMax;
  });
  return refusal ?? names;
}

async function readTag(context: Context): Promise<ReadResponse | Refusal> {
  const tag = locate.tagOf(context.params);
  if (!context.world.directory.tags.has(tagKey(tag))) {
    const flags = await flagsWith(context, tag, 1);
    if (isRefusal(flags)) return flags;
    if (flags.length === 0) return noTag(tag);
  }
  return settledResponse(context, { version: 1, tag });
}

const noTag = ({ type, value }: Tag): Refusal => notFound(`There is no tag "${type}:${value}".`);

export const allTagsRoutes = underTag('Tags', [
  readRoute('GET /tags', {
    operationId: 'getTags',
    summary: 'List all tags, in alphabetical order.',
    success: { status: 200, schema: TagsSchema },
    read: (context) => tagList(context, () => true),
  }),
  writeRoute('POST /tags', {
    operationId: 'createTag',
    summary: 'Make a tag before any flag has it.',
    permission: 'targeting:write',
    needs: ['UPDATE_FEATURE'],
    body: TagBody,
    success: { status: 201, schema: TagWithVersionSchema },
    refusals: ['NameExistsError'],
    command: async (context) => {
      const flags = await flagsWith(context, context.body, 1);
      if (isRefusal(flags)) return flags;
      return flags.length > 0 ? takenTag(context.body) : { type: 'create-tag', tag: context.body };
    },
    respond: ({ body }) => jsonResponse(201, { version: 1, tag: body }),
  }),
  readRoute('GET /tags/:type', {
    operationId: 'getTagsByType',
    summary: 'List the tags of one type, in alphabetical order.',
    success: { status: 200, schema: TagsSchema },
    read: (context) => tagList(context, ({ type }) => type === context.params.type),
  }),
  readRoute(`GET ${TAG}`, {
    operationId: 'getTag',
    summary: 'Read a tag.',
    success: { status: 200, schema: TagWithVersionSchema },
    refusals: ['NotFoundError'],
    read: readTag,
  }),
  writeRoute(`DELETE ${TAG}`, {
    operationId: 'deleteTag',
    summary: 'Delete a tag, and remove it from all flags that have it.',
    permission: 'targeting:write',
    needs: ['UPDATE_FEATURE'],
    refusals: ['NotFoundError'],
    command: async (context) => {
      const tag = locate.tagOf(context.params);
      const flags = await flagsWith(context, tag, BULK_FLAGS_MAX + 1);
      if (isRefusal(flags)) return flags;
      if (flags.length > BULK_FLAGS_MAX) {
        return invalidOperation(
          `More than ${BULK_FLAGS_MAX} flags have the tag "${tag.type}:${tag.value}". Remove it from some of them before deleting it.`,
        );
      }
      if (flags.length === 0 && !context.world.directory.tags.has(tagKey(tag))) return noTag(tag);
      return { type: 'delete-tag', tag, flags };
    },
  }),
]);
