/** Routes about the stages of a flag's life (docs/specification/flags.md#lifecycle). */

import { COMPLETION_ENTRIES } from '../../../domain/flags/lifecycle.ts';
import { titled } from '../../../domain/json/schema.ts';
import { environmentsRevision } from '../../serving/etag.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { StagesSchema } from '../schemas/schemas.ts';
import { stagesView } from '../views/views.ts';

const LIFECYCLE = '/projects/:projectId/features/:featureName/lifecycle';

const CompleteBody = titled('CompleteFlag', COMPLETION_ENTRIES);

export const lifecycleRoutes = underTag('Features', [
  readRoute(`GET ${LIFECYCLE}`, {
    operationId: 'getFeatureLifecycle',
    summary: "List the stages of a flag's life that it has entered.",
    locate: locate.flag,
    success: { status: 200, schema: StagesSchema },
    read: ({ world, usage }, { project, record }) => ({
      revision: Math.max(record.revision, environmentsRevision(world, project)),
      response: jsonResponse(200, stagesView(world, record.flag, usage.seen.flag(record.flag.name))),
    }),
  }),
  writeRoute(`POST ${LIFECYCLE}/complete`, {
    operationId: 'complete',
    summary: 'Say that a flag has done what it was for.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flag,
    body: CompleteBody,
    command: ({ params, body }) => ({
      type: 'complete-flag',
      project: params.projectId,
      flag: params.featureName,
      completion: body,
    }),
  }),
  writeRoute(`POST ${LIFECYCLE}/uncomplete`, {
    operationId: 'uncomplete',
    summary: 'Say that a flag has not done what it was for after all.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flag,
    command: ({ params }) => ({
      type: 'uncomplete-flag',
      project: params.projectId,
      flag: params.featureName,
    }),
  }),
]);
