/**
 * Routes about a flag's dependencies on its parents (docs/specification/users.md#dependencies). The route that lists
 * possible parents is in flags.ts.
 */
import * as v from 'valibot';
import type { Flag } from '../../../domain/flags/flag.ts';
import { list } from '../../../domain/json/list-schema.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import type { Params } from '../../serving/params.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { DependencySchema } from '../schemas/schemas.ts';
import { projectFigures } from '../views/project-figures.ts';
import { settledResponse } from '../views/responses.ts';

const DEPENDENCIES = '/projects/:projectId/features/:child/dependencies';

/** Variants in one dependency; more than any flag has. */
const VARIANTS_MAX = 100;

const DependencyBody = v.pipe(
  v.object({
    feature: v.pipe(v.string(), v.description('Name of the parent, a flag of the same project.')),
    enabled: v.pipe(
      v.optional(v.boolean(), true),
      v.description('Whether the parent must be enabled, or disabled, for the child to be evaluated.'),
    ),
    variants: v.pipe(
      v.optional(
        v.pipe(
          list(v.string(), 'a list of variant names'),
          v.maxLength(VARIANTS_MAX, `a list of at most ${VARIANTS_MAX} variant names`),
        ),
        [],
      ),
      v.description('The parent must have one of these variants. Only for a parent that must be enabled.'),
    ),
  }),
  v.check(
    ({ enabled, variants }) => enabled || variants.length === 0,
    'Variants can only be asked of a parent that must be enabled: a disabled flag has none.',
  ),
  v.title('CreateDependency'),
);

const named = ({ projectId, child }: Params) => ({ project: projectId, child });

export const dependencyRoutes: readonly Route[] = [
  writeRoute({
    method: 'POST',
    path: DEPENDENCIES,
    operationId: 'addFeatureDependency',
    tag: 'Dependencies',
    summary: 'Make a flag depend on another. A second request for the same parent replaces the first.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    locate: locate.childFlag,
    body: DependencyBody,
    success: { status: 200, schema: DependencySchema },
    refusals: ['NotFoundError', 'InvalidOperationError'],
    command: ({ params, body }) => ({ type: 'add-dependency', ...named(params), dependency: body }),
    respond: ({ body }) => jsonResponse(200, body),
  }),
  writeRoute({
    method: 'DELETE',
    path: DEPENDENCIES,
    operationId: 'deleteFeatureDependencies',
    tag: 'Dependencies',
    summary: 'Remove all dependencies of a flag.',
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    locate: locate.childFlag,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({ type: 'remove-dependencies', ...named(params) }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'DELETE',
    path: `${DEPENDENCIES}/:parent`,
    operationId: 'deleteFeatureDependency',
    tag: 'Dependencies',
    summary: "Remove a flag's dependency on one parent.",
    permission: 'flag:write',
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    locate: locate.dependency,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({
      type: 'remove-dependency',
      ...named(params),
      parent: params.parent,
    }),
    respond: () => emptyResponse(200),
  }),
  readRoute({
    method: 'GET',
    path: '/projects/:projectId/features/:parent/parent-variants',
    operationId: 'listParentVariantOptions',
    tag: 'Dependencies',
    summary: 'List the variants of a flag, of which a child may ask for one.',
    permission: 'read',
    locate: locate.parentFlag,
    success: { status: 200, schema: v.array(v.string()) },
    read: (context, { record }) => settledResponse(context, variantNames(record.flag)),
  }),
  readRoute({
    method: 'GET',
    path: '/projects/:projectId/dependencies',
    operationId: 'checkDependenciesExist',
    tag: 'Dependencies',
    summary: 'Read whether any flag of a project depends on another.',
    permission: 'read',
    locate: locate.project,
    success: { status: 200, schema: v.boolean() },
    read: async (context, project) => {
      const [figures] = await projectFigures([project], context.now(), context.requester);
      return settledResponse(context, figures!.childCount > 0);
    },
  }),
];

/** Names of the variants of all environments, those of strategies included; each once. */
function variantNames({ environments }: Flag): string[] {
  const lists = environments.flatMap(({ variants, strategies }) => [
    variants,
    ...strategies.map((strategy) => strategy.variants),
  ]);
  return [...new Set(lists.flat().map(({ name }) => name))];
}
