/**
 * Routes about a flag's dependencies on its parents (docs/specification/users.md#dependencies). The route that lists
 * possible parents is in flags.ts.
 */
import * as v from 'valibot';
import { described, list } from '../../domain/json/schema.ts';
import type { Params } from '../serving/params.ts';
import { underTag, writeRoute } from '../serving/route.ts';
import * as locate from './locators.ts';
import { DependencySchema } from './schemas.ts';

const DEPENDENCIES = '/projects/:projectId/features/:child/dependencies';

/** Variants in one dependency; more than any flag has. */
const VARIANTS_MAX = 100;

export const DependencyBody = v.pipe(
  v.object({
    feature: described(v.string(), 'Name of the parent, a flag of the same project.'),
    enabled: described(
      v.optional(v.boolean(), true),
      'Whether the parent must be enabled, or disabled, for the child to be evaluated.',
    ),
    variants: described(
      v.optional(
        v.pipe(
          list(v.string(), 'a list of variant names'),
          v.maxLength(VARIANTS_MAX, `a list of at most ${VARIANTS_MAX} variant names`),
        ),
        [],
      ),
      'The parent must have one of these variants. Only for a parent that must be enabled.',
    ),
  }),
  v.check(
    ({ enabled, variants }) => enabled || variants.length === 0,
    'Variants can only be asked of a parent that must be enabled: a disabled flag has none.',
  ),
  v.title('CreateDependency'),
);

const named = ({ projectId, child }: Params) => ({ project: projectId, child });

export const dependencyRoutes = underTag('Dependencies', [
  writeRoute(`POST ${DEPENDENCIES}`, {
    operationId: 'addFeatureDependency',
    summary: 'Make a flag depend on another. A second request for the same parent replaces the first.',
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    locate: locate.childFlag,
    body: DependencyBody,
    success: { status: 200, schema: DependencySchema },
    command: ({ params, body }) => ({ type: 'add-dependency', ...named(params), dependency: body }),
    shows: ({ body }) => body,
  }),
  writeRoute(`DELETE ${DEPENDENCIES}`, {
    operationId: 'deleteFeatureDependencies',
    summary: 'Remove all dependencies of a flag.',
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    locate: locate.childFlag,
    command: ({ params }) => ({ type: 'remove-dependencies', ...named(params) }),
  }),
  writeRoute(`DELETE ${DEPENDENCIES}/:parent`, {
    operationId: 'deleteFeatureDependency',
    summary: "Remove a flag's dependency on one parent.",
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    locate: locate.dependency,
    command: ({ params }) => ({ type: 'remove-dependency', ...named(params), parent: params.parent }),
  }),
]);
