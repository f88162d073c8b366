/** Users created, found and deleted; the roles; and who the caller is. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ABOUT_NOTHING, type DomainEvent } from '../../../src/domain/state/events.ts';
import '../../support/check-responses.ts';
import { addProject, addUser, invalidAt, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('the administration of users', (server) => {
  const create = (body: object) => server().call('POST', '/user-admin', body);

  it('creates users, whose role is answered as it was sent', async () => {
    const { response, events } = await recording(server(), () =>
      create({ email: 'Ada@example.com', name: 'Ada', rootRole: 'Editor', sendEmail: true }),
    );
    assert.equal(response.status, 201);
    const { id, rootRole, emailSent, email, createdAt } = response.body;
    assert.deepEqual([rootRole, emailSent, email], ['Editor', false, 'Ada@example.com']);
    assert(!('username' in response.body), 'what was never given is left out');
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [['user-created', { id, name: 'Ada', username: null, email, rootRole: 2, createdAt }]],
    );
    assert.equal((await server().call('GET', `/user-admin/${id}`)).body.rootRole, 2);
    assert.equal((await create({ username: 'number', rootRole: 3 })).body.rootRole, 3);
    const { body } = await server().call('GET', '/user-admin');
    assert(body.users.some((user: { id: number }) => user.id === id));
    assert.deepEqual(
      body.rootRoles.map((role: { name: string }) => role.name),
      ['Admin', 'Editor', 'Viewer'],
    );
  });

  it('refuses users without identity or role, and identities that are taken or malformed', async () => {
    await create({ username: 'taken', email: 'taken@example.com', rootRole: 3 });
    for (const [pointer, body] of [
      ['/body/email', { rootRole: 3 }],
      ['/body/email', { email: null, username: null, rootRole: 3 }],
      ['/body/rootRole', { username: 'x' }],
      ['/body/rootRole', { username: 'x', rootRole: 6 }],
      ['/body/rootRole', { username: 'x', rootRole: 'admin' }],
      ['/body/username', { username: '', rootRole: 3 }],
      ['/body/username', { username: 'x'.repeat(256), rootRole: 3 }],
      ['/body/username', { username: 'a\nb', rootRole: 3 }],
      ['/body/username', { username: 'taken', rootRole: 3 }],
      ['/body/email', { email: 'TAKEN@example.com', rootRole: 3 }],
      ['/body/email', { email: 'nobody', rootRole: 3 }],
    ] as const) {
      await invalidAt(server(), pointer, { method: 'POST', path: '/user-admin', body });
    }
  });

  it('finds users by part of a name, a username or an email, whatever the case', async () => {
    const { body: wanted } = await create({ name: 'Grace Höpper', username: 'cobol', rootRole: 3 });
    const found = async (text: string) =>
      (await server().call('GET', `/user-admin/search?q=${encodeURIComponent(text)}`)).body.map(
        (user: { id: number }) => user.id,
      );
    for (const text of ['HÖPP', 'cob', ' grace h ']) assert.deepEqual(await found(text), [wanted.id]);
    for (const text of ['', ' ', 'fortran']) assert.deepEqual(await found(text), []);
  });

  it('deletes a user with memberships and tokens, which end at once', async () => {
    const user = await addUser(server(), 3);
    await addProject(server(), 'joined');
    await server().call('POST', `/projects/joined/users/${user.id}/roles/5`);
    const reads = () => server().call('GET', '/projects', undefined, { token: user.token });
    assert.equal((await reads()).status, 200);
    const { response, events } = await recording(server(), () =>
      server().call('DELETE', `/user-admin/${user.id}`),
    );
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type, project }) => [type, project]),
      [
        ['project-user-removed', 'joined'],
        ['pat-deleted', null],
        ['user-deleted', null],
      ],
    );
    assert.equal((await reads()).status, 401);
    const members = await server().call('GET', '/projects/joined/access');
    assert(members.body.users.every((member: { id: number }) => member.id !== user.id));
    for (const method of ['GET', 'DELETE']) {
      await refused(server(), 404, 'NotFoundError', { method, path: `/user-admin/${user.id}` });
    }
    const { body: next } = await create({ username: 'next', rootRole: 3 });
    assert(next.id > user.id, 'an id is never given twice');
    await server().restart();
    assert.equal((await reads()).status, 401);
  });

  it('keeps the last Admin, and the only Owner of a project, whose projects it names', async () => {
    const path = '/user-admin/1';
    const demotion = { method: 'PUT', path, body: { rootRole: 'Viewer' } } as const;
    const kept = await refused(server(), 409, 'InvalidOperationError', demotion);
    assert.match(kept.body.message, /last Admin/);
    const other = await addUser(server(), 1);
    assert.equal((await server().call('PUT', path, { rootRole: 'Viewer' })).status, 200);
    const last = { method: 'DELETE', path: `/user-admin/${other.id}` } as const;
    const { body } = await refused(server(), 409, 'InvalidOperationError', last);
    assert.match(body.message, /last Admin/);
    const owner = await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path });
    assert.match(owner.body.message, /"default", "joined"/);
    await server().call('PUT', path, { rootRole: 'Admin' });
    assert.equal((await server().call('DELETE', last.path)).status, 200, 'now it is not the last');
  });

  it('tells usernames and emails apart whatever their case, and lets a user change the case of their own', async () => {
    const { body: ada } = await create({ username: 'Lovelace', email: 'Lovelace@example.com', rootRole: 3 });
    for (const [field, taken] of [
      ['username', 'LOVELACE'],
      ['email', 'lovelace@EXAMPLE.com'],
    ] as const) {
      const other = { username: 'somebody.else', [field]: taken, rootRole: 3 };
      await invalidAt(server(), `/body/${field}`, { method: 'POST', path: '/user-admin', body: other });
    }
    const renamed = await server().call('PUT', `/user-admin/${ada.id}`, { username: 'loveLace' });
    assert.deepEqual([renamed.status, renamed.body.username], [200, 'loveLace']);
  });

  it('keeps users of earlier releases whose usernames differ by case alone', async () => {
    const twin = (id: number, username: string): DomainEvent => ({
      type: 'user-created',
      ...ABOUT_NOTHING,
      data: { id, name: null, username, email: null, rootRole: 3, createdAt: '2024-01-01T00:00:00.000Z' },
      preData: null,
    });
    const { engine } = server().server.store;
    const id = engine.world.directory.lastUserId + 1;
    await engine.record({ name: 'test', userId: -1 }, [twin(id, 'twin'), twin(id + 1, 'TWIN')]);
    await server().restart();
    const { status } = await server().call('PUT', `/user-admin/${id}`, { name: 'The first twin' });
    assert.equal(status, 200, 'a change of something else is not refused for it');
    assert.equal((await server().call('GET', `/user-admin/${id + 1}`)).body.username, 'TWIN');
  });

  it('takes nothing but the number of a user for one', async () => {
    for (const id of ['0', '-1', '1e0', '01x', '99999999999', '__proto__', 'admin']) {
      for (const method of ['GET', 'DELETE']) {
        await refused(server(), 404, 'NotFoundError', { method, path: `/user-admin/${id}` });
      }
      await refused(server(), 404, 'NotFoundError', { method: 'GET', path: `/user-admin/${id}/tokens` });
      const token = { method: 'DELETE', path: `/user-admin/1/tokens/${id}` } as const;
      const { body } = await refused(server(), 404, 'NotFoundError', token);
      assert.equal(body.message, `The user 1 has no personal token "${id}".`);
    }
  });
});

describeInterface('the caller', (server) => {
  const me = async (token?: string) =>
    (await server().call('GET', '/user', undefined, token === undefined ? {} : { token })).body;

  it('is told who it is and what it may do, in every project or in those of its own', async () => {
    await addProject(server(), 'mine');
    const admin = await me();
    assert.deepEqual([admin.user.isAPI, admin.user.name], [true, 'admin']);
    assert.deepEqual(admin.permissions, [{ permission: 'ADMIN' }]);
    const editor = await me((await addUser(server(), 2)).token);
    assert.deepEqual(editor.permissions[0], { permission: 'CREATE_PROJECT' });
    const inService = editor.permissions.filter((one: { project?: string }) => one.project === undefined);
    assert(
      inService.every((one: { permission: string }) =>
        /PROJECT|CONTEXT|SEGMENT|STRATEGY|TAG|APPL/.test(one.permission),
      ),
    );
    const inProjects = editor.permissions.slice(inService.length);
    assert.equal(inProjects.length, 13);
    assert(inProjects.every((one: { project: string }) => one.project === '*'));
    const viewer = await addUser(server(), 3, { username: 'viewer' });
    assert.deepEqual((await me(viewer.token)).permissions, []);
    await server().call('POST', `/projects/mine/users/${viewer.id}/roles/4`);
    const { user, permissions, feedback, splash } = await me(viewer.token);
    assert.deepEqual([user.id, user.isAPI, user.username], [viewer.id, false, 'viewer']);
    assert(permissions.every((one: { project: string }) => one.project === 'mine'));
    const words = permissions.map((one: { permission: string }) => one.permission);
    assert(words.includes('CREATE_FEATURE') && words.includes('UPDATE_PROJECT'));
    assert.deepEqual([feedback, splash], [[], {}]);
  });

  it('can list the five roles', async () => {
    const { body } = await server().call('GET', '/roles');
    assert.deepEqual(
      body.roles.map((role: { id: number; name: string; type: string }) => [role.id, role.name, role.type]),
      [
        [1, 'Admin', 'root'],
        [2, 'Editor', 'root'],
        [3, 'Viewer', 'root'],
        [4, 'Owner', 'project'],
        [5, 'Member', 'project'],
      ],
    );
  });
});
