/**
 * Examples of bodies and responses, made from their schemas and from one example for each name of a field: a word means one
 * thing in the whole interface. They tell one story, the flag `checkout-redesign` of the project `default`. Each component has
 * one, which every use of it shows; the tests hold each against its schema.
 */
import assert from 'node:assert/strict';
import { RECORD_EXAMPLES, RECORD_NAMES } from '../admin/record-schemas.ts';
import type { JsonSchema } from './component-schemas.ts';

const FLAG = 'checkout-redesign';
const IMAGE = 'https://gravatar.com/avatar/00?s=42&d=retro&r=g';
const SDK = 'unleash-node-sdk:6.12.1';
const MESSAGE = `There is no flag "${FLAG}" in the project "default".`;
const CONTEXT = { userId: '1', country: 'NO' };
const AT = '2024-05-01T09:30:00.000Z';
const ID = '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f';
const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const LINK_SECRET = 'T3Jr9Jt4m8X0cQW1v0b2d3e4f5g6h7i8j9k0l1m2n3o';

/** Leaves an optional field out, where another one takes its place. */
const LEFT_OUT = Symbol('left out');

/**
 * By name. `Role.name` is the name in components that have `Role` in theirs, and in fields of that name. Of the rows that
 * match and are of the schema's type, the one counts whose place ends nearest to the field.
 */
