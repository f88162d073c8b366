/** The environments of the service. */
import * as v from 'valibot';
import { URL_NAME_LENGTH_MAX } from '../../../domain/flags/url-name.ts';
import { isJsonObject } from '../../../domain/json/json.ts';
import type { Environment, World } from '../../../domain/state/world.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type RequestContext, type Route, readRoute, writeRoute } from '../../serving/route.ts';
import type { HttpResponse } from '../../transport/transport.ts';
import { EnvironmentNameSchema, lineOfText } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import * as pins from '../requests/pins.ts';
import { EnvironmentSchema, EnvironmentsSchema } from '../schemas/directory-schemas.ts';
import { environmentView } from '../views/directory-views.ts';
import { projectFigures } from '../views/project-figures.ts';
import { pinnedResponse, settledResponse } from '../views/responses.ts';

const ENVIRONMENTS = '/environments';
const ENVIRONMENT = `${ENVIRONMENTS}/:name`;

const SORT_ORDER_PHRASE = 'an integer, the position in the list';
const SortOrderSchema = v.pipe(v.number(SORT_ORDER_PHRASE), v.safeInteger(SORT_ORDER_PHRASE));

const TypeSchema = v.pipe(
  lineOfText('a type', 1, URL_NAME_LENGTH_MAX),
  v.description('Such as development, test, preproduction or production; any other is accepted.'),
);

const CreateEnvironmentBody = v.pipe(
  v.object({
    name: EnvironmentNameSchema,
    type: TypeSchema,
    enabled: v.optional(v.boolean()),
    sortOrder: v.optional(SortOrderSchema),
  }),
  v.title('CreateEnvironment'),
);

const UpdateEnvironmentBody = v.pipe(
  v.object({ type: v.optional(TypeSchema), sortOrder: v.optional(SortOrderSchema) }),
  v.title('UpdateEnvironment'),
);

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

/** All as it is at the moment of the call. */
async function environmentViews(
  { world, now, requester }: RequestContext<unknown>,
  environments: readonly Environment[],
) {
  const views = environments.map((one) => environmentView(world, one, 0));
  const figures = await projectFigures([...world.projects.values()], now(), requester);
  return views.map((view) => {
    const counts = figures.map(({ enabledCounts }) => enabledCounts.get(view.name) ?? 0);
    return { ...view, enabledToggleCount: counts.reduce((sum, count) => sum + count, 0) };
  });
}

function enabledCountOf({ projects }: World, environment: string): number {
  let count = 0;
  for (const project of projects.values())
    if (project.settings.environments.includes(environment)) count += project.flags.enabledCount(environment);
  return count;
}

function environmentResponse({ world }: RequestContext<unknown>, name: string, status: number): HttpResponse {
  const environment = world.directory.environments.find((one) => one.name === name);
  if (environment === undefined)
    throw new Error(`the environment ${name} is gone in the step that changed it`);
  return jsonResponse(status, environmentView(world, environment, enabledCountOf(world, name)));
}

function switchRoute(position: 'on' | 'off'): Route {
  return writeRoute({
    method: 'POST',
    path: `${ENVIRONMENT}/${position}`,
    operationId: `toggleEnvironment${position === 'on' ? 'On' : 'Off'}`,
    tag: 'Environments',
    summary: `Make an environment ${position === 'on' ? 'available to' : 'unavailable to'} new projects.`,
    permission: 'admin',
    locate: locate.environment,
    pinned: pins.environment,
    success: { status: 204, schema: null },
    command: ({ params }) => ({
      type: 'update-environment',
      name: params.name,
      fields: { enabled: position === 'on' },
    }),
    respond: () => emptyResponse(204),
  });
}

export const environmentRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: ENVIRONMENTS,
    operationId: 'getAllEnvironments',
    tag: 'Environments',
    summary: 'List the environments.',
    permission: 'read',
    success: { status: 200, schema: EnvironmentsSchema },
    read: async (context) => {
      const environments = await environmentViews(context, context.world.directory.environments);
      return settledResponse(context, { version: 1, environments });
    },
  }),
  writeRoute({
    method: 'POST',
    path: ENVIRONMENTS,
    operationId: 'createEnvironment',
    tag: 'Environments',
    summary: 'Create an environment.',
    permission: 'admin',
    body: CreateEnvironmentBody,
    success: { status: 201, schema: EnvironmentSchema },
    refusals: ['NameExistsError', 'InvalidOperationError'],
    command: ({ body: { name, ...fields } }) => ({ type: 'create-environment', name, fields }),
    respond: (context) => environmentResponse(context, context.body.name, 201),
  }),
  readRoute({
    method: 'GET',
    path: ENVIRONMENT,
    operationId: 'getEnvironment',
    tag: 'Environments',
    summary: 'Read an environment.',
    permission: 'read',
    locate: locate.environment,
    success: { status: 200, schema: EnvironmentSchema },
    read: async (context, environment) => {
      const [view] = await environmentViews(context, [environment]);
      return pinnedResponse(context, environment, view ?? null);
    },
  }),
  writeRoute({
    method: 'DELETE',
    path: ENVIRONMENT,
    operationId: 'removeEnvironment',
    tag: 'Environments',
    summary: 'Delete an environment in which no flag is enabled.',
    permission: 'admin',
    locate: locate.environment,
    pinned: pins.environment,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({ type: 'delete-environment', name: params.name }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'PUT',
    path: `${ENVIRONMENTS}/update/:name`,
    operationId: 'updateEnvironment',
    tag: 'Environments',
    summary: 'Change the type or the position of an environment.',
    permission: 'admin',
    locate: locate.environment,
    pinned: pins.environment,
    body: UpdateEnvironmentBody,
    success: { status: 200, schema: EnvironmentSchema },
    command: ({ params, body }) => ({
      type: 'update-environment',
      name: params.name,
      fields: body,
    }),
    respond: (context) => environmentResponse(context, context.params.name, 200),
  }),
  writeRoute({
    method: 'PUT',
    path: `${ENVIRONMENTS}/sort-order`,
    operationId: 'updateSortOrder',
    tag: 'Environments',
    summary: 'Change the order of the environments.',
    permission: 'admin',
    body: OrderBody,
    success: { status: 200, schema: null },
    refusals: ['NotFoundError'],
    command: ({ body }) => ({ type: 'order-environments', order: body }),
    respond: () => emptyResponse(200),
  }),
  switchRoute('on'),
  switchRoute('off'),
];
