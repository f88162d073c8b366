/**
 * The rights that custom roles give (docs/specification/rights.md#permissions): every route of the table × roles that hold exactly what
 * it needs, everything else, and the same somewhere else. What each route needs stands here, written by hand.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PERMISSIONS, type PermissionName } from '../../../src/domain/access/permissions.ts';
import type { RolePermission } from '../../../src/domain/access/roles.ts';
import type { Route } from '../../../src/http/serving/route.ts';
import { addonModules } from '../../support/addon-modules.ts';
import { ADMIN_ROUTES } from '../../support/surfaces.ts';
import '../../support/check-responses.ts';
import { addProject, addUser } from '../../support/interface.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

type Needed = Readonly<Partial<Record<PermissionName, readonly string[]>>>;

/** Needs of routes that add-ons bring. */
const OF_ADDONS: Needed = Object.assign(
  {},
  ...(await addonModules<{ NEEDED?: Needed }>('rights.ts')).map((one) => one.NEEDED),
);

/** Permissions that only add-ons ask for: by their routes, or by what they decide. */
const ONLY_OF_ADDONS = [
  ...['UPDATE_APPLICATION', 'CREATE_ADDON', 'UPDATE_ADDON', 'DELETE_ADDON'],
  ...[
    'APPROVE_CHANGE_REQUEST',
    'APPLY_CHANGE_REQUEST',
    'SKIP_CHANGE_REQUEST',
    'PROJECT_CHANGE_REQUEST_WRITE',
  ],
];

/** All that a custom role needs for an operation. Those that are not here are for predefined roles alone. */
const NEEDED: Needed = {
  ...OF_ADDONS,
  CREATE_PROJECT: ['createProject'],
  CREATE_CONTEXT_FIELD: ['createContextField'],
  UPDATE_CONTEXT_FIELD: ['updateContextField'],
  DELETE_CONTEXT_FIELD: ['deleteContextField'],
  CREATE_SEGMENT: ['createSegment'],
  UPDATE_SEGMENT: ['updateSegment'],
  DELETE_SEGMENT: ['removeSegment'],
  CREATE_STRATEGY: ['createStrategy'],
  UPDATE_STRATEGY: ['updateStrategy', 'deprecateStrategy', 'reactivateStrategy'],
  DELETE_STRATEGY: ['removeStrategy'],
  CREATE_TAG_TYPE: ['createTagType'],
  UPDATE_TAG_TYPE: ['updateTagType'],
  DELETE_TAG_TYPE: ['deleteTagType'],
  UPDATE_CORS: ['setCors'],
  CREATE_FEATURE: ['createFeature', 'cloneFeature'],
  UPDATE_FEATURE: [
    'updateFeature',
    'patchFeature',
    'rollbackFeature',
    'rollbackProject',
    'commentOnFeature',
    'complete',
    'uncomplete',
    'reviveFeature',
    'reviveFeatures',
    'staleFeatures',
    'addTag',
    'removeTag',
    'addTagToFeatures',
    'createFeatureLink',
    'updateFeatureLink',
    'deleteFeatureLink',
  ],
  READ_PROJECT_API_TOKEN: ['getProjectApiTokens'],
  CREATE_PROJECT_API_TOKEN: ['createProjectApiToken'],
  DELETE_PROJECT_API_TOKEN: ['deleteProjectApiToken'],
  MOVE_FEATURE_TOGGLE: ['changeProject'],
  PROJECT_DEFAULT_STRATEGY_WRITE: ['addDefaultStrategyToProjectEnvironment'],
  UPDATE_MAINTENANCE_MODE: ['toggleMaintenance'],
  DELETE_FEATURE: ['archiveFeature', 'archiveFeatures', 'deleteFeature', 'deleteFeatures'],
  UPDATE_FEATURE_VARIANTS: ['overwriteFeatureVariants', 'patchFeatureVariants'],
  UPDATE_FEATURE_DEPENDENCY: ['addFeatureDependency', 'deleteFeatureDependencies', 'deleteFeatureDependency'],
  UPDATE_PROJECT: ['updateProject', 'addEnvironmentToProject', 'removeEnvironmentFromProject'],
  DELETE_PROJECT: ['deleteProject'],
  PROJECT_USER_ACCESS_WRITE: [
    'addUserToProject',
    'changeUserRoleInProject',
    'removeUserFromProject',
    'setProjectAccess',
    'addProjectAccess',
    'getUsersAndGroups',
    'setRolesForGroup',
    'removeGroupAccess',
  ],
  PROJECT_SETTINGS_WRITE: ['updateProjectEnterpriseSettings'],
  CREATE_FEATURE_STRATEGY: ['addFeatureStrategy', 'copyStrategies', 'rollbackFeature', 'rollbackProject'],
  UPDATE_FEATURE_STRATEGY: [
    'updateFeatureStrategy',
    'patchFeatureStrategy',
    'setStrategySortOrder',
    'copyStrategies',
    'rollbackFeature',
    'rollbackProject',
  ],
  DELETE_FEATURE_STRATEGY: ['deleteFeatureStrategy', 'copyStrategies', 'rollbackFeature', 'rollbackProject'],
  UPDATE_FEATURE_ENVIRONMENT: [
    'toggleFeatureEnvironmentOn',
    'toggleFeatureEnvironmentOff',
    'bulkToggleFeaturesEnvironmentOn',
    'bulkToggleFeaturesEnvironmentOff',
    'rollbackFeature',
    'rollbackProject',
  ],
  UPDATE_FEATURE_ENVIRONMENT_VARIANTS: [
    'overwriteEnvironmentFeatureVariants',
    'patchEnvironmentsFeatureVariants',
    'rollbackFeature',
    'rollbackProject',
  ],
};

