/**
 * Examples, one for each component, so that every use of a component shows the same. They tell one story: the flag
 * `checkout-redesign` of the project `default`. The tests hold each one against its schema.
 */
import type { JsonSchema } from './component-schemas.ts';

const AT = '2024-05-01T09:30:00.000Z';

const CONSTRAINT = {
  contextName: 'country',
  operator: 'IN',
  caseInsensitive: false,
  inverted: false,
  values: ['NO', 'SE'],
};

const ROLLOUT = { rollout: '25', stickiness: 'userId', groupId: 'checkout-redesign' };

const VARIANT = {
  name: 'one-page',
  weight: 1000,
  weightType: 'variable',
  stickiness: 'default',
  payload: { type: 'string', value: 'one-page' },
  overrides: [],
};

const STRATEGY = {
  id: '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f',
  name: 'flexibleRollout',
  title: 'A quarter of Scandinavia',
  disabled: false,
  constraints: [CONSTRAINT],
  parameters: ROLLOUT,
  variants: [],
  segments: [],
  sortOrder: 0,
  featureName: 'checkout-redesign',
};

const FLAG = {
  name: 'checkout-redesign',
  project: 'default',
  description: 'The checkout on one page.',
  type: 'release',
  stale: false,
  impressionData: false,
  createdAt: AT,
  lastSeenAt: null,
  variants: null,
  archived: false,
};

const DEVELOPMENT = { name: 'development', displayName: 'development' };
const PRODUCTION = { name: 'production', displayName: 'production' };

const FLAG_ENVIRONMENT = {
  ...DEVELOPMENT,
  type: 'development',
  enabled: true,
  lastSeenAt: null,
  strategies: [STRATEGY],
};

const FLAG_SUMMARY = {
  name: 'checkout-redesign',
  type: 'release',
  stale: false,
  createdAt: AT,
  lastSeenAt: null,
  environments: [
    { ...DEVELOPMENT, enabled: true },
    { ...PRODUCTION, enabled: false },
  ],
};

const EVENT = {
  id: 42,
  createdAt: AT,
  type: 'feature-environment-enabled',
  createdBy: 'ada',
  createdByUserId: 2,
  environment: 'development',
  project: 'default',
  featureName: 'checkout-redesign',
  data: null,
  preData: null,
  tags: [],
};

const MESSAGE = 'There is no flag "checkout-redesign" in the project "default".';

/** By the name of the component. */
export const COMPONENT_EXAMPLES: Readonly<Record<string, unknown>> = {
  CloneFlag: { name: 'checkout-redesign-2', replaceGroupId: true },
  Constraint: CONSTRAINT,
  ConstraintInput: { contextName: 'country', operator: 'IN', values: ['NO', 'SE'] },
  CreateFlag: { name: 'checkout-redesign', type: 'release', description: 'The checkout on one page.' },
  Dependency: { feature: 'new-payment-provider', enabled: true, variants: [] },
  Error: {
    id: '6f1c9a52-3f0e-4d8b-9a37-0c5f6f1f2b11',
    name: 'NotFoundError',
    message: MESSAGE,
    details: [{ message: MESSAGE }],
  },
  Event: EVENT,
  EventSearch: { project: 'default', feature: 'checkout-redesign', limit: 20 },
  Events: { version: 1, events: [EVENT], totalEvents: 1 },
  Flag: FLAG,
  FlagEnvironment: FLAG_ENVIRONMENT,
  FlagList: { version: 2, features: [FLAG_SUMMARY] },
  FlagSummary: FLAG_SUMMARY,
  JSONPatch: [{ op: 'replace', path: '/description', value: 'The checkout on one page, with a summary.' }],
  MembershipError: [{ msg: 'A project must have at least one owner' }],
  Profile: {
    rootRole: { id: 1, type: 'root', name: 'Admin', description: 'May do everything.', project: null },
    projects: ['default'],
    features: [],
  },
  ProjectOverview: {
    version: 1,
    name: 'Default',
    description: 'Default project',
    health: 100,
    members: 1,
    defaultStickiness: 'default',
    createdAt: AT,
    updatedAt: AT,
    environments: [{ environment: 'development' }, { environment: 'production' }],
    features: [FLAG_SUMMARY],
  },
  Strategy: STRATEGY,
  StrategyInput: {
    name: 'flexibleRollout',
    title: 'A quarter of Scandinavia',
    parameters: ROLLOUT,
    constraints: [{ contextName: 'country', operator: 'IN', values: ['NO', 'SE'] }],
  },
  StrategyVariant: { name: 'one-page', weight: 1000, weightType: 'variable', stickiness: 'userId' },
  Tag: { type: 'simple', value: 'checkout' },
  UpdateFlag: { description: 'The checkout on one page.', type: 'experiment' },
  UpdateUser: { name: 'Ada Lovelace', rootRole: 'Editor' },
  User: {
    id: 2,
    isAPI: false,
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    username: 'ada',
    imageUrl: 'https://gravatar.com/avatar/00?s=42&d=retro&r=g',
    loginAttempts: 0,
    rootRole: 2,
    seenAt: null,
    createdAt: AT,
    accountType: 'User',
    permissions: [],
    scimId: null,
  },
  Variant: VARIANT,
  VariantInput: { name: 'one-page', weight: 1000, payload: VARIANT.payload },
  Variants: { version: '1', variants: [VARIANT] },
  WholeFlag: {
    ...FLAG,
    archivedAt: null,
    environments: [FLAG_ENVIRONMENT],
    children: [],
    dependencies: [],
    tags: [{ type: 'simple', value: 'checkout' }],
  },
};

/** Where a component's example would not fit the operation, or there is no component. By operation id. */
const OPERATION_EXAMPLES: Readonly<Record<string, { readonly body?: unknown; readonly answer?: unknown }>> = {
  listParentOptions: { answer: ['new-payment-provider'] },
  patchFeatureStrategy: { body: [{ op: 'replace', path: '/parameters/rollout', value: '50' }] },
  patchFeatureVariants: {
    body: [{ op: 'add', path: '/0', value: { name: 'one-page', weight: 1000, weightType: 'variable' } }],
  },
};

export function exampleOf(operationId: string, side: 'body' | 'answer', schema: JsonSchema): unknown {
  return OPERATION_EXAMPLES[operationId]?.[side] ?? ofSchema(schema);
}

function ofSchema(schema: JsonSchema): unknown {
  const { $ref, items } = schema as { readonly $ref?: string; readonly items?: JsonSchema };
  if ($ref !== undefined) return COMPONENT_EXAMPLES[$ref.slice($ref.lastIndexOf('/') + 1)];
  const item = items === undefined ? undefined : ofSchema(items);
  return item === undefined ? undefined : [item];
}
