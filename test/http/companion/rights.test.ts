/**
 * The rights of callers (docs/specification/rights.md#rights-by-role): every route of the table × every kind of caller.
 * What is expected stands here, written by hand and not taken from src/http/serving/access.ts: which permission an
 * operation asks for, and whom it is given to. A route or a kind of caller without a decision fails.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Right } from '../../../src/domain/access/permissions.ts';
import { digestOf } from '../../../src/http/serving/access.ts';
import type { Route } from '../../../src/http/serving/route.ts';
import { addonModules } from '../../support/addon-modules.ts';
import { ADMIN_ROUTES } from '../../support/surfaces.ts';
import '../../support/check-responses.ts';
import { addClientToken, addProject, addUser, makeFlag } from '../../support/interface.ts';
import { describeInterface, serverFor, startTestServer, type TestServer } from '../../support/server.ts';

const ALLOWED = 'allowed';
const UNAUTHENTICATED = 401;
const FORBIDDEN = 403;

/** Operations of the core by the permission that they ask for. */
const OPERATIONS: Readonly<Record<Right, readonly string[]>> = {
  /** For surfaces whose responses show what a token covers. */
  scope: [],
  'guard:skip': [],
  read: [
    'getProjectOverview',
    'listFeatures',
    'getFeature',
    'listParentOptions',
    'searchEvents',
    'searchFeatures',
    'getTagTypes',
    'getTagType',
    'getProjectFlagCreators',
    'searchEventsByParameters',
    'getProjects',
    'getProjectAccess',
    'getProjectEnvironments',
    'getProjectFeatureTypes',
    'getAllEnvironments',
    'getEnvironment',
    'getArchivedFeatures',
    'getArchivedFeaturesByProjectId',
    'listTags',
    'getFeatureEnvironment',
    'getFeatureStrategies',
    'getFeatureStrategy',
    'getFeatureVariants',
    'getEnvironmentFeatureVariants',
    'getAllFeatureTypes',
    'validateFeature',
    'validateConstraint',
    'validateArchiveFeatures',
    'getEvents',
    'getEventsForToggle',
    'getEventTypes',
    'streamEvents',
    'streamEventLines',
    'searchUsers',
    'getRoles',
    'getRoleById',
    'getPermissions',
    'getGroups',
    'getGroup',
    'getInstanceStats',
    'getUiConfig',
    'getMaintenance',
    'getFeatureLifecycle',
    'getEventCreators',
    'getSegments',
    'getSegment',
    'getStrategiesBySegmentId',
    'getContextFields',
    'getContextFieldsForProject',
    'getContextField',
    'getStrategiesByContextField',
    'getAllStrategies',
    'getStrategy',
    'getProjectOverviewWithoutFeatures',
  ],
  'targeting:write': [
    'createSegment',
    'updateSegment',
    'removeSegment',
    'createContextField',
    'updateContextField',
    'deleteContextField',
    'createTagType',
    'updateTagType',
    'deleteTagType',
    'createStrategy',
    'updateStrategy',
    'removeStrategy',
    'deprecateStrategy',
    'reactivateStrategy',
  ],
  'flag:write': [
    'createFeature',
    'updateFeature',
    'patchFeature',
    'cloneFeature',
    'rollbackFeature',
    'rollbackProject',
    'archiveFeature',
    'addFeatureStrategy',
    'updateFeatureStrategy',
    'patchFeatureStrategy',
    'deleteFeatureStrategy',
    'toggleFeatureEnvironmentOn',
    'toggleFeatureEnvironmentOff',
    'overwriteFeatureVariants',
    'patchFeatureVariants',
    'reviveFeature',
    'deleteFeature',
    'archiveFeatures',
    'reviveFeatures',
    'deleteFeatures',
    'staleFeatures',
    'changeProject',
    'commentOnFeature',
    'complete',
    'uncomplete',
    'createFeatureLink',
    'updateFeatureLink',
    'deleteFeatureLink',
    'addTag',
    'removeTag',
    'addTagToFeatures',
    'bulkToggleFeaturesEnvironmentOn',
    'bulkToggleFeaturesEnvironmentOff',
    'addFeatureDependency',
    'deleteFeatureDependencies',
    'deleteFeatureDependency',
    'setStrategySortOrder',
    'copyStrategies',
    'overwriteEnvironmentFeatureVariants',
    'patchEnvironmentsFeatureVariants',
  ],
  'project:write': [
    'addUserToProject',
    'changeUserRoleInProject',
    'removeUserFromProject',
    'updateProject',
    'updateProjectEnterpriseSettings',
    'deleteProject',
    'setProjectAccess',
    'addProjectAccess',
    'getProjectApiTokens',
    'createProjectApiToken',
    'deleteProjectApiToken',
    'setRolesForGroup',
    'removeGroupAccess',
    'addEnvironmentToProject',
    'removeEnvironmentFromProject',
    'addDefaultStrategyToProjectEnvironment',
  ],
  'project:create': ['createProject'],
  admin: [
    'streamWholeEvents',
    'setCors',
    'updateFeatureTypeLifetime',
    'getApiTokensByName',
    'toggleMaintenance',
    'updateUser',
    'createEnvironment',
    'removeEnvironment',
    'updateEnvironment',
    'updateSortOrder',
    'toggleEnvironmentOn',
    'toggleEnvironmentOff',
    'createRole',
    'updateRole',
    'deleteRole',
    'createGroup',
    'updateGroup',
    'deleteGroup',
    'getUsers',
    'createUser',
    'getServiceAccounts',
    'createServiceAccount',
    'updateServiceAccount',
    'deleteServiceAccount',
    'getServiceAccountTokens',
    'createServiceAccountToken',
    'deleteServiceAccountToken',
    'getUser',
    'deleteUser',
    'getUserTokens',
    'createUserToken',
    'deleteUserToken',
    'getAllApiTokens',
    'createApiToken',
    'updateApiToken',
    'deleteApiToken',
  ],
  'access:give': ['getUsersAndGroups'],
  self: ['getProfile', 'getMe'],
  personal: [
    'getPats',
    'createPat',
    'deletePat',
    'addFavoriteFeature',
    'removeFavoriteFeature',
    'addFavoriteProject',
    'removeFavoriteProject',
  ],
};

