/**
 * Routes that read, replace and patch the variants of a flag, in all environments at once or in one
 * (docs/specification/variants.md#environments). Both kinds of path have the same three routes; a scope says what
 * differs.
 */

import * as v from 'valibot';
import type { PermissionName } from '../../domain/access/permissions.ts';
import { environmentOf, flagVariants } from '../../domain/flags/flag.ts';
import {
  distributeWeights,
  type Variant,
  VariantListSchema,
  VariantSchema,
} from '../../domain/flags/variant.ts';
import { PatchSchema } from '../../domain/json/json-patch.ts';
import { titled } from '../../domain/json/schema.ts';
import { firstEnvironment, type LocatedFlag } from '../../domain/state/locate.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { Params } from '../serving/params.ts';
import { type RequestContext, type RouteDraft, readRoute, underTag, writeRoute } from '../serving/route.ts';
import * as locate from './locators.ts';

const VariantsSchema = titled('Variants', { version: v.string(), variants: v.array(VariantSchema) });

const FEATURE = '/projects/:projectId/features/:featureName';

/** The format version of these responses, a string by the interface. */
const VARIANTS_VERSION = '1';

type Context = RequestContext<unknown>;

interface Scope {
  readonly path: string;
  readonly locate: (world: World, params: Params) => LocatedFlag | Refusal;
  /** Null for all environments. */
  readonly environment: (params: Params) => string | null;
  readonly variants: (world: World, located: LocatedFlag, params: Params) => readonly Variant[];
  readonly needs: readonly PermissionName[];
  readonly operationIds: { readonly get: string; readonly put: string; readonly patch: string };
  /** The words for these variants in the summaries of the routes. */
  readonly shown: string;
  readonly where: string;
}

const WHOLE_FLAG: Scope = {
  path: `${FEATURE}/variants`,
  locate: locate.flag,
  environment: () => null,
  variants: (world, { project, record }) => flagVariants(record.flag, firstEnvironment(world, project)),
  needs: ['UPDATE_FEATURE_VARIANTS'],
  operationIds: {
    get: 'getFeatureVariants',
    put: 'overwriteFeatureVariants',
    patch: 'patchFeatureVariants',
  },
  shown: "a flag's variants, those of its project's first environment",
  where: 'in all environments',
};

const ONE_ENVIRONMENT: Scope = {
  path: `${FEATURE}/environments/:environment/variants`,
  locate: locate.flagEnvironment,
  environment: ({ environment }) => environment,
  variants: (_, { record }, { environment }) => environmentOf(record.flag, environment).variants,
  needs: ['UPDATE_FEATURE_ENVIRONMENT_VARIANTS'],
  operationIds: {
    get: 'getEnvironmentFeatureVariants',
    put: 'overwriteEnvironmentFeatureVariants',
    patch: 'patchEnvironmentsFeatureVariants',
  },
  shown: "a flag's variants in one environment",
  where: 'in one environment',
};

function routesOf(scope: Scope): readonly RouteDraft[] {
  const { path, operationIds } = scope;
  const shared = {
    locate: scope.locate,
    success: { status: 200, schema: VariantsSchema },
  } as const;
  const named = (params: Params) => ({
    ...locate.flagIn(params),
    environment: scope.environment(params),
  });
  const shows = ({ world, params }: Context, located: LocatedFlag) => ({
    version: VARIANTS_VERSION,
    variants: scope.variants(world, located, params),
  });
  return [
    readRoute(`GET ${path}`, {
      ...shared,
      operationId: operationIds.get,
      summary: `Read ${scope.shown}.`,
      shows,
    }),
    writeRoute(`PUT ${path}`, {
      ...shared,
      operationId: operationIds.put,
      summary: `Replace a flag's variants ${scope.where}.`,
      needs: scope.needs,
      body: VariantListSchema,
      command: ({ params, body }) => ({
        type: 'set-variants',
        ...named(params),
        variants: distributeWeights(body),
      }),
      shows,
    }),
    writeRoute(`PATCH ${path}`, {
      ...shared,
      operationId: operationIds.patch,
      summary: `Change a flag's variants ${scope.where} by a JSON Patch.`,
      needs: scope.needs,
      body: PatchSchema,
      command: ({ params, body }) => ({ type: 'patch-variants', ...named(params), operations: body }),
      shows,
    }),
  ];
}

export const variantRoutes = underTag('Variants', [...routesOf(WHOLE_FLAG), ...routesOf(ONE_ENVIRONMENT)]);
