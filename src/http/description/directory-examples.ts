/** Examples of what belongs to no flag: projects, environments, users, tokens, errors. By the name of the component. */
import { AT, FLAG_SUMMARY } from './flag-examples.ts';

const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const SECRET = 'default:development.4f1d2c0a7b5e4f1d2c0a7b5e4f1d2c0a7b5e4f1d2c0a7b5e4f1d2c0a7b5e4f1d';
const MESSAGE = 'There is no flag "checkout-redesign" in the project "default".';

const PROJECT = {
  id: 'default',
  name: 'Default',
  description: 'Default project',
  mode: 'open',
  defaultStickiness: 'default',
  createdAt: AT,
  updatedAt: AT,
  environments: ['development', 'production'],
};

const PROJECT_SUMMARY = {
  ...PROJECT,
  health: 100,
  featureCount: 1,
  staleFeatureCount: 0,
  memberCount: 1,
  favorite: false,
};

const BARE_ENVIRONMENT = {
  name: 'development',
  type: 'development',
  enabled: true,
  protected: false,
  sortOrder: 1,
};
const ENVIRONMENT = { ...BARE_ENVIRONMENT, projectCount: 1, apiTokenCount: 1, enabledToggleCount: 1 };
const PROJECT_ENVIRONMENT = {
  ...BARE_ENVIRONMENT,
  projectApiTokenCount: 1,
  projectEnabledToggleCount: 1,
};

const ROLE = {
  id: 4,
  name: 'Owner',
  type: 'project',
  description: 'May do everything in the project.',
  project: null,
};
const ADMIN_ROLE = { ...ROLE, id: 1, name: 'Admin', type: 'root', description: 'May do everything.' };
const VIEWER_ROLE = { ...ADMIN_ROLE, id: 3, name: 'Viewer', description: 'May read everything.' };