const EVERYTHING: readonly Right[] = [
  'read',
  'flag:write',
  'targeting:write',
  'project:write',
  'project:create',
  'admin',
  'access:give',
  'self',
];

/** The rights of each kind of caller in the project "here"; 401 for one who is not let in at all. */
const CALLERS = {
  'no token': UNAUTHENTICATED,
  'an unknown token': UNAUTHENTICATED,
  'an expired API token': UNAUTHENTICATED,
  'an expired personal token': UNAUTHENTICATED,
  'a client token': [],
  'a frontend token': [],
  'an admin token': EVERYTHING,
  'a root Admin': [...EVERYTHING, 'personal'],
  'a root Editor': ['read', 'flag:write', 'targeting:write', 'project:create', 'self', 'personal'],
  'a root Viewer': ['read', 'self', 'personal'],
  'a root Owner': [
    'read',
    'flag:write',
    'targeting:write',
    'project:write',
    'access:give',
    'self',
    'personal',
  ],
  'a root Member': ['read', 'flag:write', 'targeting:write', 'self', 'personal'],
  'an Owner of the project': ['read', 'flag:write', 'project:write', 'access:give', 'self', 'personal'],
  'a Member of the project': ['read', 'flag:write', 'self', 'personal'],
  'an Owner of another project': ['read', 'access:give', 'self', 'personal'],
  'a Member of another project': ['read', 'self', 'personal'],
} as const satisfies Readonly<Record<string, typeof UNAUTHENTICATED | readonly Right[]>>;

type CallerKind = keyof typeof CALLERS;

const [ADMIN, EDITOR, VIEWER, OWNER, MEMBER] = [1, 2, 3, 4, 5] as const;

/**
 * The route's path with the project "here", or the flag "here.flag" where the path tells no project; everything
 * else that it names does not exist, nor does the project of what a user marks for themselves, so that what is allowed finds nothing to change. Bodies are left out for the
 * same reason: rights are checked before either.
 */
function harmlessPath({ path, permission }: Route): string {
  return path
    .replace(':projectId', permission === 'personal' ? 'nowhere' : 'here')
    .replace(':featureName', path.includes(':projectId') ? 'missing' : 'here.flag')
    .replaceAll(/:[A-Za-z]+/g, '999');
}

const DECIDED = [
  { OPERATIONS },
  ...(await addonModules<{ OPERATIONS: Partial<typeof OPERATIONS> }>('rights.ts')),
].flatMap((decided) => Object.entries(decided.OPERATIONS));

function permissionOf({ operationId }: Route): Right {
  const found = DECIDED.find(([, operations]) => operations.includes(operationId));
  assert(found !== undefined, `nobody has decided who may do ${operationId}`);
  return found[0] as Right;
}

