/** Routes that a client calls before it creates a flag: the list of types, and whether a name is free. */
import * as v from 'valibot';
import { refuseTakenName } from '../../../domain/decide/guards.ts';
import { FLAG_TYPES, type FlagType, LIFETIME_DAYS } from '../../../domain/flags/flag-type.ts';
import { isNamedBy } from '../../../domain/flags/project-rules.ts';
import { locateProject } from '../../../domain/state/locate.ts';
import { invalid, isRefusal } from '../../../domain/state/refusal.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute } from '../../serving/route.ts';
import { FlagNameSchema } from '../requests/bodies.ts';
import { FlagTypesSchema } from '../schemas/directory-schemas.ts';
import { settledResponse } from '../views/responses.ts';

const TYPE_TEXTS: Readonly<Record<FlagType, readonly [name: string, description: string]>> = {
  release: ['Release', 'Brings a feature to users step by step.'],
  'kill-switch': ['Kill switch', 'Turns a part of the system off in an emergency.'],
  experiment: ['Experiment', 'Compares variants of a feature.'],
  operational: ['Operational', 'Controls how the system runs.'],
  permission: ['Permission', 'Opens features to some of the users.'],
};

const flagTypes = FLAG_TYPES.map((id) => {
  const [name, description] = TYPE_TEXTS[id];
  return { id, name, description, lifetimeDays: LIFETIME_DAYS[id] };
});

const ValidateBody = v.pipe(
  v.object({ name: FlagNameSchema, projectId: v.optional(v.nullable(v.string())) }),
  v.title('ValidateFeature'),
);

export const flagCheckRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/feature-types',
    operationId: 'getAllFeatureTypes',
    tag: 'Features',
    summary: 'List the types of flags and their lifetimes.',
    permission: 'read',
    success: { status: 200, schema: FlagTypesSchema },
    read: (context) => settledResponse(context, { version: 1, types: flagTypes }),
  }),
  readRoute({
    method: 'POST',
    path: '/features/validate',
    operationId: 'validateFeature',
    tag: 'Features',
    summary: 'Check whether a flag can have a name: it is valid and not taken.',
    permission: 'read',
    body: ValidateBody,
    success: { status: 200, schema: null },
    refusals: ['NotFoundError', 'NameExistsError'],
    read: ({ world, engine, body }) => {
      const project = body.projectId == null ? null : locateProject(world, body.projectId);
      if (isRefusal(project)) return project;
      const pattern = project?.settings.featureNaming?.pattern;
      if (pattern !== undefined && !isNamedBy(pattern, body.name)) {
        return invalid(
          `The name does not match the naming pattern of the project, which is ${pattern}.`,
          '/body/name',
        );
      }
      const taken = refuseTakenName(world, body.name);
      return taken ?? { revision: engine.lastId, response: emptyResponse(200) };
    },
  }),
];
