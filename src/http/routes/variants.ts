/** Variants of a flag in all environments at once (endpoints 15, 16). */
import { flagVariants } from '../../domain/flag.ts';
import { PatchSchema } from '../../domain/json-patch.ts';
import { firstEnvironment } from '../../domain/locate.ts';
import { distributeWeights, VariantListSchema } from '../../domain/variant.ts';
import { jsonReply } from '../json-reply.ts';
import { type Params, type RequestContext, type Route, writeRoute } from '../route.ts';
import { VariantsSchema } from '../schemas.ts';
import type { Reply } from '../transport.ts';
import * as locate from './locators.ts';

const VARIANTS = '/projects/:projectId/features/:featureName/variants';

/** The format version of these answers, a string by the interface. */
export const VARIANTS_VERSION = '1';

const named = ({ projectId, featureName }: Params) => ({
  project: projectId,
  flag: featureName,
  environment: null,
});

function variantsReply({ world, params }: RequestContext<unknown>): Reply {
  const { project, record } = locate.present(locate.flag(world, params));
  const variants = flagVariants(record.flag, firstEnvironment(world, project));
  return jsonReply(200, { version: VARIANTS_VERSION, variants });
}

export const variantRoutes: readonly Route[] = [
  writeRoute({
    method: 'PUT',
    path: VARIANTS,
    operationId: 'overwriteFeatureVariants',
    tag: 'Variants',
    summary: "Replace a flag's variants in all environments.",
    permission: 'flag:write',
    locate: locate.flag,
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
    operationId: 'patchFeatureVariants',
    tag: 'Variants',
    summary: "Change a flag's variants in all environments by a JSON Patch.",
    permission: 'flag:write',
    locate: locate.flag,
    body: PatchSchema,
    success: { status: 200, schema: VariantsSchema },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({ type: 'patch-variants', ...named(params), operations: body }),
    answer: variantsReply,
  }),
];
