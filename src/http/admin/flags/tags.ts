/** Tags of a flag. */
import * as v from 'valibot';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import { FlagNamesSchema, TagBody, TagListSchema } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import { TagsSchema } from '../schemas/directory-schemas.ts';
import { TagSchema } from '../schemas/schemas.ts';
import { settledResponse } from '../views/responses.ts';

const TAGS = '/features/:featureName/tags';

const ChangeTagsBody = v.pipe(
  v.object({ addedTags: TagListSchema, removedTags: TagListSchema }),
  v.title('ChangeTags'),
);

const ChangeTagsOfFlagsBody = v.pipe(
  v.object({ features: FlagNamesSchema, tags: ChangeTagsBody }),
  v.title('ChangeTagsOfFlags'),
);

export const tagRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: TAGS,
    operationId: 'listTags',
    tag: 'Tags',
    summary: 'List the tags of a flag.',
    permission: 'read',
    locate: locate.flagAnywhere,
    success: { status: 200, schema: TagsSchema },
    read: (context, { record }) => settledResponse(context, { version: 1, tags: record.flag.tags }),
  }),
  writeRoute({
    method: 'POST',
    path: TAGS,
    operationId: 'addTag',
    tag: 'Tags',
    summary: 'Add a tag to a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flagAnywhere,
    body: TagBody,
    success: { status: 201, schema: TagSchema },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }, { project }) => ({
      type: 'tag-flag',
      project: project.settings.id,
      flag: params.featureName,
      tag: body,
    }),
    respond: ({ body }) => jsonResponse(201, body),
  }),
  writeRoute({
    method: 'DELETE',
    path: `${TAGS}/:type/:value`,
    operationId: 'removeTag',
    tag: 'Tags',
    summary: 'Remove a tag from a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.tag,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }, { project }) => ({
      type: 'untag-flag',
      project: project.settings.id,
      flag: params.featureName,
      tag: locate.tagOf(params),
    }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'PUT',
    path: TAGS,
    operationId: 'updateTags',
    tag: 'Tags',
    summary: 'Add tags to a flag, and remove others.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flagAnywhere,
    body: ChangeTagsBody,
    success: { status: 200, schema: TagsSchema },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }, { project }) => ({
      type: 'change-tags',
      project: project.settings.id,
      flags: [params.featureName],
      added: body.addedTags,
      removed: body.removedTags,
    }),
    respond: ({ world, params }) => {
      const { record } = locate.present(locate.flagAnywhere(world, params));
      return jsonResponse(200, { version: 1, tags: record.flag.tags });
    },
  }),
  writeRoute({
    method: 'PUT',
    path: '/projects/:projectId/tags',
    operationId: 'addTagToFeatures',
    tag: 'Tags',
    summary: 'Add tags to many flags of a project, and remove others.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.project,
    body: ChangeTagsOfFlagsBody,
    success: { status: 200, schema: null },
    refusals: ['NotFoundError', 'InvalidOperationError'],
    command: ({ params, body: { features, tags } }) => ({
      type: 'change-tags',
      project: params.projectId,
      flags: features,
      added: tags.addedTags,
      removed: tags.removedTags,
    }),
    respond: () => emptyResponse(200),
  }),
];