const FIELDS: readonly (readonly [names: string, value: unknown])[] = [
  // Flags and their parts.
  ['name feature featureName features toggleName key groupId seenToggles', FLAG],
  ['missingFeatures', 'chekout-redesign'],
  ['CloneFlag.name ValidateFeature.name', 'checkout-redesign-2'],
  ['type', 'release'],
  ['description', 'The checkout on one page.'],
  ['FlagType.name', 'Release'],
  ['lifetimeDays', 40],
  ['FlagType.description', 'Brings a feature to users step by step.'],
  ['statusValue', 'one-page'],
  ['archivedAt lastSeenAt', null],
  ['ArchivedFlag.archivedAt', AT],
  [
    'ArchivedFlag.archived enabled featureEnabled feature_enabled isEnabled isEnabledInCurrentEnvironment result',
    true,
  ],
  ['Dependency.feature ParentResult.feature dependencies.feature', 'new-payment-provider'],
  ['children dependents overrides removedTags', []],
  ['FlagLink.id', '7c9f1a52-1c1e-4a53-8a4d-5b1d3c2e9f10'],
  ['Link.url', 'https://tracker.example/SHOP-17'],
  ['Link.title', 'The ticket'],
  ['urlTemplate', 'https://tickets.example/{{project}}/{{feature}}'],
  ['LinkTemplate.title linkTemplates.title', 'Ticket'],
  ['LifecycleStage.status nextOffset', LEFT_OUT],
  // Strategies, variants and what they name.
  ['Strategy.id DecidedBy.id', ID],
  ['DecidedBy.kind', 'strategy'],
  ['DecidedBy.feature Constraint.value', LEFT_OUT],
  ['Strategy.name featureStrategies.name strategyName strategies', 'flexibleRollout'],
  ['title', 'A quarter of Scandinavia'],
  ['parameters', { rollout: '25', stickiness: 'userId', groupId: FLAG }],
  ['reason', 'SPLIT'],
  ['hasStrategies hasEnabledStrategies required', true],
  ['percentage', 25],
  ['rollout', null],
  ['stickiness', 'userId'],
  ['defaultStickiness', 'default'],
  ['Segment.name', 'Nordic customers'],
  ['FoundFlag.segments', ['Nordic customers']],
  ['Variant.name variants.name variant.name variant variants', 'one-page'],
  ['weight totalWeight', 1000],
  ['VariantDecision.bucket', 421],
  ['payload.type', 'string'],
  ['payload.value', 'compact'],
  ['contextName', 'country'],
  ['operator', 'IN'],
  ['values', 'NO'],
  ['LegalValue.value', 'fi'],
  ['LegalValue.description', 'Finland'],
  ['StrategyTypeParameter.name', 'weekdays'],
  ['StrategyTypeParameter.description', 'Such as mon,tue'],
  ['StrategyTypeParameter.type', 'list'],
  ['value tagValue', 'checkout'],
  ['Tag.type tagType', 'simple'],
  ['icon', 'T'],
  ['color', '#0b5394'],
  ...RECORD_NAMES,
  // Projects and environments.
  ['project projectId projects Project.id', 'default'],
  ['newProjectId', 'checkout'],
  ['Project.name', 'Default'],
  ['Project.description', 'Everything that customers see.'],
  ['FeatureNaming.pattern', 'team-[a-z-]+'],
  ['FeatureNaming.example', 'team-checkout'],
  ['FeatureNaming.description', 'The team comes first.'],
  ['featureLimit', null],
  ['health rating', 100],
  ['date', '2024-05-01'],
  [
    'environment environments from Environment.name environments.name Environment.displayName Environment.type',
    'development',
  ],
  ['parentsWithChildFeatures', FLAG],
  ['CreateProject.environments CreateProject.changeRequestEnvironments', LEFT_OUT],
  // People, roles and tokens.
  ['User.name SignUp.name Member.name owners.name StaleFlag.owner', 'Ada Lovelace'],
  ['Creator.name createdBy.name username createdBy ResetPassword.id', 'ada'],
  ['email', 'ada@example.com'],
  ['imageUrl', IMAGE],
  ['accountType', 'User'],
  ['seenAt', null],
  ['createdAt sessions.seenAt', AT],
  ['button', 'Sign in with the company account'],
  ['provider.path', '/auth/oidc/login'],
  ['User.permissions ProjectMember.permissions subscriptions feedback', []],
  ['loginAttempts', 0],
  ['Role.name RoleWithPermissions.name', 'Releaser'],
  ['Role.type', 'custom'],
  ['rootRole.project', null],
  ['Role.description', 'Switches flags in development.'],
  ['Permission.name permissions.name', 'UPDATE_FEATURE_ENVIRONMENT'],
  ['Permission.displayName', 'Switch flags on and off'],
  ['permission', 'UPDATE_FEATURE'],
  [
    'GrantedPermission.environment CreateApiToken.project CreateApiToken.username CreateProjectApiToken.project CreateProjectApiToken.username',
    LEFT_OUT,
  ],
  ['Group.name', 'Checkout'],
  ['Group.description', 'Who works on the checkout'],
  ['mappingsSSO', 'checkout-team'],
  ['ServiceAccount.name', 'Deployment'],
  ['ServiceAccount.username', 'deploy'],
  ['password confirmPassword', 'correct-Horse-1-battery'],
  ['oldPassword', 'correct-Horse-0-battery'],
  ['expiresAt', '2030-01-31T12:00:00.000Z'],
  ['digest ApiToken.secret seenTokens Invitation.secret', DIGEST],
  ['tokenName ApiToken.username', 'checkout-service'],
  ['NewApiToken.secret', `default:development.${'4f1d2c0a7b5e'.repeat(5)}`],
  ['PersonalToken.secret', `user:${'4f1d2c0a7b5e'.repeat(3)}`],
  ['Token.description', 'for scripts'],
  ['ApiToken.type tokens.type', 'client'],
  ['tokens tokens.token', `default:development.${'a'.repeat(64)}`],
  ['Invitation.name', 'Checkout team'],
  ['NewInvitation.secret token', LINK_SECRET],
  ['NewInvitation.url', `https://flags.example/invitation?secret=${LINK_SECRET}`],
  ['inviteLink resetPasswordUrl', `https://flags.example/password?secret=${LINK_SECRET}`],
  // Applications.
  ['Application.name appName applications seenApplications', 'shop'],
  ['Application.description', 'The shop and its checkout'],
  ['url', 'https://shop.example'],
  ['clientIp', '198.51.100.7'],
  ['instanceId instances', 'shop-1'],
  ['sdkVersion sdks backendSdks', SDK],
  ['frontendSdks outdatedSdks impactMetrics', []],
  ['Sdk.name', 'unleash-node-sdk'],
  ['versions', '6.12.1'],
  ['missingStrategies UnknownStrategyType.name', 'byRegion'],
  ['timestamp started start', AT],
  ['stop', '2024-05-01T09:31:00.000Z'],
  ['interval', 15_000],
  ['yes', 3],
  // Events, errors and the service itself.
  ['Event.id eventId lastEventId durableEventId', 42],
  ['events.type', 'feature-environment-disabled'],
  ['events.data Event.data preData', null],
  ['Event.type', 'feature-environment-enabled'],
  ['op', 'replace'],
  ['JSONPatch.path', '/description'],
  ['JSONPatch.value', 'The checkout on one page, with a summary.'],
  ['Error.id', '6f1c9a52-3f0e-4d8b-9a37-0c5f6f1f2b11'],
  ['Error.name', 'NotFoundError'],
  ['message', MESSAGE],
  ['ImportCheck.message', 'There are no segments of these names that strategies of the project may use.'],
  ['details.path', '/body/name'],
  ['msg', 'A project must have at least one owner'],
  ['affectedItems', 'Nordic customers'],
  ['errorDetails', `This token covers no flag "${FLAG}".`],
  ['SamlSettings.enabled', false],
  ['uptimeSeconds', 86_400],
  ['freeBytes', 84_329_750_528],
  ['rssBytes', 127_893_504],
  ['heapUsedBytes', 19_977_784],
  ['bytes', 1_048_576],
  ['ageSeconds', 3_600],
  ['writable', true],
  ['slogan baseUriPath', ''],
  ['UiConfig.name', 'Flagstaff'],
  ['UiConfig.flags latest', {}],
  ['UiConfig.links invalidContextProperties', []],
  ['version versionOSS oss enterprise', '1.0.0'],
  ['ClientFeatures.version FlagList.version', 2],
  ['Variants.version', '1'],
  ['unleashUrl', 'https://flags.example'],
  ['frontendApiOrigins', 'https://shop.example'],
  ['requestUri', '/api/frontend/streaming'],
  ['query', FLAG],
  ['FlagsAsCode.segments', ['beta-testers']],
  ['FlagsAsCode.ids', [ID]],
  [
    'ApplyFlags.changes',
    [{ flag: FLAG, environment: null, field: 'description', before: '', after: 'A shorter checkout' }],
  ],
  ['edit', `/projects/default/features/${FLAG}/strategies/edit?environmentId=development&strategyId=${ID}`],
  ['contextValues', 'NO'],
  ['context', CONTEXT],
  ['AdvancedPlayground.input', { environments: ['development'], projects: '*', context: CONTEXT }],
  ['etag', '"76d8bb0e:lZ2Jc0qBN3rVY3nT5ngQ0w"'],
  ['queryHash', '76d8bb0e'],
  ['namePrefix tag', 'checkout'],
  // Integrations.
  ['provider AddonProvider.name', 'webhook'],
  ['AddonProvider.displayName', 'Webhook'],
  ['Addon.description', 'Tells the shop of changes.'],
  ['Addon.events', ['feature-created', 'feature-environment-enabled']],
  ['Addon.projects', ['default']],
  ['Addon.environments', ['production']],
  ['Addon.parameters', { url: '*****' }],
  ['AddonInput.parameters', { url: 'https://hooks.example/flags' }],
  [
    'AddonProvider.parameters',
    [
      {
        ...{ name: 'url', displayName: 'URL', type: 'url', required: true, sensitive: true },
        description: 'Where to post events.',
      },
    ],
  ],
  ['documentationUrl', 'https://flags.example/docs'],
  ['Delivery.id', '7'],
  ['Delivery.stateDetails TestOutcome.details', 'The receiver answered with status 500.'],
  ['howTo AddonProvider.deprecated AddonProvider.tagTypes', LEFT_OUT],
  // OpenFeature's command line.
  ['CreateManifestFlag.name UpdateManifestFlag.name', LEFT_OUT],
  ['ManifestFlag.name', FLAG],
  ['defaultValue', false],
  ['withoutCounterpart.reason', 'The payloads of its variants have different types.'],
  ['ArchivedManifestFlag.archivedAt', AT],
  ['ArchivedManifestFlag.message', `The flag "${FLAG}" is archived; revive it to use it again.`],
  ['details.field', 'defaultValue'],
  // Change requests.
  ['ChangeRequestFeature.name ChangeRequestChangeInput.feature FoundChangeRequest.features', FLAG],
  ['ChangeRequestSegment.name FoundChangeRequest.segments', 'Nordic customers'],
  ['conflict defaultChange', LEFT_OUT],
  ['comment text', 'Looks right to me.'],
  [
    'ChangeRequestChange.payload ChangeRequestSegment.payload',
    { enabled: true, snapshot: { enabled: false } },
  ],
  ['ChangeRequestChangeInput.payload', { enabled: true }],
  [
    'ChangeRequestSchedule.reason ChangeRequestSchedule.failureReason ChangeRequestStateInput.scheduledAt',
    LEFT_OUT,
  ],
  ['ChangeRequestConfig.type', 'production'],
];

