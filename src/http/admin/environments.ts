/** The environments of the service. */

import * as v from 'valibot';
import { inTurns } from '../../actors/turn.ts';
import { URL_NAME_LENGTH_MAX } from '../../domain/flags/url-name.ts';
import { isJsonObject } from '../../domain/json/json.ts';
import { described, Integer, lineOfText, titled, Version } from '../../domain/json/schema.ts';
import type { Environment, World } from '../../domain/state/world.ts';
import { type RequestContext, type RouteDraft, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { EnvironmentNameSchema, RequiredApprovalsSchema } from './bodies.ts';
import * as locate from './locators.ts';
import { pinnedResponse, recorded, settledResponse } from './responses.ts';

export const ENVIRONMENT_FIELDS = {
  name: v.string(),
  type: v.string(),
  enabled: v.boolean(),
  protected: v.boolean(),
  sortOrder: Integer,
  requiredApprovals: described(
    v.nullable(Integer),
    'How many people must approve changes there in new projects; null: changes need no request.',
  ),
} as const;

export const environmentView = (one: Environment) => ({
  ...one,
  requiredApprovals: one.requiredApprovals ?? null,
});

const EnvironmentSchema = titled('Environment', {
  ...ENVIRONMENT_FIELDS,
  projectCount: Integer,
  apiTokenCount: Integer,
  enabledToggleCount: Integer,
});

const EnvironmentsSchema = titled('Environments', {
  version: Version,
  environments: v.array(EnvironmentSchema),
});

const ENVIRONMENTS = '/environments';
const ENVIRONMENT = `${ENVIRONMENTS}/:name`;

const SORT_ORDER_PHRASE = 'an integer, the position in the list';
const SortOrderSchema = v.pipe(v.number(SORT_ORDER_PHRASE), v.safeInteger(SORT_ORDER_PHRASE));

const TypeSchema = described(
  lineOfText('a type', 1, URL_NAME_LENGTH_MAX),
  'Such as development, test, preproduction or production; any other is accepted.',
);

const CreateEnvironmentBody = titled('CreateEnvironment', {
  name: EnvironmentNameSchema,
  type: TypeSchema,
  enabled: v.optional(v.boolean()),
  sortOrder: v.optional(SortOrderSchema),
  requiredApprovals: v.optional(v.nullable(RequiredApprovalsSchema)),
});

const UpdateEnvironmentBody = titled('UpdateEnvironment', {
  type: v.optional(TypeSchema),
  sortOrder: v.optional(SortOrderSchema),
  requiredApprovals: v.optional(v.nullable(RequiredApprovalsSchema)),
});

/**
 * Positions by name. Not valibot's record: it silently leaves out fields named constructor or prototype, which are
 * names of environments like any other. From here on it is a list of pairs, so no such name is ever a key again.
 */
const OrderBody = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(isJsonObject, 'an object of positions by name'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    for (const [key, value] of Object.entries(input)) {
      if (Number.isSafeInteger(value)) continue;
      const message = `The position of the environment "${key}" must be an integer.`;
      addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value }] });
    }
  }),
  v.metadata({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'The new position of each environment, by name; those not named keep theirs.',
  }),
  v.transform((positions) => Object.entries(positions) as [string, number][]),
  v.title('EnvironmentOrder'),
);

/** The environments with their uses, counted in steps: thousands of projects may have 50 environments each. */
function* environmentViews({ directory, projects }: World, environments: readonly Environment[]) {
  const uses = new Map(environments.map(({ name }) => [name, { projectCount: 0, enabledToggleCount: 0 }]));
  for (const { settings, flags } of projects.values()) {
    for (const name of settings.environments) {
      const use = uses.get(name);
      if (use === undefined) continue;
      use.projectCount += 1;
      use.enabledToggleCount += flags.enabledCount(name);
    }
    yield;
  }
  const tokens = [...directory.apiTokens.values()];
  return environments.map((one) => {
    const { projectCount, enabledToggleCount } = uses.get(one.name)!;
    const apiTokenCount = tokens.filter(({ environment }) => environment === one.name).length;
    return { ...environmentView(one), projectCount, apiTokenCount, enabledToggleCount };
  });
}

/** The environment with its uses, for the response to a write, which is made at once. */
function environmentNow({ world }: RequestContext<unknown>, environment: Environment) {
  const steps = environmentViews(world, [environment]);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value[0]!;
  }
}

const CHANGE = { permission: 'admin', locate: locate.environment, pinned: locate.environment } as const;

function switchRoute(position: 'on' | 'off'): RouteDraft {
  return writeRoute(`POST ${ENVIRONMENT}/${position}`, {
    operationId: `toggleEnvironment${position === 'on' ? 'On' : 'Off'}`,
    summary: `Make an environment ${position === 'on' ? 'available to' : 'unavailable to'} new projects.`,
    ...CHANGE,
    success: { status: 204, schema: null },
    command: ({ params }) => ({
      type: 'update-environment',
      name: params.name,
      fields: { enabled: position === 'on' },
    }),
  });
}

export const environmentRoutes = underTag('Environments', [
  readRoute(`GET ${ENVIRONMENTS}`, {
    operationId: 'getAllEnvironments',
    summary: 'List the environments.',
    success: { status: 200, schema: EnvironmentsSchema },
    read: async (context) => {
      const { world, requester } = context;
      const environments = await inTurns(environmentViews(world, world.directory.environments), requester);
      return settledResponse(context, { version: 1, environments });
    },
  }),
  writeRoute(`POST ${ENVIRONMENTS}`, {
    operationId: 'createEnvironment',
    summary: 'Create an environment.',
    permission: 'admin',
    body: CreateEnvironmentBody,
    success: { status: 201, schema: EnvironmentSchema },
    refusals: ['NameExistsError'],
    command: ({ body: { name, ...fields } }) => ({ type: 'create-environment', name, fields }),
    shows: (context, _, events) => environmentNow(context, recorded(events, 'environment-created').data),
  }),
  readRoute(`GET ${ENVIRONMENT}`, {
    operationId: 'getEnvironment',
    summary: 'Read an environment.',
    locate: locate.environment,
    success: { status: 200, schema: EnvironmentSchema },
    read: async (context, environment) => {
      const [view] = await inTurns(environmentViews(context.world, [environment]), context.requester);
      return pinnedResponse(context, environment, view ?? null);
    },
  }),
  writeRoute(`DELETE ${ENVIRONMENT}`, {
    operationId: 'removeEnvironment',
    summary: 'Delete an environment in which no flag is enabled.',
    ...CHANGE,
    command: ({ params }) => ({ type: 'delete-environment', name: params.name }),
  }),
  writeRoute(`PUT ${ENVIRONMENTS}/update/:name`, {
    operationId: 'updateEnvironment',
    summary:
      'Change the type or the position of an environment, or how many must approve changes in new projects.',
    ...CHANGE,
    body: UpdateEnvironmentBody,
    success: { status: 200, schema: EnvironmentSchema },
    command: ({ params, body }) => ({ type: 'update-environment', name: params.name, fields: body }),
    shows: environmentNow,
  }),
  writeRoute(`PUT ${ENVIRONMENTS}/sort-order`, {
    operationId: 'updateSortOrder',
    summary: 'Change the order of the environments.',
    permission: 'admin',
    body: OrderBody,
    refusals: ['NotFoundError'],
    command: ({ body }) => ({ type: 'order-environments', order: body }),
  }),
  switchRoute('on'),
  switchRoute('off'),
]);