function outcome(status: number): number | typeof ALLOWED {
  return status === UNAUTHENTICATED || status === FORBIDDEN ? status : ALLOWED;
}

async function addTokens(server: TestServer): Promise<Record<CallerKind, string | null>> {
  const token = async (rootRole: number, project?: string, roleId?: number): Promise<string> => {
    const user = await addUser(server, rootRole);
    if (project !== undefined) {
      const joined = await server.call('POST', `/projects/${project}/users/${user.id}/roles/${roleId}`);
      assert.equal(joined.status, 200);
    }
    return user.token;
  };
  const apiToken = async (body: object): Promise<string> =>
    (await server.call('POST', '/api-tokens', { tokenName: 'test', ...body })).body.secret;
  const expired = { expiresAt: '2020-01-01T00:00:00Z' };
  return {
    'no token': null,
    'an unknown token': '*:*.unknown',
    'an expired API token': await apiToken({ type: 'admin', ...expired }),
    'an expired personal token': (await addUser(server, ADMIN, expired)).token,
    'a client token': await addClientToken(server),
    'a frontend token': await apiToken({ type: 'frontend', environment: 'development' }),
    'an admin token': await apiToken({ type: 'admin' }),
    'a root Admin': await token(ADMIN),
    'a root Editor': await token(EDITOR),
    'a root Viewer': await token(VIEWER),
    'a root Owner': await token(OWNER),
    'a root Member': await token(MEMBER),
    'an Owner of the project': await token(VIEWER, 'here', OWNER),
    'a Member of the project': await token(VIEWER, 'here', MEMBER),
    'an Owner of another project': await token(VIEWER, 'default', OWNER),
    'a Member of another project': await token(VIEWER, 'default', MEMBER),
  };
}

describeInterface('rights', (server) => {
  before(async () => {
    await addProject(server(), 'here');
    const created = await server().call('POST', '/projects/here/features', { name: 'here.flag' });
    assert.equal(created.status, 201);
  });

  it('are decided for every route and every kind of caller, and kept', async (context) => {
    const tokens = await addTokens(server());
    const { engine } = server().server.store;
    const lastId = engine.lastId;
    let pairCount = 0;
    for (const route of ADMIN_ROUTES) {
      const permission = permissionOf(route);
      for (const kind of Object.keys(CALLERS) as CallerKind[]) {
        const rights: (typeof CALLERS)[CallerKind] = CALLERS[kind];
        const may = rights !== UNAUTHENTICATED && (rights as readonly Right[]).includes(permission);
        const expected = may ? ALLOWED : rights === UNAUTHENTICATED ? UNAUTHENTICATED : FORBIDDEN;
        const response = await server().call(route.method, harmlessPath(route), undefined, {
          token: tokens[kind],
        });
        const what = `${kind}: ${route.operationId} answers ${response.status}`;
        assert.equal(outcome(response.status), expected, what);
        pairCount += 1;
      }
    }
    assert.equal(pairCount, ADMIN_ROUTES.length * Object.keys(CALLERS).length);
    assert.equal(engine.lastId, lastId, 'nothing was changed on the way');
    context.diagnostic(`${pairCount} pairs of route and caller checked, none undecided`);
  });

  it('have no decision about an operation that does not exist', () => {
    const known = new Set(ADMIN_ROUTES.map((route) => route.operationId));
    const decided = DECIDED.flatMap(([, operations]) => operations);
    assert.deepEqual(
      decided.filter((operation) => !known.has(operation)),
      [],
    );
    assert.equal(new Set(decided).size, decided.length, 'no operation is decided twice');
  });

  it('end with the membership, the token and the role from which they come, at once', async () => {
    const path = '/projects/here/features/here.flag';
    const patch = [{ op: 'test', path: '/name', value: 'here.flag' }];
    const user = await addUser(server(), VIEWER);
    const status = async () => (await server().call('PATCH', path, patch, { token: user.token })).status;
    assert.equal(await status(), FORBIDDEN);
    await server().call('POST', `/projects/here/users/${user.id}/roles/${MEMBER}`);
    assert.equal(await status(), 200);
    await server().call('DELETE', `/projects/here/users/${user.id}/roles/${MEMBER}`);
    assert.equal(await status(), FORBIDDEN);
    await server().call('PUT', `/user-admin/${user.id}`, { rootRole: 'Editor' });
    assert.equal(await status(), 200);
    const { pats } = (await server().call('GET', `/user-admin/${user.id}/tokens`)).body;
    await server().call('DELETE', `/user-admin/${user.id}/tokens/${pats[0].id}`);
    assert.equal(await status(), UNAUTHENTICATED);
  });

  it('follow a flag named without its project to the project that has it', async () => {
    await makeFlag(server().call, 'elsewhere');
    const owner = await addUser(server(), VIEWER);
    await server().call('POST', `/projects/here/users/${owner.id}/roles/${OWNER}`);
    const tag = { type: 'simple', value: 'mine' };
    const { token } = owner;
    assert.equal((await server().call('POST', '/features/here.flag/tags', tag, { token })).status, 201);
    assert.equal((await server().call('POST', '/features/elsewhere/tags', tag, { token })).status, FORBIDDEN);
    assert.equal((await server().call('POST', '/features/nowhere/tags', tag, { token })).status, FORBIDDEN);
    assert.equal((await server().call('POST', '/features/nowhere/tags', tag)).status, 404);
  });
});