interface Row {
  readonly field: string;
  readonly within: string;
  readonly value: unknown;
}

const ROWS: readonly Row[] = FIELDS.flatMap(([names, value]) =>
  names.split(' ').map((name) => {
    const [field = '', within = ''] = name.split('.').reverse();
    return { field, within, value };
  }),
);

/** Keys of objects whose keys are names of something else than flags. */
const KEYS: Readonly<Record<string, string>> = {
  variants: 'one-page',
  environments: 'development',
  contextValues: 'country',
  leftOut: 'new-search',
  EnvironmentOrder: 'development',
};

export type ComponentExamples = Readonly<Record<string, unknown>>;

/** The examples of all components, by name. Rows of kinds have examples of their own. */
export function componentExamples(components: Readonly<Record<string, JsonSchema>>): ComponentExamples {
  const maker = new ExampleMaker(components);
  return Object.fromEntries(Object.keys(components).map((name) => [name, maker.ofComponent(name)]));
}

const REFERENCE = /^#\/components\/schemas\//;

class ExampleMaker {
  readonly #components: Readonly<Record<string, JsonSchema>>;
  readonly #made = new Map<string, unknown>(Object.entries(RECORD_EXAMPLES));

  constructor(components: Readonly<Record<string, JsonSchema>>) {
    this.#components = components;
  }

