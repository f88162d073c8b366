/** Tags of a flag. */
import * as v from 'valibot';
import { TAG_LENGTH_MAX, TAG_LENGTH_MIN } from '../../../domain/flags/flag.ts';
import { isDotSegment } from '../../../domain/flags/url-name.ts';
import { emptyResponse, jsonResponse } from '../../dispatch/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../dispatch/route.ts';
import { lineOfText } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import { TagsSchema } from '../schemas/directory-schemas.ts';
import { TagSchema } from '../schemas/schemas.ts';
import { settledResponse } from '../views/responses.ts';

const TAGS = '/features/:featureName/tags';

/** Both are in the path that removes a tag, so neither may be "..". */
const tagText = (what: string) =>
  v.pipe(
    lineOfText(what, TAG_LENGTH_MIN, TAG_LENGTH_MAX),
    v.check((text) => !isDotSegment(text), 'something other than "..", which is a path'),
  );

const TagBody = v.pipe(
  v.object({ type: v.optional(tagText('a tag type'), 'simple'), value: tagText('a tag value') }),
  v.title('AddTag'),
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
];
