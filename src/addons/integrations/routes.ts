/** The routes of integrations and their providers, at `/addons` (docs/specification/integrations.md). */
import * as v from 'valibot';
import { ownCommand } from '../../domain/decide/decide.ts';
import {
  createRecord,
  recordCreated,
  recordDeleted,
  recordUpdated,
} from '../../domain/decide/kind-commands.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import type { AddonContent } from '../../domain/kinds/addon-kind.ts';
import { withFields } from '../../domain/kinds/kind.ts';
import { addonRecordsOf, locateAddonRecord } from '../../domain/state/addon-records.ts';
import type { DecideContext, Decision } from '../../domain/state/decision.ts';
import { findNamed } from '../../domain/state/directory-records.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { noEnvironment, refuseUnknownProjects } from '../../domain/state/locate.ts';
import { invalid, isRefusal, notFound, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { ALL, type World } from '../../domain/state/world.ts';
import { numericId } from '../../http/admin/locators.ts';
import { settledResponse } from '../../http/admin/responses.ts';
import type { Params } from '../../http/serving/params.ts';
import {
  type RequestContext,
  type Route,
  readRoute,
  underTag,
  writeRoute,
} from '../../http/serving/route.ts';
import { hiddenProjects } from '../../http/serving/visible-world.ts';
import {
  FIELDS,
  INTEGRATION,
  IntegrationSchema,
  issuesOfParameters,
  type ShownIntegration,
  splitParameters,
} from './kind.ts';
import { PROVIDERS, providerNamed } from './providers/table.ts';

const ProviderSchema = v.pipe(
  v.object({
    name: v.string(),
    displayName: v.string(),
    description: v.string(),
    documentationUrl: v.string(),
    howTo: v.exactOptional(v.string()),
    deprecated: v.exactOptional(v.pipe(v.string(), v.description('Why it should not be chosen any more.'))),
    parameters: v.array(
      v.object({
        name: v.string(),
        displayName: v.string(),
        type: v.picklist(['text', 'textfield', 'url']),
        required: v.boolean(),
        sensitive: v.pipe(v.boolean(), v.description('Whether it is a secret.')),
        placeholder: v.exactOptional(v.string()),
        description: v.string(),
      }),
    ),
    events: v.pipe(v.array(v.string()), v.description('Types of the events that it can send.')),
    tagTypes: v.exactOptional(
      v.array(v.object({ name: v.string(), description: v.string(), icon: v.string() })),
    ),
  }),
  v.title('AddonProvider'),
);

const IntegrationsSchema = v.pipe(
  v.object({ addons: v.array(IntegrationSchema), providers: v.array(ProviderSchema) }),
  v.title('Addons'),
);

const { provider, ...others } = FIELDS;

/** Fields that are left out keep their values, or get their defaults in a new integration. */
const BodySchema = v.pipe(
  v.object({
    provider,
    ...v.partial(v.object(others)).entries,
    parameters: v.optional(
      v.pipe(
        v.record(v.string(), v.union([v.string(), v.number(), v.boolean()], 'a text, a number or a boolean')),
        v.description('By the names of the parameters of the provider.'),
      ),
    ),
  }),
  v.title('AddonInput'),
);

type Body = v.InferOutput<typeof BodySchema>;

/** A provider without what only the server needs of it. */
const PROVIDERS_SHOWN = v.parse(v.array(ProviderSchema), PROVIDERS);

const EMPTY: AddonContent<Omit<ShownIntegration, 'id' | 'provider'>> = {
  data: { description: null, enabled: true, parameters: {}, events: [], projects: [], environments: [] },
  secrets: {},
};

/** The integration as it is sent, with what it had before in place of what is left out. */
function contentOf(
  { parameters: sent, ...fields }: Body,
  id: number,
  { data, secrets: before }: AddonContent<Partial<ShownIntegration>>,
): AddonContent<ShownIntegration> {
  const isSame = data.provider === undefined || data.provider === fields.provider;
  const values = sent ?? (isSame ? data.parameters : undefined) ?? {};
  const { parameters, secrets } = splitParameters(fields.provider, values, isSame ? before : {});
  const kept = { ...EMPTY.data, ...data, id, provider: fields.provider, parameters };
  return { data: withFields(kept, fields), secrets };
}

function refuseParameters(content: AddonContent<ShownIntegration>): Refusal | null {
  const issues = issuesOfParameters(content).map(({ path, message }) => ({ path: `/body${path}`, message }));
  return issues[0] === undefined ? null : refuse('ValidationError', issues[0].message, issues);
}

/** Lists that stay as they are may name what was deleted since. */
function refuseUnknown(
  world: World,
  after: ShownIntegration,
  before: Pick<ShownIntegration, 'projects' | 'environments'>,
): Refusal | null {
  const { projects, environments } = after;
  const refusal = jsonEqual(projects, before.projects) ? null : refuseUnknownProjects(world, projects);
  if (refusal !== null || jsonEqual(environments, before.environments)) return refusal;
  const known = new Set([ALL, ...world.directory.environments.map(({ name }) => name)]);
  const at = environments.findIndex((name) => !known.has(name));
  return at < 0 ? null : invalid(noEnvironment(world, environments[at]!), `/body/environments/${at}`);
}

function checked(
  world: World,
  after: AddonContent<ShownIntegration>,
  before: typeof EMPTY,
): AddonContent<ShownIntegration> | Refusal {
  return refuseParameters(after) ?? refuseUnknown(world, after.data, before.data) ?? after;
}

function create(world: World, { body }: { readonly body: Body }, context: DecideContext): Decision {
  const decision = recordCreated(world, INTEGRATION, (id) =>
    checked(world, contentOf(body, id, EMPTY), EMPTY),
  );
  return isRefusal(decision) ? decision : [...decision, ...tagTypeEvents(world, body.provider, context)];
}

/** Tags of these types name the places that the provider sends to. Where there are too many types, tags work without theirs. */
function tagTypeEvents(world: World, name: string, context: DecideContext): readonly DomainEvent[] {
  const missing = (providerNamed(name)?.tagTypes ?? []).filter(
    (one) => findNamed(world, 'tagTypes', one.name) === undefined,
  );
  const [first] = missing.map((fields) => createRecord(world, { kind: 'tagTypes', fields }, context));
  return first === undefined || isRefusal(first) ? [] : first;
}

interface Update {
  readonly id: number;
  readonly body: Body;
}

/** A description is taken away by null or an empty text, and is then empty, as in Unleash. */
function update(world: World, { id, body }: Update): Decision {
  const sent = body.description === null ? { ...body, description: '' } : body;
  return recordUpdated(world, INTEGRATION, id, (before) =>
    checked(world, contentOf(sent, id, before), before),
  );
}

const remove = (world: World, { id }: Pick<Update, 'id'>): Decision => recordDeleted(world, INTEGRATION, id);

const idIn = ({ id }: Params): number => numericId(id);

const noIntegration = ({ id }: Params): Refusal => notFound(`There is no integration "${id}".`);

function locate(world: World, params: Params) {
  const found = locateAddonRecord(world, INTEGRATION, idIn(params));
  return isRefusal(found) ? noIntegration(params) : found;
}

/** The integration without projects that are hidden from the caller; null where it is about nothing else. */
function shownTo(
  { engine, caller }: RequestContext<unknown>,
  data: ShownIntegration,
): ShownIntegration | null {
  const hidden = hiddenProjects(engine.world, caller);
  if (!data.projects.some((id) => hidden.includes(id))) return data;
  const projects = data.projects.filter((id) => !hidden.includes(id));
  return projects.length === 0 ? null : { ...data, projects };
}

const WRITTEN = {
  body: BodySchema,
  secretsInBody: ['parameters'],
  refusals: ['PayloadTooLargeError'],
} as const;

export const integrationRoutes: readonly Route[] = underTag('Addons', [
  readRoute('GET /addons', {
    operationId: 'getAddons',
    summary: 'List the integrations, and the providers that they may have.',
    success: { status: 200, schema: IntegrationsSchema },
    shows: (context) => ({
      addons: addonRecordsOf(context.world, INTEGRATION).flatMap(({ data }) => shownTo(context, data) ?? []),
      providers: PROVIDERS_SHOWN,
    }),
  }),
  writeRoute('POST /addons', {
    ...WRITTEN,
    operationId: 'createAddon',
    summary: 'Create an integration, which is told of the events that follow.',
    needs: ['CREATE_ADDON'],
    success: { status: 201, schema: IntegrationSchema },
    command: ({ body }) => ownCommand({ sent: { body }, decide: create, faultPath: '/body' }),
    shows: (_context, _located, [created]) => created?.data,
  }),
  readRoute('GET /addons/:id', {
    operationId: 'getAddon',
    summary: 'Read an integration.',
    locate,
    success: { status: 200, schema: IntegrationSchema },
    read: (context, { data }) => {
      const shown = shownTo(context, data);
      return shown === null ? noIntegration(context.params) : settledResponse(context, shown);
    },
  }),
  writeRoute('PUT /addons/:id', {
    ...WRITTEN,
    operationId: 'updateAddon',
    summary:
      'Change an integration; what is absent keeps its value, and so do secrets that are sent as they are shown.',
    needs: ['UPDATE_ADDON'],
    locate,
    success: { status: 200, schema: IntegrationSchema },
    command: ({ params, body }) =>
      ownCommand({ sent: { id: idIn(params), body }, decide: update, faultPath: '/body' }),
    shows: (_context, { data }) => data,
  }),
  writeRoute('DELETE /addons/:id', {
    operationId: 'deleteAddon',
    summary: 'Delete an integration.',
    needs: ['DELETE_ADDON'],
    locate,
    command: ({ params }) => ownCommand({ sent: { id: idIn(params) }, decide: remove }),
  }),
]);
