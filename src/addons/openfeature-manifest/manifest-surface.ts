/**
 * The interface that OpenFeature's command line pulls from and pushes to (docs/specification/openfeature-manifest.md). A path that names
 * no project is about the project `default`; the command line keeps the path of its address, but not its query.
 */
import * as v from 'valibot';
import type { PermissionName } from '../../domain/access/permissions.ts';
import { ownCommand } from '../../domain/decide/decide.ts';
import { unlessArchived } from '../../domain/decide/guards.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { described, Timestamp, titled } from '../../domain/json/schema.ts';
import { type LocatedFlag, locateFlag, locateProject } from '../../domain/state/locate.ts';
import { invalid, isRefusal, present, type Refusal } from '../../domain/state/refusal.ts';
import { DEFAULT_PROJECT } from '../../domain/state/seed-events.ts';
import type { World } from '../../domain/state/world.ts';
import { FlagNameSchema } from '../../http/admin/bodies.ts';
import { walkFlags } from '../../http/admin/chunk-walk.ts';
import { listOf, listsResponse, PAGED } from '../../http/admin/responses.ts';
import { ADMIN_ACCESS } from '../../http/admin/surface.ts';
import { mayDo } from '../../http/serving/access.ts';
import { ERROR_STATUS, type ErrorShape } from '../../http/serving/errors.ts';
import { jsonResponse } from '../../http/serving/json-response.ts';
import type { Params } from '../../http/serving/params.ts';
import {
  type Guard,
  type RequestContext,
  type Route,
  type RouteDraft,
  readRoute,
  underTag,
  writeRoute,
} from '../../http/serving/route.ts';
import type { Surface } from '../../http/serving/surface.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';
import { createManifestFlag, type ManifestFlag, updateManifestFlag } from './manifest-commands.ts';
import { type NoCounterpart, type TypedValue, typedValueOf, VALUE_TYPES } from './manifest-flag.ts';

const ManifestFlagSchema = titled('ManifestFlag', {
  key: v.string(),
  name: described(v.string(), 'The key again.'),
  type: v.picklist(VALUE_TYPES),
  description: v.nullable(v.string()),
  defaultValue: described(v.unknown(), 'Of the type; what code gets where nothing can be evaluated.'),
});

const ManifestSchema = titled('Manifest', {
  flags: v.array(ManifestFlagSchema),
  withoutCounterpart: described(
    v.array(v.object({ key: v.string(), reason: v.string() })),
    'Flags that a manifest cannot have.',
  ),
});

const WrittenSchema = titled('WrittenManifestFlag', {
  flag: ManifestFlagSchema,
  updatedAt: described(Timestamp, 'When the response was made.'),
});

const ArchivedSchema = titled('ArchivedManifestFlag', { message: v.string(), archivedAt: Timestamp });

const SENT = {
  key: FlagNameSchema,
  type: v.picklist(VALUE_TYPES, `one of ${VALUE_TYPES.join(', ')}`),
  name: v.optional(described(v.string(), 'Nothing but the key.')),
  description: v.nullish(v.string()),
};

const CreateBody = titled('CreateManifestFlag', {
  ...SENT,
  defaultValue: described(v.unknown(), 'Of the type; false for a boolean.'),
});

const UpdateBody = titled('UpdateManifestFlag', {
  ...SENT,
  key: described(v.string(), 'The key in the path.'),
  defaultValue: v.optional(described(v.unknown(), 'Of the type; false for a boolean.')),
});

type Body = v.InferOutput<typeof UpdateBody>;

const projectOf = ({ projectId = DEFAULT_PROJECT }: Partial<Params>): string => projectId;

const located = (world: World, params: Params): LocatedFlag | Refusal =>
  unlessArchived(locateFlag(world, projectOf(params), params.featureName));

/** The response with the rights of the caller, as the command line asks for them. */
function withCapabilities(
  { world, caller, params }: RequestContext<unknown>,
  { status, headers, body }: HttpResponse,
): HttpResponse {
  const place = { projectId: projectOf(params), environment: null };
  const may = (...needs: readonly PermissionName[]): boolean =>
    needs.every((name) => mayDo(world, caller, { permission: 'flag:write', needs: [name] }, place));
  const writes = may('CREATE_FEATURE', 'UPDATE_FEATURE', 'UPDATE_FEATURE_VARIANTS') ? ['write'] : [];
  const capabilities = ['read', ...writes, ...(may('DELETE_FEATURE') ? ['delete'] : [])];
  return { status, headers: headers.with('x-manifest-capabilities', capabilities.join(',')), body };
}

const flagView = ({ name, description }: Flag, { type, defaultValue }: TypedValue) => ({
  ...{ key: name, name, type, defaultValue },
  description: description || null,
});

function written(status: number, context: RequestContext<unknown>, key: string): HttpResponse {
  const { project, record } = present(locateFlag(context.world, projectOf(context.params), key));
  const value = typedValueOf(record.flag, project.settings.environments) as TypedValue;
  const updatedAt = new Date(context.now()).toISOString();
  return withCapabilities(context, jsonResponse(status, { flag: flagView(record.flag, value), updatedAt }));
}

/** Payloads are variants, which have a right of their own. */
const refuseVariants: Guard = (world, caller, events) => {
  const event = events.find(({ type }) => type.endsWith('variants-updated'));
  const need = { permission: 'flag:write', needs: ['UPDATE_FEATURE_VARIANTS'] } as const;
  const place = { projectId: event?.project ?? null, environment: null };
  return event === undefined ? null : ADMIN_ACCESS.refuse(world, caller, need, place);
};

