/** Routes about links of a flag. The flag shows them, and its metadata sets them all at once. */
import * as v from 'valibot';
import { LINK_ENTRIES, TypedUrlSchema, withScheme } from '../../../domain/flags/link.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';

const LINK = '/projects/:projectId/features/:featureName/link';

const LinkBody = v.pipe(
  v.object({ url: TypedUrlSchema, title: v.optional(LINK_ENTRIES.title, null) }),
  v.title('SetFlagLink'),
);

export const linkRoutes: readonly Route[] = [
  writeRoute({
    method: 'POST',
    path: LINK,
    operationId: 'createFeatureLink',
    tag: 'Features',
    summary: 'Add a link to a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flag,
    body: LinkBody,
    success: { status: 204, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({
      type: 'change-link',
      project: params.projectId,
      flag: params.featureName,
      id: null,
      link: { ...body, url: withScheme(body.url) },
    }),
    respond: () => emptyResponse(204),
  }),
  writeRoute({
    method: 'PUT',
    path: `${LINK}/:linkId`,
    operationId: 'updateFeatureLink',
    tag: 'Features',
    summary: 'Replace a link of a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.link,
    body: LinkBody,
    success: { status: 204, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({
      type: 'change-link',
      project: params.projectId,
      flag: params.featureName,
      id: params.linkId,
      link: { ...body, url: withScheme(body.url) },
    }),
    respond: () => emptyResponse(204),
  }),
  writeRoute({
    method: 'DELETE',
    path: `${LINK}/:linkId`,
    operationId: 'deleteFeatureLink',
    tag: 'Features',
    summary: 'Remove a link from a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.link,
    success: { status: 204, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({
      type: 'remove-link',
      project: params.projectId,
      flag: params.featureName,
      id: params.linkId,
    }),
    respond: () => emptyResponse(204),
  }),
];
