/** Projects as a whole, and all of their members at once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { inProject } from '../../../src/domain/state/events.ts';
import {
  addUser,
  FEATURES,
  invalidAt,
  makeFlag,
  record,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('projects', (server) => {
  const create = (body: object) => server().call('POST', '/projects', body);
  const listed = async (id: string) => {
    const { body } = await server().call('GET', '/projects');
    assert.equal(body.version, 1);
    return body.projects.find((project: { id: string }) => project.id === id);
  };

  it('keep rules for new flags, hold creations, clones, revivals, imports and moves to them, and forget them for null', async () => {
    const { call } = server();
    const at = '/projects/ruled';
    await call('POST', '/projects', { id: 'ruled', name: 'Ruled' });
    await call('POST', `${at}/features`, { name: 'Before' });
    const rules = {
      featureNaming: { pattern: 'team-[a-z]+|ops', example: 'team-a', description: 'By team' },
      featureLimit: 3,
      linkTemplates: [{ title: 'Ticket', urlTemplate: 'https://t.example/{{project}}/{{feature}}' }],
      lifetimes: { release: 90, operational: null },
    };
    assert.equal((await call('PUT', `${at}/settings`, rules)).status, 200);
    await server().restart();
    const shown = async () => {
      const { body } = await call('GET', `${at}/overview`);
      const { featureNaming, featureLimit, linkTemplates, lifetimes } = body;
      return { featureNaming, featureLimit, linkTemplates, lifetimes };
    };
    assert.deepEqual(await shown(), rules);
    await call('PUT', `${at}/settings`, { mode: 'open' });
    assert.deepEqual(await shown(), rules, 'absent fields keep their values');
    for (const name of ['team-A', 'xops', 'team-a2']) {
      await invalidAt(server(), '/body/name', { method: 'POST', path: `${at}/features`, body: { name } });
      const validate = { name, projectId: 'ruled' };
      await invalidAt(server(), '/body/name', { method: 'POST', path: '/features/validate', body: validate });
    }
    const { body: made } = await call('POST', `${at}/features`, { name: 'team-a' });
    assert.deepEqual(
      made.links.map(({ title, url }: { title: string; url: string }) => [title, url]),
      [['Ticket', 'https://t.example/ruled/team-a']],
    );
    const clone = { method: 'POST', path: `${at}/features/Before/clone`, body: { name: 'other' } };
    await invalidAt(server(), '/body/name', clone);
    const own = await call('POST', `${at}/features`, { name: 'ops', links: [] });
    assert.deepEqual([own.status, own.body.links], [201, []]);
    const more = { method: 'POST', path: `${at}/features`, body: { name: 'team-b' } };
    await refused(server(), 409, 'InvalidOperationError', more);
    await call('DELETE', `${at}/features/ops`);
    assert.equal((await call('POST', `${at}/features`, { name: 'team-b' })).status, 201);
    const revive = { method: 'POST', path: `${at}/revive`, body: { features: ['ops'] } };
    await refused(server(), 409, 'InvalidOperationError', revive);
    const moving = {
      method: 'POST',
      path: `${FEATURES}/mover/changeProject`,
      body: { newProjectId: 'ruled' },
    };
    await makeFlag(call, 'mover');
    await refused(server(), 409, 'InvalidOperationError', moving);
    await call('DELETE', `${at}/features/team-b`);
    assert.equal((await call('POST', moving.path, moving.body)).status, 200, 'a name that is there stays');
    const none = { featureNaming: null, featureLimit: null, linkTemplates: null, lifetimes: null };
    assert.equal((await call('PUT', `${at}/settings`, none)).status, 200);
    const nothing = { pattern: null, example: null, description: null };
    assert.deepEqual(await shown(), {
      featureNaming: nothing,
      featureLimit: null,
      linkTemplates: [],
      lifetimes: {},
    });
    assert.equal((await call('POST', `${at}/features`, { name: 'Free' })).status, 201);
  });

  it('have no rule that could not be held to', async () => {
    const path = '/projects/default/settings';
    for (const [pointer, body] of [
      ['/body/featureNaming/pattern', { featureNaming: { pattern: '(' } }],
      ['/body/featureNaming/pattern', { featureNaming: { pattern: '(a+)+(?=b)' } }],
      ['/body/featureNaming/pattern', { featureNaming: { pattern: 'a'.repeat(201) } }],
      ['/body/featureNaming', { featureNaming: { pattern: 'a+', example: 'b' } }],
      ['/body/featureLimit', { featureLimit: -1 }],
      ['/body/lifetimes', { lifetimes: [] }],
      ['/body/lifetimes/Release', { lifetimes: { Release: 7 } }],
      ...[-1, 1.5, '7', 2 ** 31].map(
        (release) => ['/body/lifetimes/release', { lifetimes: { release } }] as const,
      ),
      ['/body/linkTemplates/0/urlTemplate', { linkTemplates: [{ urlTemplate: 'javascript:{{feature}}' }] }],
      [
        '/body/linkTemplates/0/urlTemplate',
        { linkTemplates: [{ urlTemplate: `https://a.example/${'{{feature}}'.repeat(20)}` }] },
      ],
    ] as const) {
      await invalidAt(server(), pointer, { method: 'PUT', path, body });
    }
  });

  it('are created with defaults, in every enabled environment, and without members by an API token', async () => {
    const { response, events } = await recording(server(), () => create({ id: 'Plain_1.~-', name: 'Plain' }));
    assert.equal(response.status, 201);
    const { createdAt, updatedAt, ...settings } = response.body;
    assert.equal(createdAt, updatedAt);
    assert.deepEqual(settings, {
      id: 'Plain_1.~-',
      name: 'Plain',
      mode: 'open',
      defaultStickiness: 'default',
      environments: ['development', 'production'],
    });
    assert.deepEqual(events, [
      {
        type: 'project-created',
        createdBy: 'admin',
        createdByUserId: -42,
        project: 'Plain_1.~-',
        featureName: null,
        environment: null,
        data: { ...response.body, description: null },
        preData: null,
        tags: [],
      },
    ]);
    const { health, featureCount, staleFeatureCount, memberCount } = await listed('Plain_1.~-');
    assert.deepEqual([health, featureCount, staleFeatureCount, memberCount], [100, 0, 0, 0]);
  });

  it('have the user who creates them as their Owner', async () => {
    const editor = await addUser(server(), 2);
    const { events } = await recording(server(), () =>
      server().call('POST', '/projects', { id: 'owned', name: 'Owned' }, { token: editor.token }),
    );
    assert.deepEqual(
      events.map((event) => [event.type, event.createdByUserId, event.data.userId, event.data.roleName]),
      [
        ['project-created', editor.id, undefined, undefined],
        ['project-user-added', editor.id, editor.id, 'Owner'],
      ],
    );
    const { body } = await server().call('GET', '/projects/owned/access');
    assert.deepEqual(
      body.users.map((user: { id: number; roleId: number }) => [user.id, user.roleId]),
      [[editor.id, 4]],
    );
  });

  it('get an id from their name when they are sent without one, and never one that is taken', async () => {
    assert.equal((await create({ name: 'Größe & Co' })).body.id, 'gr-e-co');
    assert.equal((await create({ name: 'größe, co' })).body.id, 'gr-e-co-1');
    assert.equal((await create({ name: 'Größe-Co' })).body.id, 'gr-e-co-2');
    assert.equal((await create({ name: '日本' })).body.id, 'project');
    assert.equal((await create({ name: 'x'.repeat(255) })).body.id, 'x'.repeat(90));
  });

  it('refuse ids that cannot stand in a path, and those that are taken', async () => {
    for (const id of ['', '.', '..', 'a b', 'a/b', 'é', 'x'.repeat(101)]) {
      await invalidAt(server(), '/body/id', { method: 'POST', path: '/projects', body: { id, name: 'x' } });
    }
    assert.equal((await create({ id: 'x'.repeat(100), name: 'x' })).status, 201);
    const { body } = await refused(server(), 409, 'NameExistsError', {
      method: 'POST',
      path: '/projects',
      body: { id: 'default', name: 'x' },
    });
    assert.match(body.message, /"default"/);
    for (const [pointer, fields] of [
      ['/body/name', { name: '' }],
      ['/body/name', { name: 'a\nb' }],
      ['/body/mode', { name: 'x', mode: 'shut' }],
      ['/body/environments/1', { name: 'x', environments: ['production', 'nowhere'] }],
    ] as const) {
      await invalidAt(server(), pointer, { method: 'POST', path: '/projects', body: fields });
    }
  });

  it('get every enabled environment when they are sent an empty list of them', async () => {
    const { status, body } = await create({ name: 'Unlisted', environments: [] });
    assert.deepEqual([status, body.environments], [201, ['development', 'production']]);
  });

  it('show a description only when one was given, which null takes away again', async () => {
    await create({ id: 'described', name: 'Described' });
    const put = (fields: object) => server().call('PUT', '/projects/described', fields);
    assert(!('description' in (await listed('described'))));
    assert.equal((await server().call('GET', '/projects/described')).body.description, '');
    assert.equal((await put({ description: '' })).body.description, '', 'an empty one was given');
    assert(!('description' in (await put({ description: null })).body));
  });

  it('have settings of at most 64 KiB; larger ones, which older releases took, may become smaller', async () => {
    const { call } = server();
    const description = '\u0001'.repeat(11_000);
    const body = { id: 'long', name: 'long', description };
    const refusal = await call('POST', '/projects', body);
    assert.equal(refusal.status, 413);
    assert.match(refusal.body.message, /^The settings of the project "long" would take about 65 KiB; it may/);
    const data = {
      ...{ ...body, mode: 'open' as const, defaultStickiness: 'default', environments: ['development'] },
      ...{ createdAt: '2024-01-01T00:00:00.000Z', updatedAt: '2024-01-01T00:00:00.000Z' },
    };
    await record(server(), { type: 'project-created', ...inProject('long'), data, preData: null });
    const change = async (fields: object) => (await call('PUT', '/projects/long', fields)).status;
    assert.equal(await change({ description: `${description}!` }), 413);
    assert.equal(await change({ mode: 'protected' }), 413, 'seven more characters');
    assert.equal(await change({ description: description.slice(1), mode: 'protected' }), 200);
    assert.equal(await change({ description: 'short' }), 200);
  });

  it('are updated field by field, and record nothing when nothing changes', async () => {
    await create({ id: 'changing', name: 'Before', mode: 'private' });
    const put = (body: object) => server().call('PUT', '/projects/changing', body);
    const { response, events } = await recording(server(), () => put({ name: 'After', description: 'new' }));
    assert.equal(response.status, 200);
    assert.deepEqual([response.body.name, response.body.mode], ['After', 'private']);
    assert.deepEqual(
      events.map(({ type, preData, data }) => [type, preData.name, data.name]),
      [['project-updated', 'Before', 'After']],
    );
    assert.deepEqual((await recording(server(), () => put({ name: 'After' }))).events, []);
    assert.equal((await server().call('GET', '/projects/changing')).body.description, 'new');
  });

  it('cannot be deleted while they have flags in use, and take their archived ones with them', async () => {
    await create({ id: 'ending', name: 'Ending' });
    const { call } = server();
    await call('POST', '/projects/ending/features', { name: 'ending.flag' });
    const deletion = { method: 'DELETE', path: '/projects/ending' } as const;
    const { body } = await refused(server(), 409, 'InvalidOperationError', deletion);
    assert.match(body.message, /flags that are not archived: 1\./);
    await call('DELETE', '/projects/ending/features/ending.flag');
    const { response, events } = await recording(server(), () => call('DELETE', '/projects/ending'));
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map((event) => [event.type, event.preData.name]),
      [
        ['feature-deleted', 'ending.flag'],
        ['project-deleted', 'Ending'],
      ],
    );
    await refused(server(), 404, 'NotFoundError', deletion);
    const reused = await call('POST', '/projects/default/features', { name: 'ending.flag' });
    assert.equal(reused.status, 201, 'the name of the deleted flag is free');
    assert.equal((await create({ id: 'ending', name: 'Again' })).status, 201);
  });

  it('always include the project default', async () => {
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: '/projects/default' });
  });

  it('count flags, stale flags and members in the list, and leave archived flags out', async () => {
    const { call } = server();
    await create({ id: 'counted', name: 'Counted' });
    for (const name of ['c1', 'c2', 'c3']) await call('POST', '/projects/counted/features', { name });
    await call('PUT', '/projects/counted/features/c1', { stale: true });
    const figures = async () => {
      const { featureCount, staleFeatureCount, memberCount, health } = await listed('counted');
      return { featureCount, staleFeatureCount, memberCount, health };
    };
    assert.deepEqual(await figures(), { featureCount: 3, staleFeatureCount: 1, memberCount: 0, health: 67 });
    await call('DELETE', '/projects/counted/features/c2');
    await call('POST', '/projects/counted/users/1/roles/4');
    assert.deepEqual(await figures(), { featureCount: 2, staleFeatureCount: 1, memberCount: 1, health: 50 });
  });
});

describeInterface("a project's members", (server) => {
  type Held = { readonly id: number; readonly roleId: number };
  const byRole = (users: readonly Held[]) => ({
    roles: [...new Set(users.map(({ roleId }) => roleId))].map((id) => ({
      id,
      users: users.filter(({ roleId }) => roleId === id).map((user) => user.id),
      groups: [],
    })),
  });
  const set = (users: readonly Held[]) => server().call('PUT', '/projects/default/access', byRole(users));
  const members = async () =>
    (await server().call('GET', '/projects/default/access')).body.users.map(
      (user: { id: number; roleId: number }) => [user.id, user.roleId],
    );

  it('are replaced as a whole, with one event for each that comes, changes or goes', async () => {
    const [stays, goes, comes] = [
      await addUser(server(), 3),
      await addUser(server(), 3),
      await addUser(server(), 3),
    ];
    const member = (user: { id: number }, roleId: number) => ({ id: user.id, roleId });
    assert.equal((await set([member({ id: 1 }, 4), member(stays, 5), member(goes, 4)])).status, 200);
    const { response, events } = await recording(server(), () =>
      set([member(comes, 5), member(stays, 4), member({ id: 1 }, 4)]),
    );
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type, data, preData }) => [type, data?.userId ?? null, preData?.userId ?? null]),
      [
        ['project-user-added', comes.id, null],
        ['project-user-role-changed', stays.id, stays.id],
        ['project-user-removed', null, goes.id],
      ],
    );
    assert.deepEqual(
      (await members()).sort(([a]: number[], [b]: number[]) => (a ?? 0) - (b ?? 0)),
      [
        [1, 4],
        [stays.id, 4],
        [comes.id, 5],
      ],
    );
    const { body } = await server().call('GET', '/projects/default/access');
    const again = await recording(server(), () =>
      set(body.users.map(({ id, roleId }: { id: number; roleId: number }) => ({ id, roleId }))),
    );
    assert.deepEqual(again.events, [], 'what was read can be sent back, and changes nothing');
  });

  it('include at least one Owner', async () => {
    for (const users of [[], [{ id: 1, roleId: 5 }]]) {
      const before = server().server.store.engine.lastId;
      const { status, body } = await set(users);
      assert.equal(status, 400);
      assert.deepEqual(body, [{ msg: 'A project must have at least one owner' }]);
      assert.equal(server().server.store.engine.lastId, before);
    }
  });

  it('are users who exist, each once, with a role that can be held in a project', async () => {
    const path = '/projects/default/access';
    const owner = { id: 1, roleId: 4 };
    for (const [users, pointer] of [
      [[owner, { id: 999, roleId: 5 }], '/body/roles/1/users/0'],
      [[{ id: 1, roleId: 2 }], '/body/roles/0/users/0'],
      [[{ id: 1, roleId: 9 }], '/body/roles/0/users/0'],
    ] as const) {
      const { body } = await refused(server(), 404, 'NotFoundError', {
        method: 'PUT',
        path,
        body: byRole(users),
      });
      assert.equal(body.details[0].path, pointer);
    }
    const { body: unknownGroup } = await refused(server(), 404, 'NotFoundError', {
      method: 'PUT',
      path,
      body: { roles: [{ id: 4, users: [1], groups: [999] }] },
    });
    assert.equal(unknownGroup.details[0].path, '/body/roles/0/groups/0');
    for (const [roles, pointer] of [
      [[{ id: 4, users: [1, 1] }], '/body/roles'],
      [
        [
          { id: 4, users: [1] },
          { id: 5, users: [1] },
        ],
        '/body/roles',
      ],
      [[{ id: 'Owner', users: [1] }], '/body/roles/0/id'],
      [[{ id: 4, users: ['admin'] }], '/body/roles/0/users/0'],
      [[{ id: 4, users: [1], groups: [1, 1] }], '/body/roles'],
      [[{ id: 4, users: [1], groups: ['x'] }], '/body/roles/0/groups/0'],
      [undefined, '/body/roles'],
    ] as const) {
      await invalidAt(server(), pointer, { method: 'PUT', path, body: { roles } });
    }
  });
});
