/**
 * The calls of the Terraform provider of Unleash, in each resource's order, as its Go client makes them. That client
 * decodes strictly: a field that it requires must be there with the published type, and a field that is there must not be
 * null where it dereferences it.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { digestOf } from '../../src/http/serving/access.ts';
import '../support/check-responses.ts';
import { addUser, refused } from '../support/interface.ts';
import {
  describeInterface,
  type ReceivedResponse,
  startTestServer,
  temporaryFolder,
} from '../support/server.ts';
import { conformsToPublished } from './published-schemas.ts';

/** All that the provider has. */
const RESOURCES = [
  ...['api_token', 'context_field', 'environment', 'group', 'oidc', 'project', 'project_access'],
  ...['project_environment', 'role', 'saml', 'service_account', 'service_account_token', 'user'],
] as const;
const DATA_SOURCES = [
  ...['context_field', 'environment', 'group', 'permission', 'project', 'project_environment', 'role'],
  ...['service_account', 'user'],
] as const;
type Walked = `resource ${(typeof RESOURCES)[number]}` | `data source ${(typeof DATA_SOURCES)[number]}`;

/** The response must have succeeded, be what the schema describes, if one is published, and have each field, not null. */
function decoded(
  response: ReceivedResponse,
  status: number,
  fields: readonly string[] = [],
  schema: string | null = null,
): ReceivedResponse['body'] {
  assert.equal(response.status, status, response.body?.message);
  if (schema !== null) conformsToPublished(schema, response.body, 'a response to the provider');
  for (const field of fields) assert(response.body?.[field] != null, `the field ${field} is required`);
  return response.body;
}

/** All of the first, and of others only the second: the client refuses what it does not know. */
function assertFields(value: object, required: readonly string[], optional: readonly string[] = []): void {
  const fields = Object.entries(value).filter(([, one]) => one !== null);
  for (const field of required)
    assert(
      fields.some(([name]) => name === field),
      `the field ${field} is required`,
    );
  for (const name of Object.keys(value))
    assert([...required, ...optional].includes(name), `${name} is unknown`);
}

const USER_TEXTS = ['name', 'username', 'email'] as const;

/** The provider dereferences what is there. */
function assertNoNullTexts(user: ReceivedResponse['body']): void {
  for (const field of USER_TEXTS) assert.notEqual(user[field], null, `${field} is left out, not null`);
}

/** The part of a project that the provider sends. */
interface ProjectResource {
  readonly id: string;
  readonly description?: string;
  readonly settings: {
    readonly mode: string;
    readonly featureNaming?: object;
    readonly linkTemplates?: object[];
  };
}