const sentOf = (params: Params, flag: string, { type, defaultValue, description }: Body): ManifestFlag => ({
  ...{ project: projectOf(params), flag, type, defaultValue },
  description: description === null ? '' : description,
});

const refuseName = ({ key, name = key }: Body) =>
  name === key ? null : invalid('A flag has no name besides its key here.', '/body/name');

const routesAt = (path: string, suffix: '' | 'OfProject', where: string): readonly RouteDraft[] => [
  readRoute(`GET ${path}`, {
    operationId: `getManifest${suffix}`,
    summary: `Read the flags ${where} as a manifest for OpenFeature's command line.`,
    ...PAGED,
    refusals: [...PAGED.refusals, 'NotFoundError'],
    success: { status: 200, schema: ManifestSchema },
    async read(context) {
      const project = locateProject(context.world, projectOf(context.params));
      if (isRefusal(project)) return project;
      const flags: (readonly [Flag, TypedValue])[] = [];
      const others: (readonly [Flag, NoCounterpart])[] = [];
      const { environments } = project.settings;
      const refusal = await walkFlags(context, [project], ({ record: { flag } }) => {
        if (flag.archivedAt !== null) return;
        const value = typedValueOf(flag, environments);
        if (value.type === null) others.push([flag, value]);
        else flags.push([flag, value]);
      });
      if (refusal !== undefined) return refusal;
      const read = await listsResponse(context, [
        listOf({ name: 'flags', items: flags, view: ([flag, value]) => flagView(flag, value) }),
        listOf({
          name: 'withoutCounterpart',
          items: others,
          view: ([{ name: key }, { reason }]) => ({ key, reason }),
        }),
      ]);
      return isRefusal(read) ? read : { ...read, response: withCapabilities(context, read.response) };
    },
  }),
  writeRoute(`POST ${path}/flags`, {
    operationId: `createManifestFlag${suffix}`,
    summary: `Create a flag ${where} with a type and a default value.`,
    needs: ['CREATE_FEATURE'],
    locate: (world, params) => locateProject(world, projectOf(params)),
    body: CreateBody,
    success: { status: 201, schema: WrittenSchema },
    refusals: ['NameExistsError'],
    guard: refuseVariants,
    command: ({ params, body }) =>
      refuseName(body) ?? ownCommand({ sent: sentOf(params, body.key, body), decide: createManifestFlag }),
    respond: (context) => written(201, context, context.body.key),
  }),
  writeRoute(`PUT ${path}/flags/:featureName`, {
    operationId: `updateManifestFlag${suffix}`,
    summary: `Change the default value and the description of a flag ${where}.`,
    needs: ['UPDATE_FEATURE'],
    locate: located,
    body: UpdateBody,
    success: { status: 200, schema: WrittenSchema },
    guard: refuseVariants,
    command: ({ params, body }) => {
      const { featureName: flag } = params;
      if (body.key !== flag) return invalid(`The key must be that of the path, "${flag}".`, '/body/key');
      return refuseName(body) ?? ownCommand({ sent: sentOf(params, flag, body), decide: updateManifestFlag });
    },
    respond: (context) => written(200, context, context.params.featureName),
  }),
  writeRoute(`DELETE ${path}/flags/:featureName`, {
    operationId: `archiveManifestFlag${suffix}`,
    summary: `Archive a flag ${where}.`,
    needs: ['DELETE_FEATURE'],
    locate: located,
    success: { status: 200, schema: ArchivedSchema },
    command: ({ params }) => ({ type: 'archive-flag', project: projectOf(params), flag: params.featureName }),
    respond: (context) => {
      const { featureName } = context.params;
      const { record } = present(locateFlag(context.world, projectOf(context.params), featureName));
      const message = `The flag "${featureName}" is archived; revive it to use it again.`;
      return withCapabilities(context, jsonResponse(200, { message, archivedAt: record.flag.archivedAt }));
    },
  }),
];

const routes: readonly Route[] = underTag('OpenFeature', [
  ...routesAt('/v0/manifest', '', 'of the project `default`'),
  ...routesAt('/projects/:projectId/openfeature/v0/manifest', 'OfProject', 'of a project'),
]);

const ManifestErrorSchema = titled('ManifestError', {
  error: v.object({
    message: v.string(),
    status: v.number(),
    details: v.array(v.object({ field: v.exactOptional(v.string()), message: v.string() })),
  }),
});

const ERRORS: ErrorShape = {
  messageOnly: new Set(),
  own: {
    schema: ManifestErrorSchema,
    example: (name, message) => ({ error: { message, status: ERROR_STATUS[name], details: [{ message }] } }),
  },
  bodyOf: ({ status, message, details }) => ({
    error: {
      message,
      status,
      details: details.map(({ path, message }) => ({
        ...(path === undefined ? {} : { field: fieldOf(path) }),
        message,
      })),
    },
  }),
};

/** The place that a JSON pointer names, such as `defaultValue`. */
const fieldOf = (path: string): string => path.replace('/body/', '').replaceAll('/', '.');

export const manifestSurface: Surface = {
  prefix: '/openfeature',
  access: {
    ...ADMIN_ACCESS,
    takesSessions: false,
    refuse: (world, caller, need, { projectId, environment }) =>
      ADMIN_ACCESS.refuse(world, caller, need, { projectId: projectId ?? DEFAULT_PROJECT, environment }),
  },
  errors: ERRORS,
  routes,
  description: `\`/openfeature/v0/manifest\` has the flags of the project \`default\` for OpenFeature's command line, and
\`/openfeature/projects/:projectId/openfeature/v0/manifest\` those of another project.`,
};