/** Routes for which one permission is enough, for what it names. */
const ONE_NEEDED: Readonly<Record<string, readonly PermissionName[]>> = {
  getAllApiTokens: ['READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  getApiTokensByName: ['READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  createApiToken: ['CREATE_CLIENT_API_TOKEN', 'CREATE_FRONTEND_API_TOKEN'],
  updateApiToken: ['UPDATE_CLIENT_API_TOKEN', 'UPDATE_FRONTEND_API_TOKEN'],
  deleteApiToken: ['DELETE_CLIENT_API_TOKEN', 'DELETE_FRONTEND_API_TOKEN'],
};

/** Reading needs no permission. */
const FOR_EVERYBODY = ['read', 'self', 'personal'];
const FORBIDDEN = 403;

function neededFor({ operationId }: Route): readonly PermissionName[] {
  return PERMISSIONS.map(({ name }) => name).filter((name) => NEEDED[name]?.includes(operationId));
}

const kindOf = (name: PermissionName) => PERMISSIONS.find((one) => one.name === name)?.kind;

/** A path that names what does not exist, but for the project "here" and the environment that a permission holds in. */
function harmlessPath({ path, permission }: Route, needs: readonly PermissionName[]): string {
  const isOfEnvironment = needs.some((name) => kindOf(name) === 'environment');
  return path
    .replace(':projectId', permission === 'personal' ? 'nowhere' : 'here')
    .replace(':featureName', path.includes(':projectId') ? 'missing' : 'here.flag')
    .replace(':environment', isOfEnvironment ? 'development' : '999')
    .replaceAll(/:[A-Za-z]+/g, '999');
}

describe('custom roles', () => {
  let server: TestServer;
  const tokens = new Map<string, string>();
  before(async () => {
    server = await startTestServer();
    await addProject(server, 'here');
    assert.equal((await server.call('POST', '/projects/here/features', { name: 'here.flag' })).status, 201);
  });
  after(() => server.stop());

  /** The token of a Viewer who holds these permissions by custom roles: one of the service, one in the project. */
  async function holderOf(
    names: readonly PermissionName[],
    project: string,
    environments: readonly string[],
  ) {
    const key = `${names.join()} ${project} ${environments.join()}`;
    const known = tokens.get(key);
    if (known !== undefined) return known;
    const held = names.flatMap((name): RolePermission[] =>
      kindOf(name) === 'environment'
        ? environments.map((environment) => ({ name, environment }))
        : [{ name, environment: null }],
    );
    const isRoot = ({ name }: RolePermission) => kindOf(name) === 'root';
    const role = async (type: string, permissions: readonly RolePermission[]): Promise<number> => {
      const name = `${type} ${tokens.size}`;
      const { status, body } = await server.call('POST', '/roles', { name, type, permissions });
      assert.equal(status, 200, body?.message);
      return body.roles.id;
    };
    const root = held.filter(isRoot);
    const user = await addUser(server, root.length === 0 ? 3 : await role('root-custom', root));
    const others = held.filter((one) => !isRoot(one));
    if (others.length > 0) {
      const path = `/projects/${project}/users/${user.id}/roles/${await role('custom', others)}`;
      assert.equal((await server.call('POST', path)).status, 200);
    }
    tokens.set(key, user.token);
    return user.token;
  }

  it('open each route with exactly what it needs, where they hold it, and with nothing else', async (context) => {
    const all = PERMISSIONS.map(({ name }) => name);
    const both = ['development', 'production'];
    let calls = 0;
    for (const route of ADMIN_ROUTES) {
      const needs = neededFor(route);
      const path = harmlessPath(route, needs);
      const mayEverybody = FOR_EVERYBODY.includes(route.permission);
      const check = async (isAllowed: boolean, what: string, token: string): Promise<void> => {
        const { status } = await server.call(route.method, path, undefined, { token });
        assert.notEqual(status, 401);
        assert.equal(status !== FORBIDDEN, isAllowed, `${route.operationId}, ${what}: ${status}`);
        calls += 1;
      };
      // UPDATE_PROJECT stands for its parts, too.
      const oneOf = ONE_NEEDED[route.operationId] ?? [];
      const others = all.filter((name) => ![...needs, ...oneOf, 'UPDATE_PROJECT'].includes(name));
      await check(mayEverybody, 'everything else', await holderOf(others, 'here', both));
      for (const name of oneOf) await check(true, name, await holderOf([name], 'here', both));
      if (needs.length === 0) continue;
      await check(true, needs.join(), await holderOf(needs, 'here', both));
      // Whoever may give access to any project is shown to whom it can be given.
      const isForAnyProject = route.permission === 'access:give';
      if (needs.every((name) => kindOf(name) === 'root') || isForAnyProject) continue;
      await check(false, `${needs.join()} elsewhere`, await holderOf(needs, 'default', both));
      if (needs.every((name) => kindOf(name) !== 'environment')) continue;
      const another = await holderOf(needs, 'here', ['production']);
      await check(false, `${needs.join()} in another environment`, another);
    }
    context.diagnostic(`${calls} pairs of route and custom role checked`);
  });

  it('are made of permissions of which each opens something, in the words of the table of routes', () => {
    for (const { name, within } of PERMISSIONS) {
      const routes = ADMIN_ROUTES.filter(({ needs = [], needsOneOf = [] }) =>
        [...needs, ...needsOneOf].includes(name),
      );
      const isAway = ONLY_OF_ADDONS.includes(name) && OF_ADDONS[name] === undefined;
      assert(within === 'read' || isAway || routes.length > 0, `${name} opens no route`);
      for (const { permission, operationId } of routes)
        assert.equal(permission, within, `${name}, ${operationId}`);
    }
    const known = new Set(ADMIN_ROUTES.map(({ operationId }) => operationId));
    for (const operation of Object.values(NEEDED).flat()) assert(known.has(operation), operation);
  });

  it('are asked about what a change comes to by each route that gives roles or API tokens, or moves flags', () => {
    const isUnguarded = (route: Route): boolean =>
      route.kind === 'write' &&
      route.guard === undefined &&
      [...(route.needs ?? []), ...(route.needsOneOf ?? [])].some((name) =>
        /^MOVE_|USER_ACCESS_WRITE$|_TOKEN$/.test(name),
      );
    assert.deepEqual(
      ADMIN_ROUTES.filter(isUnguarded).map(({ operationId }) => operationId),
      [],
    );
  });

  it('let those who change members by one of them give no role in a project but those that they hold there', async () => {
    const token = await holderOf(['PROJECT_USER_ACCESS_WRITE'], 'here', []);
    const other = await addUser(server, 3);
    const group = (await server.call('POST', '/groups', { name: 'Others' })).body.id;
    const here = '/projects/here';
    const self = (await server.call('GET', '/user', undefined, { token })).body.user.id;
    type Held = { readonly id: number; readonly roleId: number };
    const users: readonly Held[] = (await server.call('GET', `${here}/access`)).body.users;
    const own = users.find(({ id }) => id === self)?.roleId ?? 0;
    /** All members keep what they have; one more is set. */
    const all = (role: number) => ({
      roles: [
        ...users.map(({ id, roleId }) => ({ id: roleId, users: [id], groups: [] })),
        { id: role, users: [other.id], groups: [group] },
      ],
    });
    const requests = (role: number) =>
      [
        ['POST', `${here}/users/${other.id}/roles/${role}`],
        ['PUT', `${here}/users/${self}/roles/${role}`],
        ['PUT', `${here}/groups/${group}/roles`, { roles: [role] }],
        ['POST', `${here}/access`, { roles: [role], users: [other.id], groups: [group] }],
        ['PUT', `${here}/access`, all(role)],
      ] as const;
    const { engine } = server.server.store;
    const { lastId } = engine;
    for (const role of [4, 5]) {
      for (const [method, path, sent] of requests(role)) {
        const { status, body } = await server.call(method, path, sent, { token });
        assert.equal(status, FORBIDDEN, `${method} ${path}`);
        assert.match(body.message, new RegExp(`give and take no role .* "here" but .* role ${role} is none`));
      }
    }
    assert.equal(engine.lastId, lastId);
    for (const [method, path, sent] of requests(own)) {
      const { status, body } = await server.call(method, path, sent, { token });
      assert.equal(status, 200, `${method} ${path}: ${body?.message}`);
    }
    const removed = await server.call('DELETE', `${here}/users/${other.id}/roles/${own}`, undefined, {
      token,
    });
    assert.equal(removed.status, 200);
  });

  it('let those who change members by one of them take no role away but those that they hold there', async () => {
    const token = await holderOf(['PROJECT_USER_ACCESS_WRITE', 'PROJECT_SETTINGS_WRITE'], 'here', []);
    const owner = await addUser(server, 3);
    const group = (await server.call('POST', '/groups', { name: 'Owners' })).body.id;
    const here = '/projects/here';
    const self = (await server.call('GET', '/user', undefined, { token })).body.user.id;
    const everybody = { roles: [4], users: [owner.id], groups: [group] };
    assert.equal((await server.call('POST', `${here}/access`, everybody)).status, 200);
    const { users } = (await server.call('GET', `${here}/access`)).body;
    const own = users.find(({ id }: { id: number }) => id === self).roleId;
    const requests = [
      ['DELETE', `${here}/users/${owner.id}/roles/4`],
      ['DELETE', `${here}/groups/${group}/roles`],
      ['PUT', `${here}/users/${owner.id}/roles/${own}`],
      ['PUT', `${here}/groups/${group}/roles`, { roles: [own] }],
      ['POST', `${here}/access`, { roles: [own], users: [owner.id], groups: [] }],
      [
        'PUT',
        `${here}/access`,
        {
          roles: [
            { id: own, users: [self] },
            { id: 4, groups: [group] },
          ],
        },
      ],
    ] as const;
    const { engine } = server.server.store;
    const { lastId } = engine;
    for (const [method, path, sent] of requests) {
      const { status, body } = await server.call(method, path, sent, { token });
      assert.equal(status, FORBIDDEN, `${method} ${path}`);
      assert.match(body.message, /take no role .* "here" but .* is none/);
    }
    assert.equal(engine.lastId, lastId);
    const left = await server.call('DELETE', `${here}/users/${self}/roles/${own}`, undefined, { token });
    assert.equal(left.status, 200, left.body?.message);
  });

  it('move a flag only for those who may change, in both projects, what it is in each environment', async () => {
    const NAMES = ['MOVE_FEATURE_TOGGLE', 'DELETE_FEATURE'] as const;
    const inEnvironments = [
      'UPDATE_FEATURE_ENVIRONMENT',
      'CREATE_FEATURE_STRATEGY',
      'DELETE_FEATURE_STRATEGY',
    ] as const;
    const mover = await holderOf(NAMES, 'here', []);
    const operator = await holderOf([...NAMES, ...inEnvironments], 'here', ['production']);
    for (const token of [mover, operator]) {
      const { id } = (await server.call('GET', '/user', undefined, { token })).body.user;
      assert.equal((await server.call('POST', `/projects/default/users/${id}/roles/5`)).status, 200);
    }
    const flag = '/features/moves.to.and.fro';
    assert.equal(
      (await server.call('POST', '/projects/here/features', { name: 'moves.to.and.fro' })).status,
      201,
    );
    const moved = async (from: string, newProjectId: string, token: string) => {
      const path = `/projects/${from}${flag}/changeProject`;
      return server.call('POST', path, { newProjectId }, { token });
    };
    assert.equal((await moved('here', 'default', mover)).status, 200, 'it is nothing anywhere yet');
    const production = `/projects/default${flag}/environments/production`;
    assert.equal((await server.call('POST', `${production}/strategies`, { name: 'default' })).status, 200);
    assert.equal((await server.call('POST', `${production}/on`)).status, 200);
    const back = await moved('default', 'here', mover);
    assert.equal(back.status, FORBIDDEN);
    assert.match(
      back.body.message,
      /UPDATE_FEATURE_ENVIRONMENT in the environment "production" of the project "here"/,
    );
    assert.equal((await moved('default', 'here', operator)).status, 200);
    assert.equal((await moved('here', 'default', mover)).status, FORBIDDEN, 'it would leave production');
    assert.equal((await server.call('GET', `/projects/here${flag}`)).status, 200);
  });

  it('are asked again in the turn of a command, for all that its body asks for', async () => {
    const token = await holderOf(['MOVE_FEATURE_TOGGLE', 'CREATE_FEATURE'], 'here', []);
    const { id } = (await server.call('GET', '/user', undefined, { token })).body.user;
    assert.equal((await server.call('POST', `/projects/default/users/${id}/roles/5`)).status, 200);
    assert.equal((await server.call('POST', '/projects/here/features', { name: 'moves.late' })).status, 201);
    const { engine } = server.server.store;
    const { submit } = engine;
    // Between the checks of the request and its turn, the caller loses the role in the other project.
    engine.submit = (submission) => {
      engine.submit = submit;
      engine.submit({
        command: { type: 'remove-member', project: 'default', userId: id, roleId: 5 },
        actor: submission.actor,
        respond: () => null,
        done: () => engine.submit(submission),
      });
    };
    const path = '/projects/here/features/moves.late/changeProject';
    const late = await server.call('POST', path, { newProjectId: 'default' }, { token });
    assert.equal(late.status, FORBIDDEN);
    assert.equal((await server.call('GET', '/projects/here/features/moves.late')).status, 200);
  });

  it('are held by groups as by users, and end at once with the role, the group and the membership', async () => {
    const made = async (path: string, body: object) => (await server.call('POST', path, body)).body;
    const { id: roleId } = (
      await made('/roles', { name: 'Switcher', permissions: [{ name: 'CREATE_FEATURE' }] })
    ).roles;
    const user = await addUser(server, 3);
    let count = 0;
    const status = async () => {
      count += 1;
      const body = { name: `by-group-${count}` };
      return (await server.call('POST', '/projects/here/features', body, { token: user.token })).status;
    };
    assert.equal(await status(), FORBIDDEN);
    const group = await made('/groups', { name: 'Switchers', users: [{ user: { id: user.id } }] });
    const access = '/projects/here/access';
    assert.equal((await server.call('POST', access, { roles: [roleId], groups: [group.id] })).status, 200);
    assert.equal(await status(), 201);
    const { projects } = (await server.call('GET', '/user/profile', undefined, { token: user.token })).body;
    assert.deepEqual(projects, ['here']);
    await server.call('PUT', `/groups/${group.id}`, { name: 'Switchers', users: [] });
    assert.equal(await status(), FORBIDDEN);
    await server.call('PUT', `/groups/${group.id}`, {
      name: 'Switchers',
      users: [{ user: { id: user.id } }],
    });
    assert.equal(await status(), 201);
    await server.call('PUT', `/roles/${roleId}`, { name: 'Switcher', permissions: [] });
    assert.equal(await status(), FORBIDDEN);
    assert.equal((await server.call('DELETE', `/roles/${roleId}`)).status, 409, 'a role that is held stays');
    await server.call('PUT', `/projects/here/groups/${group.id}/roles`, { roles: [5] });
    assert.equal(await status(), 201);
    assert.equal((await server.call('DELETE', `/roles/${roleId}`)).status, 200);
    await server.call('DELETE', `/groups/${group.id}`);
    assert.equal(await status(), FORBIDDEN);
  });

  it('open API tokens of the types that they name, and none of admins', async () => {
    const make = (type: string, token?: string) => {
      const environment = type === 'admin' ? {} : { environment: 'development' };
      const body = { tokenName: `own-${type}`, type, ...environment };
      return server.call('POST', '/api-tokens', body, token === undefined ? {} : { token });
    };
    const secrets = new Map<string, string>();
    for (const type of ['admin', 'client', 'frontend']) secrets.set(type, (await make(type)).body.secret);
    const token = await holderOf(
      [
        'READ_CLIENT_API_TOKEN',
        'CREATE_CLIENT_API_TOKEN',
        'UPDATE_CLIENT_API_TOKEN',
        'DELETE_CLIENT_API_TOKEN',
      ],
      'here',
      [],
    );
    const { tokens: read } = (await server.call('GET', '/api-tokens', undefined, { token })).body;
    assert.deepEqual(new Set(read.map(({ type }: { type: string }) => type)), new Set(['client']));
    const named = (await server.call('GET', '/api-tokens/own-frontend', undefined, { token })).body;
    assert.deepEqual(named.tokens, []);
    for (const [type, secret] of secrets) {
      const isAllowed = type === 'client';
      const body = { expiresAt: '2999-01-01T00:00:00.000Z' };
      const statuses = [
        (await make(type, token)).status,
        (await server.call('PUT', `/api-tokens/${secret}`, body, { token })).status,
        (await server.call('DELETE', `/api-tokens/${secret}`, undefined, { token })).status,
      ];
      assert.deepEqual(statuses, isAllowed ? [201, 200, 200] : [FORBIDDEN, FORBIDDEN, FORBIDDEN], type);
    }
  });

  it('are told of to their holder, by project and environment', async () => {
    const needs: PermissionName[] = ['CREATE_SEGMENT', 'UPDATE_FEATURE', 'UPDATE_FEATURE_ENVIRONMENT'];
    const token = await holderOf(needs, 'here', ['production']);
    const { permissions } = (await server.call('GET', '/user', undefined, { token })).body;
    assert.deepEqual(permissions, [
      { permission: 'CREATE_SEGMENT' },
      { permission: 'UPDATE_FEATURE', project: 'here' },
      { permission: 'UPDATE_FEATURE_ENVIRONMENT', project: 'here', environment: 'production' },
    ]);
  });
});