const PERMISSION = {
  id: 32,
  name: 'UPDATE_FEATURE_ENVIRONMENT',
  displayName: 'Switch flags on and off',
  type: 'environment',
  environment: 'development',
};
const CUSTOM_ROLE = {
  id: 6,
  name: 'Releaser',
  type: 'custom',
  description: 'Switches flags in development.',
  permissions: [PERMISSION],
};
const ROLE_INPUT = {
  name: 'Releaser',
  type: 'custom',
  description: 'Switches flags in development.',
  permissions: [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' }],
};

const FOUND_USER = {
  id: 2,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  username: 'ada',
  imageUrl: 'https://gravatar.com/avatar/00?s=42&d=retro&r=g',
};

const USER = {
  ...FOUND_USER,
  isAPI: false,
  loginAttempts: 0,
  rootRole: 2,
  seenAt: null,
  createdAt: AT,
  accountType: 'User',
  permissions: [],
  scimId: null,
};
const PROJECT_MEMBER = { ...USER, roleId: 4, roles: [4] };
const GROUP_SUMMARY = {
  id: 1,
  name: 'Checkout',
  description: 'Who works on the checkout',
  rootRole: 3,
  mappingsSSO: [],
  createdAt: AT,
  createdBy: 'admin',
  userCount: 1,
};
const GROUP = { ...GROUP_SUMMARY, users: [{ user: FOUND_USER }] };
const ME_USER = {
  ...FOUND_USER,
  isAPI: false,
  seenAt: null,
  loginAttempts: 0,
  createdAt: AT,
  accountType: 'User',
};

const API_TOKEN = {
  digest: DIGEST,
  tokenName: 'checkout-service',
  username: 'checkout-service',
  type: 'client',
  environment: 'development',
  project: 'default',
  projects: ['default'],
  createdAt: AT,
  expiresAt: null,
  seenAt: null,
  alias: null,
  secret: DIGEST,
  secure: true,
};

const PERSONAL_TOKEN = {
  id: 1,
  userId: 2,
  description: 'for scripts',
  createdAt: AT,
  expiresAt: '2030-01-31T12:00:00.000Z',
  seenAt: null,
};
const LINK_SECRET = 'T3Jr9Jt4m8X0cQW1v0b2d3e4f5g6h7i8j9k0l1m2n3o';
const INVITATION = {
  ...{ name: 'Checkout team', enabled: true, expiresAt: AT, createdAt: AT, createdBy: 'admin' },
  ...{ users: [FOUND_USER], role: VIEWER_ROLE },
};
const SERVICE_ACCOUNT = {
  id: 7,
  isAPI: false,
  name: 'Deployment',
  username: 'deploy',
  imageUrl: 'https://gravatar.com/avatar/00?s=42&d=retro&r=g',
  rootRole: 3,
  seenAt: null,
  createdAt: AT,
  tokens: [PERSONAL_TOKEN],
};

const SNAPSHOT = { eventId: 100_000, eventAt: AT, ageSeconds: 3600, bytes: 1_048_576 };

const VERSION_INFO = { current: { oss: '0.1.0', enterprise: '0.1.0' }, latest: {}, isLatest: true };

const RESOURCE_LIMITS = {
  segmentValues: 1000,
  strategySegments: 5,
  featureEnvironmentStrategies: 30,
  constraintValues: 250,
  constraints: 30,
  environments: 50,
  apiTokens: 10_000,
  segments: 300,
  projects: Number.MAX_SAFE_INTEGER,
  featureFlags: Number.MAX_SAFE_INTEGER,
  actionSetActions: 0,
  actionSetsPerProject: 0,
  actionSetFilters: 0,
  actionSetFilterValues: 0,
  signalEndpoints: 0,
  signalTokensPerEndpoint: 0,
};

const TYPE_COUNT = { type: 'release', count: 1 };

export const DIRECTORY_EXAMPLES: Readonly<Record<string, unknown>> = {
  FrontendOrigins: { frontendApiOrigins: ['https://shop.example'] },
  Maintenance: { enabled: true },
  OidcSettings: {
    enabled: true,
    discoverUrl: 'https://login.example/realms/main/.well-known/openid-configuration',
    clientId: 'flagstaff',
    secret: 'feb76b57c879fd17bb1c9fb3e4f984ee89ed5e2cd8711749aedd2a9e64bba4d6',
    autoCreate: true,
    defaultRootRole: 'Viewer',
    defaultRootRoleId: 3,
    enableGroupSyncing: true,
    groupJsonPath: 'groups',
    enableSingleSignOut: true,
    enablePkce: true,
  },
  SamlSettings: { enabled: false },
  UiConfig: {
    name: 'Flagstaff',
    slogan: '',
    version: '0.1.0',
    environment: '',
    unleashUrl: 'https://flags.example',
    baseUriPath: '',
    versionInfo: VERSION_INFO,
    resourceLimits: RESOURCE_LIMITS,
    flags: {},
    links: [],
    frontendApiOrigins: ['*'],
    maintenanceMode: false,
  },
  AddProjectEnvironment: { environment: 'development' },
  ArchiveCheck: { parentsWithChildFeatures: ['checkout-redesign'], hasDeletedDependencies: false },
  ApiToken: API_TOKEN,
  ApiTokens: { tokens: [API_TOKEN] },
  CompanionUser: USER,
  CreateApiToken: {
    tokenName: 'checkout-service',
    type: 'client',
    environment: 'development',
    projects: ['default'],
  },
  CreateEnvironment: { name: 'staging', type: 'preproduction' },
  ResetPassword: { id: 'ada@example.com' },
  ResetPasswordLink: { resetPasswordUrl: `https://flags.example/welcome#password=${LINK_SECRET}` },
  CreateInvitation: { name: 'Checkout team', expiresAt: '2030-01-31T12:00:00Z' },
  UpdateInvitation: { enabled: false },
  Invitation: { secret: DIGEST, url: null, ...INVITATION },
  Invitations: { tokens: [{ secret: DIGEST, url: null, ...INVITATION }] },
  NewInvitation: {
    secret: LINK_SECRET,
    url: `https://flags.example/welcome#invitation=${LINK_SECRET}`,
    ...INVITATION,
  },
  LinkUser: {
    ...{ id: 2, name: 'Ada Lovelace', username: 'ada', email: 'ada@example.com' },
    ...{ token: LINK_SECRET, createdBy: null, role: VIEWER_ROLE },
  },
  SetPasswordByLink: { token: LINK_SECRET, password: 'New-password-2' },
  PasswordEmail: { email: 'ada@example.com' },
  SignUp: { email: 'ada@example.com', name: 'Ada Lovelace', password: 'New-password-2' },
  InvitedUser: { ...FOUND_USER, rootRole: 3 },
  CreateServiceAccount: { name: 'Deployment', username: 'deploy', rootRole: 3 },
  UpdateServiceAccount: { name: 'Deployment', rootRole: 2 },
  ServiceAccount: SERVICE_ACCOUNT,
  ServiceAccounts: { serviceAccounts: [SERVICE_ACCOUNT], rootRoles: [ADMIN_ROLE] },
  CreatePersonalToken: { description: 'for scripts', expiresAt: '2030-01-31T12:00:00Z' },
  CreateProjectApiToken: { tokenName: 'checkout-service', type: 'client', environment: 'development' },
  CreateProject: { id: 'shop', name: 'Shop', description: 'Everything that customers see.' },
  ChangeOwnPassword: { oldPassword: 'Old-password-1', password: 'New-password-2' },
  ChangePassword: { password: 'New-password-2' },
  NewPassword: { password: 'New-password-2' },
  UsersAndGroups: { users: [FOUND_USER], groups: [GROUP_SUMMARY] },
  CreateUser: { username: 'ada', email: 'ada@example.com', name: 'Ada Lovelace', rootRole: 'Editor' },
  Environment: ENVIRONMENT,
  EnvironmentOrder: { development: 1, production: 2 },
  Environments: { version: 1, environments: [ENVIRONMENT] },
  Error: {
    id: '6f1c9a52-3f0e-4d8b-9a37-0c5f6f1f2b11',
    name: 'NotFoundError',
    message: MESSAGE,
    details: [{ message: MESSAGE }],
  },
  FeatureTypeCount: TYPE_COUNT,
  FoundUser: FOUND_USER,
  ChangedRole: { version: 1, roles: CUSTOM_ROLE },
  CheckRole: { name: 'Releaser' },
  CreateRole: ROLE_INPUT,
  GroupInput: { name: 'Checkout', description: 'Who works on the checkout', users: [{ user: { id: 2 } }] },
  Group: { ...GROUP, projects: ['default'] },
  GroupSummary: GROUP_SUMMARY,
  Groups: { groups: [{ ...GROUP, projects: ['default'] }] },
  Permission: PERMISSION,
  Permissions: {
    version: 1,
    permissions: {
      root: [{ id: 1, name: 'CREATE_PROJECT', displayName: 'Create projects', type: 'root' }],
      project: [{ id: 18, name: 'CREATE_FEATURE', displayName: 'Create flags', type: 'project' }],
      environments: [{ name: 'development', permissions: [PERMISSION] }],
    },
  },
  ProjectGroup: { ...GROUP, roleId: 5, roles: [5] },
  RoleCheck: { valid: true, name: 'Releaser' },
  RoleWithPermissions: CUSTOM_ROLE,
  SetRoles: { roles: [5] },
  AddProjectAccess: { roles: [5], users: [2], groups: [1] },
  UpdateRole: ROLE_INPUT,
  GrantedPermission: { permission: 'UPDATE_FEATURE', project: 'default' },
  InstanceFigures: {
    version: '1.0.0',
    httpEngine: 'uws',
    uptimeSeconds: 86_400,
    writable: true,
    refusalReason: null,
    lastEventId: 120_042,
    durableEventId: 120_042,
    waitingCommands: 0,
    connections: 3,
    projects: 4,
    flags: 310,
    users: 25,
    events: 120_042,
    journal: { bytes: 36_700_160, segments: 1 },
    snapshots: { count: 1, newest: SNAPSHOT },
    disk: { freeBytes: 84_329_750_528 },
    memory: { rssBytes: 127_893_504, heapUsedBytes: 19_977_784 },
  },
  Me: {
    user: ME_USER,
    permissions: [{ permission: 'UPDATE_FEATURE', project: 'default' }],
    feedback: [],
    splash: {},
  },
  MeUser: ME_USER,
  MessageError: { message: 'invalid token: expected a different token type for this endpoint' },
  MembershipError: [{ msg: 'A project must have at least one owner' }],
  NewApiToken: { ...API_TOKEN, secret: SECRET },
  NewPersonalToken: { ...PERSONAL_TOKEN, secret: 'user:4f1d2c0a7b5e4f1d2c0a7b5e4f1d2c0a7b5e4f1d' },
  NewUser: { ...USER, rootRole: 'Editor', emailSent: false },
  PersonalToken: PERSONAL_TOKEN,
  PersonalTokens: { pats: [PERSONAL_TOKEN] },
  Profile: {
    rootRole: { id: 1, type: 'root', name: 'Admin', description: 'May do everything.', project: null },
    projects: ['default'],
    subscriptions: [],
    features: [],
  },
  Project: PROJECT,
  ProjectAccess: {
    version: 1,
    users: [PROJECT_MEMBER],
    groups: [{ ...GROUP, roleId: 5, roles: [5] }],
    roles: [ROLE],
  },
  ProjectEnvironment: PROJECT_ENVIRONMENT,
  ProjectEnvironments: { version: 1, environments: [PROJECT_ENVIRONMENT] },
  ProjectMember: PROJECT_MEMBER,
  ProjectOverview: {
    version: 1,
    name: 'Default',
    description: 'Default project',
    health: 100,
    members: 1,
    favorite: false,
    defaultStickiness: 'default',
    createdAt: AT,
    updatedAt: AT,
    featureNaming: { pattern: null, example: null, description: null },
    featureLimit: null,
    linkTemplates: [],
    environments: [{ environment: 'development' }, { environment: 'production' }],
    features: [FLAG_SUMMARY],
  },
  ProjectSummary: PROJECT_SUMMARY,
  ProjectSummaryOverview: {
    version: 1,
    name: 'Default',
    description: 'Default project',
    mode: 'open',
    defaultStickiness: 'default',
    health: 100,
    members: 1,
    favorite: false,
    featureNaming: { pattern: null, example: null, description: null },
    featureLimit: null,
    linkTemplates: [],
    featureTypeCounts: [TYPE_COUNT],
    environments: [{ environment: 'development' }, { environment: 'production' }],
    onboardingStatus: { status: 'first-flag-created', feature: 'checkout-redesign' },
    createdAt: AT,
    updatedAt: AT,
    archivedAt: null,
  },
  ResourceLimits: RESOURCE_LIMITS,
  VersionInfo: VERSION_INFO,
  Projects: { version: 1, projects: [PROJECT_SUMMARY] },
  Role: ROLE,
  Roles: { version: 1, roles: [ADMIN_ROLE, ROLE] },
  SetProjectAccess: { roles: [{ id: 4, users: [1], groups: [] }] },
  SnapshotFigures: SNAPSHOT,
  UpdateApiToken: { expiresAt: '2030-01-31T12:00:00Z' },
  UpdateEnvironment: { type: 'test' },
  UpdateProject: { name: 'Shop', description: 'Everything that customers see.' },
  UpdateUser: { name: 'Ada Lovelace', rootRole: 'Editor' },
  User: USER,
  Users: { users: [USER], rootRoles: [ADMIN_ROLE] },
};