describe('without authentication', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ env: { AUTH_TYPE: 'none' } });
    await addProject(server, 'here');
    await server.call('POST', '/projects/here/features', { name: 'here.flag' }, { token: null });
  });
  after(() => server.stop());

  it('everybody may do everything but what only users have', async (context) => {
    for (const route of ADMIN_ROUTES) {
      const response = await server.call(route.method, harmlessPath(route), undefined, { token: null });
      const expected = permissionOf(route) === 'personal' ? FORBIDDEN : ALLOWED;
      assert.equal(outcome(response.status), expected, `${route.operationId} answers ${response.status}`);
    }
    context.diagnostic(`${ADMIN_ROUTES.length} routes checked without authentication`);
  });

  it('a page of another site can make nobody write, while programs, its own pages and reads go on', async () => {
    const host = `127.0.0.1:${server.server.port}`;
    const create = (name: string, headers: Record<string, string>) =>
      server.call('POST', '/projects/here/features', { name }, { token: null, headers });
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://other.example' },
      { origin: 'http://other.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
    ] as Record<string, string>[]) {
      const { status, body } = await create('foreign', headers);
      assert.deepEqual([status, body.name], [FORBIDDEN, 'NoAccessError'], JSON.stringify(headers));
      const read = await server.call('GET', '/projects', undefined, { token: null, headers });
      assert.equal(read.status, 200);
    }
    for (const [at, headers] of [
      {},
      { 'sec-fetch-site': 'same-origin', origin: 'https://behind.a.proxy' },
      { 'sec-fetch-site': 'none' },
      { origin: `http://${host}` },
    ].entries()) {
      assert.equal((await create(`own-${at}`, headers as Record<string, string>)).status, 201);
    }
  });
});

describe('credentials', () => {
  it('are stored as digests only: no secret is in any response, event or file but that of its creation', async (t) => {
    const server = await serverFor(t);
    const user = await server.call('POST', '/user-admin', { username: 'ada', rootRole: 1 });
    const expiresAt = '2999-01-01T00:00:00Z';
    const personal = await server.call('POST', `/user-admin/${user.body.id}/tokens`, {
      description: 'laptop',
      expiresAt,
    });
    const api = await server.call('POST', '/api-tokens', { tokenName: 'ci', type: 'admin' });
    const secrets: readonly string[] = [personal.body.secret, api.body.secret];
    assert.match(personal.body.secret, /^user:[0-9a-f]{64}$/);
    assert.match(api.body.secret, /^\*:\*\.[0-9a-f]{64}$/);
    assert.equal(api.body.digest, digestOf(api.body.secret));
    const shown = await Promise.all([
      server.call('GET', '/api-tokens'),
      server.call('GET', `/user-admin/${user.body.id}/tokens`),
      server.call('GET', '/user/tokens', undefined, { token: personal.body.secret }),
      server.call('POST', '/events/search', {}),
    ]);
    for (const { status, body } of shown) {
      assert.equal(status, 200);
      for (const secret of secrets) assert(!JSON.stringify(body).includes(secret.slice(-64)));
    }
    const events = JSON.stringify(shown[3]?.body);
    for (const secret of secrets) assert(!events.includes(digestOf(secret)), 'digests stay in the journal');
    await server.restart();
    const files = readdirSync(server.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
    assert(
      files.some((bytes) => bytes.includes(digestOf(api.body.secret))),
      'the digest is on disk',
    );
    for (const secret of secrets) assert(files.every((bytes) => !bytes.includes(secret.slice(-64))));
    for (const token of secrets) {
      assert.equal((await server.call('GET', '/projects', undefined, { token })).status, 200);
    }
  });
});
