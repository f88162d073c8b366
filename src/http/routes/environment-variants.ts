/** Variants read, and those of one environment written; all environments at once are written in variants.ts. */
import { environmentOf, flagVariants } from '../../domain/flag.ts';
import { PatchSchema } from '../../domain/json-patch.ts';
import { firstEnvironment } from '../../domain/locate.ts';
import { distributeWeights, VariantListSchema } from '../../domain/variant.ts';
import { jsonReply } from '../json-reply.ts';
import { type Params, type RequestContext, type Route, readRoute, writeRoute } from '../route.ts';
import { VariantsSchema } from '../schemas.ts';
import type { Reply } from '../transport.ts';
import { settledAnswer } from './answers.ts';
import * as locate from './locators.ts';
import { VARIANTS_VERSION } from './variants.ts';

const FEATURE = '/projects/:projectId/features/:featureName';
const VARIANTS = `${FEATURE}/environments/:environment/variants`;

const named = ({ projectId, featureName, environment }: Params) => ({
  project: projectId,
  flag: featureName,
  environment,
});

function environmentVariants({ world, params }: RequestContext<unknown>) {
  const { record } = locate.present(locate.flagEnvironment(world, params));
  const { variants } = environmentOf(record.flag, params.environment);
  return { version: VARIANTS_VERSION, variants };
}

const variantsReply = (context: RequestContext<unknown>): Reply =>
  jsonReply(200, environmentVariants(context));

export const environmentVariantRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: `${FEATURE}/variants`,
    operationId: 'getFeatureVariants',
    tag: 'Variants',
    summary: "Read a flag's variants, those of its project's first environment.",
    permission: 'read',
    success: { status: 200, schema: VariantsSchema },
    refusals: ['NotFoundError'],
    read: (context) => {
      const located = locate.flag(context.world, context.params);
      if (located.refused) return located;
      const variants = flagVariants(located.record.flag, firstEnvironment(context.world, located.project));
      return settledAnswer(context, { version: VARIANTS_VERSION, variants });
    },
  }),
  readRoute({
    method: 'GET',
    path: VARIANTS,
    operationId: 'getEnvironmentFeatureVariants',
    tag: 'Variants',
    summary: "Read a flag's variants in one environment.",
    permission: 'read',
    locate: locate.flagEnvironment,
    success: { status: 200, schema: VariantsSchema },
    refusals: ['NotFoundError'],
    read: (context) => settledAnswer(context, environmentVariants(context)),
  }),
  writeRoute({
    method: 'PUT',
    path: VARIANTS,
    operationId: 'overwriteEnvironmentFeatureVariants',
    tag: 'Variants',
    summary: "Replace a flag's variants in one environment.",
    permission: 'flag:write',
    locate: locate.flagEnvironment,
    body: VariantListSchema,
    success: { status: 200, schema: VariantsSchema },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({
      type: 'set-variants',
      ...named(params),
      variants: distributeWeights(body),
    }),
    answer: variantsReply,
  }),
  writeRoute({
    method: 'PATCH',
    path: VARIANTS,
    operationId: 'patchEnvironmentsFeatureVariants',
    tag: 'Variants',
    summary: "Change a flag's variants in one environment by a JSON Patch.",
    permission: 'flag:write',
    locate: locate.flagEnvironment,
    body: PatchSchema,
    success: { status: 200, schema: VariantsSchema },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({ type: 'patch-variants', ...named(params), operations: body }),
    answer: variantsReply,
  }),
];
