/** Routes about links of a flag. The flag shows them, and its metadata sets them all at once. */
import * as v from 'valibot';
import { LINK_ENTRIES, TypedUrlSchema, withScheme } from '../../../domain/flags/link.ts';
import { titled } from '../../../domain/json/schema.ts';
import { underTag, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';

const LINK = '/projects/:projectId/features/:featureName/link';

const LinkBody = titled('SetFlagLink', {
  url: TypedUrlSchema,
  title: v.optional(LINK_ENTRIES.title, null),
});

export const linkRoutes = underTag('Features', [
  writeRoute(`POST ${LINK}`, {
    operationId: 'createFeatureLink',
    summary: 'Add a link to a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flag,
    body: LinkBody,
    success: { status: 204, schema: null },
    command: ({ params, body }) => ({
      type: 'change-link',
      project: params.projectId,
      flag: params.featureName,
      id: null,
      link: { ...body, url: withScheme(body.url) },
    }),
  }),
  writeRoute(`PUT ${LINK}/:linkId`, {
    operationId: 'updateFeatureLink',
    summary: 'Replace a link of a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.link,
    body: LinkBody,
    success: { status: 204, schema: null },
    command: ({ params, body }) => ({
      type: 'change-link',
      project: params.projectId,
      flag: params.featureName,
      id: params.linkId,
      link: { ...body, url: withScheme(body.url) },
    }),
  }),
  writeRoute(`DELETE ${LINK}/:linkId`, {
    operationId: 'deleteFeatureLink',
    summary: 'Remove a link from a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.link,
    success: { status: 204, schema: null },
    command: ({ params }) => ({
      type: 'remove-link',
      project: params.projectId,
      flag: params.featureName,
      id: params.linkId,
    }),
  }),
]);