describeInterface('the Terraform provider of Unleash', (server) => {
  const call = (method: string, path: string, body?: unknown) => server().call(method, path, body);
  const walked: Walked[] = [];
  const walk = (of: readonly Walked[], title: string, calls: () => Promise<void>): void => {
    walked.push(...of);
    it(`${of.join(', ')}: ${title}`, calls);
  };

  walk(
    ['resource project', 'data source project'],
    'creates it, sets its mode, finds it as it was given, and deletes it',
    async () => {
      const created = await call('POST', '/projects', { id: 'tf', name: 'Terraform', environments: [] });
      decoded(created, 201, ['id', 'name']);
      decoded(await call('PUT', '/projects/tf/settings', { mode: 'protected' }), 200);
      const { projects } = decoded(
        await call('GET', '/projects'),
        200,
        ['version', 'projects'],
        'projectsSchema',
      );
      const found = projects.find(({ id }: { id: string }) => id === 'tf');
      assert.equal(found.mode, 'protected');
      assert(!('description' in found), 'a description that was never given is not read back as a text');
      decoded(await call('PUT', '/projects/tf', { name: 'Renamed', description: 'now given' }), 200);
      decoded(await call('DELETE', '/projects/tf'), 200);
    },
  );

  it('reads projects as they were applied, with their settings, also after a restart, so that the second plan is empty', async () => {
    const texts = { pattern: '^tf\\..+', example: null, description: null };
    const template = { title: null, urlTemplate: 'https://issues.example/{{project}}/{{feature}}' };
    const resources: readonly ProjectResource[] = [
      { id: 'tf-plain', settings: { mode: 'open' } },
      {
        ...{ id: 'tf-ruled', description: 'With rules' },
        settings: { mode: 'private', featureNaming: texts, linkTemplates: [template] },
      },
    ];
    for (const { settings, ...project } of resources) {
      const body = { ...project, name: project.id, environments: [] };
      const { description } = decoded(await call('POST', '/projects', body), 201, ['id', 'name']);
      assert.equal(description, project.description, 'one that was not given is left out, not null');
      decoded(await call('PUT', `/projects/${project.id}/settings`, settings), 200);
    }
    const plan = async (): Promise<void> => {
      const { projects } = decoded(await call('GET', '/projects'), 200);
      for (const { id, description, settings } of resources) {
        const read = projects.find((one: { id: string }) => one.id === id);
        assert.deepEqual(
          [read.name, read.description, read.mode],
          [id, description, settings.mode],
          'nothing is to be changed',
        );
        const overview = decoded(await call('GET', `/projects/${id}/overview`), 200);
        const { featureNaming = { ...texts, pattern: null }, linkTemplates = [] } = settings;
        assert.deepEqual([overview.featureNaming, overview.linkTemplates], [featureNaming, linkTemplates]);
      }
    };
    await plan();
    await server().restart();
    await plan();
    for (const { settings, id } of resources)
      decoded(await call('PUT', `/projects/${id}/settings`, settings), 200);
    await plan();
  });

  walk(
    ['resource environment', 'data source environment'],
    'creates, reads, updates and deletes one of a type of its own',
    async () => {
      const fields = ['name', 'type', 'enabled', 'protected', 'sortOrder'];
      decoded(
        await call('POST', '/environments', { name: 'tf-env', type: 'qa' }),
        201,
        fields,
        'environmentSchema',
      );
      decoded(await call('GET', '/environments/tf-env'), 200, fields, 'environmentSchema');
      decoded(
        await call('PUT', '/environments/update/tf-env', { type: 'test' }),
        200,
        fields,
        'environmentSchema',
      );
      decoded(await call('DELETE', '/environments/tf-env'), 200);
    },
  );

  walk(
    ['resource project_environment', 'data source project_environment'],
    'links one, finds it among those of the project, and unlinks it',
    async () => {
      decoded(await call('POST', '/environments', { name: 'linked', type: 'qa' }), 201);
      decoded(await call('POST', '/projects/default/environments', { environment: 'linked' }), 200);
      assert.equal(
        (await call('POST', '/projects/default/environments', { environment: 'linked' })).status,
        409,
        'the provider takes this for a success',
      );
      const { environments } = decoded(
        await call('GET', '/environments/project/default'),
        200,
        ['environments'],
        'environmentsProjectSchema',
      );
      assert(environments.some(({ name }: { name: string }) => name === 'linked'));
      decoded(await call('DELETE', '/projects/default/environments/linked'), 200);
    },
  );

  walk(['resource user', 'data source user'], 'absent texts are left out at every step', async () => {
    const created = await call('POST', '/user-admin', {
      email: 'tf@example.com',
      rootRole: 3,
      sendEmail: false,
    });
    const { id } = decoded(created, 201, ['id', 'email', 'rootRole'], 'createUserResponseSchema');
    assertNoNullTexts(created.body);
    assertNoNullTexts(
      decoded(await call('GET', `/user-admin/${id}`), 200, ['id', 'email', 'rootRole'], 'userSchema'),
    );
    const found = decoded(
      await call('GET', '/user-admin/search?q=tf@example.com'),
      200,
      [],
      'usersSearchSchema',
    );
    assert.equal(found[0]?.id, id);
    assertNoNullTexts(found[0]);
    decoded(
      await call('PUT', `/user-admin/${id}`, { name: 'Terraform', rootRole: 2 }),
      200,
      ['id', 'rootRole'],
      'createUserResponseSchema',
    );
    decoded(await call('DELETE', `/user-admin/${id}`), 200);
  });

  walk(
    ['resource api_token'],
    'finds the new token by what stands for its secret, changes and deletes it',
    async () => {
      const body = { tokenName: 'tf', type: 'backend', projects: ['default'] };
      const required = ['secret', 'tokenName', 'type', 'environment', 'project', 'projects', 'createdAt'];
      const { digest, secret } = decoded(
        await call('POST', '/api-tokens', body),
        201,
        required,
        'apiTokenSchema',
      );
      const { tokens } = decoded(await call('GET', '/api-tokens'), 200, ['tokens'], 'apiTokensSchema');
      for (const token of tokens) {
        for (const field of required) assert(token[field] != null, `${field} of a listed token is required`);
      }
      assert(tokens.some((token: { secret: string }) => token.secret === digest));
      const presented = decoded(await call('GET', `/api-tokens/${secret}`), 200, ['tokens']).tokens;
      assert.deepEqual(
        presented.map((token: { secret: string; digest: string }) => [token.secret, token.digest]),
        [[secret, digest]],
      );
      decoded(await call('PUT', `/api-tokens/${secret}`, { expiresAt: '2999-01-01T00:00:00Z' }), 200);
      decoded(await call('DELETE', `/api-tokens/${secret}`), 200);
      decoded(await call('DELETE', `/api-tokens/${secret}`), 200);
    },
  );

  it('finds its token by the secret in the list after an apply and a restart, so that the second plan is empty', async () => {
    const folder = temporaryFolder();
    const key = 'k'.repeat(32);
    const start = (env: Record<string, string>) => startTestServer({ folder, env });
    const apply = { tokenName: 'tf', type: 'client', environment: 'development', projects: ['default'] };
    const fields = ['tokenName', 'type', 'environment', 'project', 'projects', 'expiresAt'];
    let site = await start({ API_TOKEN_KEY: key });
    const created = decoded(await site.call('POST', '/api-tokens', apply), 201);
    const plan = async () => {
      const { body } = await site.call('GET', '/api-tokens');
      return body.tokens.find(({ secret }: { secret: string }) => secret === created.secret);
    };
    const type = 'root-custom';
    const readers = { name: 'readers', type, permissions: [{ name: 'READ_CLIENT_API_TOKEN' }] };
    const { id: rootRole } = decoded(await site.call('POST', '/roles', readers), 200).roles;
    const { token } = await addUser(site, rootRole);
    const byReader = await site.call('GET', '/api-tokens/tf', undefined, { token });
    assert.deepEqual(
      byReader.body.tokens.map(({ secret }: { secret: string }) => secret),
      [created.digest],
      'who may not make tokens reads no secret',
    );
    for (const round of ['at once', 'after a restart']) {
      const found = await plan();
      for (const field of fields) assert.deepEqual(found?.[field], created[field], `${field} ${round}`);
      await site.stop();
      site = await start({ API_TOKEN_KEY: key });
    }
    await site.stop();
    site = await start({ API_TOKEN_KEY: 'another'.repeat(8) });
    assert.equal(await plan(), undefined, 'another key makes no secret of it');
    const use = await fetch(`${site.origin}/api/client/features`, {
      headers: { authorization: created.secret },
    });
    assert.equal(use.status, 200, 'the token stays valid');
    await site.stop();
  });

  walk(['resource project_access'], 'replaces the members and reads them back', async () => {
    decoded(await call('POST', '/projects', { id: 'tf-access', name: 'Access' }), 201);
    const { id } = decoded(await call('POST', '/groups', { name: 'tf-access' }), 201);
    const roles = [
      { id: 4, users: [1], groups: [] },
      { id: 5, users: [], groups: [id] },
    ];
    decoded(await call('PUT', '/projects/tf-access/access', { roles }), 200);
    const access = decoded(await call('GET', '/projects/tf-access/access'), 200, [
      'users',
      'groups',
      'roles',
    ]);
    assert.deepEqual(
      access.users.map((user: { id: number; roles: number[] }) => [user.id, user.roles]),
      [[1, [4]]],
    );
    assert.deepEqual(
      access.groups.map((group: { id: number; roles: number[] }) => [group.id, group.roles]),
      [[id, [5]]],
    );
  });

  walk(['resource role'], 'fields that the client does not know are an error to it', async () => {
    const permissions = [
      { name: 'CREATE_FEATURE' },
      { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' },
    ];
    const body = { name: 'tf-role', type: 'custom', description: 'Of Terraform', permissions };
    const created = decoded(await call('POST', '/roles', body), 200, ['version', 'roles']).roles;
    assertFields(created, ['id', 'type', 'name', 'description', 'permissions']);
    const read = decoded(await call('GET', `/roles/${created.id}`), 200);
    assertFields(read, ['id', 'type', 'name', 'description', 'permissions']);
    for (const permission of read.permissions) {
      assertFields(permission, ['id', 'name', 'displayName', 'type'], ['environment']);
    }
    assert.deepEqual(
      read.permissions.map(({ name, environment }: { name: string; environment?: string }) =>
        environment === undefined ? { name } : { name, environment },
      ),
      permissions,
      'the plan is read back',
    );
    const changed = decoded(await call('PUT', `/roles/${created.id}`, { ...body, permissions: [] }), 200, [
      'roles',
    ]);
    assert.deepEqual(changed.roles.permissions, []);
    decoded(await call('DELETE', `/roles/${created.id}`), 200);
  });

  walk(
    ['data source permission'],
    'each with its kind, those of environments under their names',
    async () => {
      const { permissions } = decoded(await call('GET', '/permissions'), 200, ['version', 'permissions']);
      const inEnvironments = permissions.environments.flatMap(
        (one: { permissions: object[] }) => one.permissions,
      );
      for (const permission of [...permissions.root, ...permissions.project, ...inEnvironments]) {
        assertFields(permission, ['id', 'name', 'displayName', 'type'], ['environment']);
      }
      assert(permissions.environments.every((one: { name: string }) => typeof one.name === 'string'));
    },
  );

  walk(
    ['resource group', 'data source group'],
    'creates it, reads its users, empties and deletes it',
    async () => {
      const body = {
        name: 'tf-group',
        description: null,
        rootRole: null,
        mappingsSSO: [],
        users: [{ user: { id: 1 } }],
      };
      const { id } = decoded(await call('POST', '/groups', body), 201, ['id', 'name'], 'groupSchema');
      const read = decoded(
        await call('GET', `/groups/${id}`),
        200,
        ['id', 'name', 'users', 'mappingsSSO'],
        'groupSchema',
      );
      assert.deepEqual(
        read.users.map(({ user }: { user: { id: number } }) => user.id),
        [1],
      );
      assertNoNullTexts(read.users[0].user);
      const changed = { ...body, description: 'now', rootRole: 2, mappingsSSO: ['a'], users: [] };
      decoded(await call('PUT', `/groups/${id}`, changed), 200, ['id']);
      const after = decoded(await call('GET', `/groups/${id}`), 200, ['rootRole', 'description']);
      assert.deepEqual([after.rootRole, after.mappingsSSO, after.users], [2, ['a'], []]);
      const { groups } = decoded(await call('GET', '/groups'), 200, ['groups'], 'groupsSchema');
      assert(groups.some((group: { name: string }) => group.name === 'tf-group'));
      decoded(await call('DELETE', `/groups/${id}`), 200);
    },
  );

  walk(
    ['resource service_account', 'data source service_account'],
    'creates it, finds it in the list, changes and deletes it',
    async () => {
      const known = ['id', 'isAPI', 'name', 'email', 'username', 'imageUrl', 'inviteLink', 'loginAttempts'];
      const optional = [...known, 'emailSent', 'seenAt', 'createdAt', 'tokens'];
      const required = ['id', 'name', 'username', 'rootRole'];
      const body = { name: 'Terraform', username: 'tf-robot', rootRole: 3 };
      const created = decoded(await call('POST', '/service-account', body), 201);
      assertFields(created, required, optional);
      const list = decoded(await call('GET', '/service-account'), 200, ['serviceAccounts']);
      assertFields(list, ['serviceAccounts'], ['rootRoles']);
      for (const role of list.rootRoles)
        assertFields(role, ['id', 'type', 'name'], ['description', 'project']);
      const found = list.serviceAccounts.find(({ id }: { id: number }) => id === created.id);
      assertFields(found, required, optional);
      assert.deepEqual([found.name, found.username, found.rootRole], ['Terraform', 'tf-robot', 3]);
      const path = `/service-account/${created.id}`;
      const changed = decoded(await call('PUT', path, { name: 'Renamed', rootRole: 2 }), 200);
      assert.deepEqual([changed.name, changed.username, changed.rootRole], ['Renamed', 'tf-robot', 2]);
      decoded(await call('DELETE', path), 200);
    },
  );

  walk(
    ['resource service_account_token'],
    'creates one with its secret, finds it in the list, and deletes it',
    async () => {
      const { id } = decoded(await call('POST', '/service-account', { name: 'x', rootRole: 3 }), 201);
      const tokens = `/service-account/${id}/token`;
      const body = { description: 'tf', expiresAt: '2999-01-01T00:00:00Z' };
      const fields = ['id', 'createdAt', 'description', 'expiresAt'];
      const created = decoded(await call('POST', tokens, body), 201, [...fields, 'secret']);
      const { pats } = decoded(await call('GET', tokens), 200, ['pats']);
      const found = pats.find((pat: { id: number }) => pat.id === created.id);
      for (const field of fields) assert.ok(found[field] != null, `${field} of a listed token is required`);
      assert.equal(Date.parse(found.expiresAt), Date.parse(body.expiresAt));
      decoded(await call('DELETE', `${tokens}/${created.id}`), 200);
    },
  );

  walk(
    ['resource context_field', 'data source context_field'],
    'creates, reads, updates and deletes',
    async () => {
      const body = {
        name: 'tf-field',
        description: 'Of Terraform',
        stickiness: true,
        legalValues: [{ value: 'a' }],
      };
      decoded(await call('POST', '/context', body), 201, ['name'], 'contextFieldSchema');
      decoded(
        await call('GET', '/context/tf-field'),
        200,
        ['name', 'description', 'stickiness', 'legalValues'],
        'contextFieldSchema',
      );
      decoded(await call('PUT', '/context/tf-field', { stickiness: false, legalValues: [] }), 200);
      decoded(await call('DELETE', '/context/tf-field'), 200);
    },
  );

  walk(['data source role'], 'lists those that there are', async () => {
    const { roles } = decoded(await call('GET', '/roles'), 200, ['version', 'roles'], 'rolesSchema');
    for (const role of roles) for (const field of ['id', 'name', 'type']) assert(role[field] != null);
  });

  walk(
    ['resource oidc'],
    'is read, applied where it says what is so, and taken away once nobody signs in so',
    async () => {
      const path = '/auth/oidc/settings';
      const secret = 'a-secret-of-the-provider';
      const site = await startTestServer({
        env: {
          // Nobody listens there, and nobody signs in.
          ...{ OIDC_ISSUER: 'http://127.0.0.1:9/realm', OIDC_BASE_URL: 'https://flags.example' },
          ...{ OIDC_CLIENT_ID: 'flagstaff', OIDC_CLIENT_SECRET: secret, OIDC_DEFAULT_ROLE: 'Editor' },
        },
      });
      try {
        const plan = {
          enabled: true,
          discoverUrl: 'http://127.0.0.1:9/realm/.well-known/openid-configuration',
          clientId: 'flagstaff',
          secret: digestOf(secret),
          autoCreate: true,
          defaultRootRoleId: 2,
        };
        const read = async () => decoded(await site.call('GET', path), 200);
        await read();
        decoded(await site.call('POST', path, plan), 200);
        const after = await read();
        for (const [field, value] of Object.entries(plan)) assert.equal(after[field], value, field);
        decoded(
          await site.call('POST', path, { ...plan, secret, autoCreate: false, defaultRootRoleId: 0 }),
          200,
        );
        for (const [field, value, variable] of [
          ['clientId', 'other', 'OIDC_CLIENT_ID'],
          ['secret', 'other', 'OIDC_CLIENT_SECRET'],
          ['defaultRootRoleId', 1, 'OIDC_DEFAULT_ROLE'],
          ['enabled', false, 'OIDC_ISSUER'],
        ] as const) {
          const { message } = (
            await refused(site, 409, 'InvalidOperationError', {
              ...{ method: 'POST', path, body: { ...plan, [field]: value } },
            })
          ).body;
          assert.match(message, new RegExp(variable));
        }
        const limited = { ...plan, emailDomains: 'flags.example' };
        await refused(site, 409, 'InvalidOperationError', { method: 'POST', path, body: limited });
      } finally {
        await site.stop();
      }
      assert.deepEqual(decoded(await call('GET', path), 200), { enabled: false });
      decoded(await call('POST', path, { enabled: false, clientId: ' ', secret: ' ' }), 200);
      const body = { enabled: true, clientId: 'flagstaff', secret };
      await refused(server(), 409, 'InvalidOperationError', { method: 'POST', path, body });
    },
  );

  walk(
    ['resource saml'],
    'is read and applied where it is off; on, it is refused with what there is instead',
    async () => {
      const path = '/auth/saml/settings';
      const plan = { enabled: false, entityId: 'e', signOnUrl: 'https://idp.example', certificate: 'c' };
      decoded(await call('GET', path), 200);
      decoded(await call('POST', path, { ...plan, autoCreate: false, defaultRootRoleId: 0 }), 200);
      assert.deepEqual(decoded(await call('GET', path), 200), { enabled: false });
      const body = { ...plan, enabled: true };
      const { message } = (
        await refused(server(), 409, 'InvalidOperationError', { method: 'POST', path, body })
      ).body;
      assert.match(message, /OIDC_ISSUER/);
    },
  );

  it(`walks all of its ${RESOURCES.length} resources and ${DATA_SOURCES.length} data sources`, () => {
    const all = [
      ...DATA_SOURCES.map((name) => `data source ${name}`),
      ...RESOURCES.map((name) => `resource ${name}`),
    ];
    assert.equal(RESOURCES.length, 13);
    assert.deepEqual(walked.toSorted(), all);
  });
});
