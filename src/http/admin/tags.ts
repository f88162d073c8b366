import * as v from 'valibot';
import { titled, Version } from '../../domain/json/schema.ts';
import type { LocatedFlag } from '../../domain/state/locate.ts';
import { readRoute, underTag, writeRoute } from '../serving/route.ts';
import { FlagNamesSchema, TagBody, TagListSchema } from './bodies.ts';
import * as locate from './locators.ts';
import { ColoredTagSchema, TagSchema } from './schemas.ts';
import { coloredTags } from './views.ts';

const TagsOfFlagSchema = titled('TagsOfFlag', { version: Version, tags: v.array(ColoredTagSchema) });

const TAGS = '/features/:featureName/tags';

const ChangeTagsBody = titled('ChangeTags', { addedTags: TagListSchema, removedTags: TagListSchema });

const ChangeTagsOfFlagsBody = titled('ChangeTagsOfFlags', {
  features: FlagNamesSchema,
  tags: ChangeTagsBody,
});

const CHANGE = {
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
    shows: ({ world }, { record }) => ({ version: 1, tags: coloredTags(world, record.flag) }),
  }),
  writeRoute(`POST ${TAGS}`, {
    operationId: 'addTag',
    summary: 'Add a tag to a flag.',
    ...CHANGE,
    body: TagBody,
    success: { status: 201, schema: TagSchema },
    command: ({ body }, located) => ({ type: 'tag-flag', ...flagIn(located), tag: body }),
    shows: ({ body }) => body,
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