  ofComponent(name: string): unknown {
    if (!this.#made.has(name)) this.#made.set(name, this.#of(this.#components[name] ?? {}, name, ''));
    return this.#made.get(name);
  }

  /** `scope`: the names of the component and of the fields around it. */
  #of(schema: JsonSchema, scope: string, field: string): unknown {
    const row = rowFor(schema, scope, field);
    if (row !== undefined) return row.value;
    const { $ref, anyOf, oneOf, enum: values, properties, items, additionalProperties } = schema as Shape;
    if ($ref !== undefined) return this.ofComponent($ref.replace(REFERENCE, ''));
    const options = anyOf ?? oneOf;
    if (options !== undefined) return this.#of(mostTelling(options), scope, field);
    if ('const' in schema) return schema['const'];
    if (values !== undefined) return values[0];
    if (items !== undefined) return [this.#of(items, scope, field)];
    if (properties !== undefined) return this.#fields(properties, `${scope} ${field}`);
    if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
      return { [KEYS[field || scope] ?? FLAG]: this.#of(additionalProperties, `${scope} ${field}`, field) };
    }
    return plainExample(schema, `${scope}.${field}`);
  }

  #fields(properties: Readonly<Record<string, JsonSchema>>, scope: string): object {
    const fields = Object.entries(properties).map(
      ([name, schema]) => [name, this.#of(schema, scope, name)] as const,
    );
    return Object.fromEntries(fields.filter(([, value]) => value !== LEFT_OUT));
  }
}

interface Shape {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
}

/** The row whose place ends nearest to the field. */
function rowFor(schema: JsonSchema, scope: string, field: string): Row | undefined {
  const rows = ROWS.filter(
    (row) => row.field === field && scope.includes(row.within) && fits(row.value, schema),
  );
  const endOf = ({ within }: Row) => (within === '' ? 0 : scope.lastIndexOf(within) + within.length);
  return rows.toSorted((a, b) => endOf(b) - endOf(a))[0];
}

/** The first of the options, but null where it is a text of which no row tells more. */
function mostTelling(options: readonly JsonSchema[]): JsonSchema {
  const [first = {}] = options;
  return (first as Shape).type === 'string' && !('format' in first)
    ? (options.find((option) => (option as Shape).type === 'null') ?? first)
    : first;
}

/** Whether the value is of the type that the schema says; the tests ask for more. */
function fits(value: unknown, schema: JsonSchema): boolean {
  if (value === LEFT_OUT) return true;
  const { anyOf, oneOf, enum: values, type } = schema as Shape;
  const options = anyOf ?? oneOf;
  if (options !== undefined) return options.some((option) => fits(value, option));
  if ('const' in schema) return schema['const'] === value;
  if (values !== undefined) return values.includes(value);
  if (type === undefined) return !('$ref' in schema);
  const actual = typeOf(value);
  return [type].flat().some((one) => one === actual || (one === 'number' && actual === 'integer'));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** An example of a schema for which no row has a value. */
function plainExample({ type, format }: Shape, where: string): unknown {
  if (format === 'date-time') return AT;
  if (format === 'uuid') return ID;
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'null' || type === undefined) return null;
  if (type === 'object') return {};
  return assert.fail(`${where} has an example in examples.ts`);
}

const ADD_VARIANT = [
  { op: 'add', path: '/0', value: { name: 'one-page', weight: 1000, weightType: 'variable' } },
];

/** Examples by operation id, for bodies without a component and for those that the component's example does not fit. */
const OPERATION_EXAMPLES: Readonly<Record<string, { readonly body?: unknown; readonly response?: unknown }>> =
  {
    listParentOptions: { response: ['new-payment-provider'] },
    patchEnvironmentsFeatureVariants: { body: ADD_VARIANT },
    patchFeatureStrategy: { body: [{ op: 'replace', path: '/parameters/rollout', value: 50 }] },
    patchFeatureVariants: { body: ADD_VARIANT },
  };

/** The example of a body or a response; undefined where it has none. */
export function exampleOf(
  examples: ComponentExamples,
  { operationId, side, schema }: { operationId: string; side: 'body' | 'response'; schema: JsonSchema },
): unknown {
  return OPERATION_EXAMPLES[operationId]?.[side] ?? ofSchema(examples, schema);
}

function ofSchema(examples: ComponentExamples, schema: JsonSchema): unknown {
  const { $ref, items } = schema as Shape;
  if ($ref !== undefined) return examples[$ref.replace(REFERENCE, '')];
  const item = items === undefined ? undefined : ofSchema(examples, items);
  return item === undefined ? undefined : [item];
}
