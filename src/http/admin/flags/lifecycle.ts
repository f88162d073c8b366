/** Routes about the stages of a flag's life (docs/specification/flags.md#lifecycle). */
import * as v from 'valibot';
import { COMPLETION_ENTRIES } from '../../../domain/flags/lifecycle.ts';
import { environmentsRevision } from '../../serving/etag.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { StagesSchema } from '../schemas/schemas.ts';
import { stagesView } from '../views/views.ts';

const LIFECYCLE = '/projects/:projectId/features/:featureName/lifecycle';

const CompleteBody = v.pipe(v.object(COMPLETION_ENTRIES), v.title('CompleteFlag'));

export const lifecycleRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: LIFECYCLE,
    operationId: 'getFeatureLifecycle',
    tag: 'Features',
    summary: "List the stages of a flag's life that it has entered.",
    permission: 'read',
    locate: locate.flag,
    success: { status: 200, schema: StagesSchema },
    read: ({ world, usage }, { project, record }) => ({
      revision: Math.max(record.revision, environmentsRevision(world, project)),
      response: jsonResponse(200, stagesView(world, record.flag, usage.seen.flag(record.flag.name))),
    }),
  }),
  writeRoute({
    method: 'POST',
    path: `${LIFECYCLE}/complete`,
    operationId: 'complete',
    tag: 'Features',
    summary: 'Say that a flag has done what it was for.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flag,
    body: CompleteBody,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({
      type: 'complete-flag',
      project: params.projectId,
      flag: params.featureName,
      completion: body,
    }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'POST',
    path: `${LIFECYCLE}/uncomplete`,
    operationId: 'uncomplete',
    tag: 'Features',
    summary: 'Say that a flag has not done what it was for after all.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flag,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({
      type: 'uncomplete-flag',
      project: params.projectId,
      flag: params.featureName,
    }),
    respond: () => emptyResponse(200),
  }),
];
