/** Passwords that Admins set and users change: what is recorded of them, and that nobody can read them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { exportState } from '../../../src/actors/state-file.ts';
import '../../support/check-responses.ts';
import { addProject, addUser, invalidAt, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const FIRST = 'First-password-1';
const SECOND = 'Second-password-2';

describeInterface('passwords', (server) => {
  const hashOf = (id: number) => server().server.store.engine.world.directory.passwords.get(id)?.hash;
  const create = (username: string, fields: object = {}, headers: Record<string, string> = {}) =>
    server().call('POST', '/user-admin', { username, rootRole: 3, ...fields }, { headers });

  it('are set by an Admin, changed by their users, and recorded as a change without a trace of them', async () => {
    const { response, events } = await recording(server(), () => create('grace', { password: FIRST }));
    const { id } = response.body;
    assert.deepEqual([response.status, events.map(({ type }) => type)], [201, ['user-created']]);
    const first = hashOf(id);
    assert.match(first ?? '', /^\$scrypt\$ln=1,r=1,p=1\$/);

    const { body: token } = await server().call('POST', `/user-admin/${id}/tokens`, {
      description: 'laptop',
      expiresAt: '2999-01-01T00:00:00.000Z',
    });
    const changeOwn = (body: object) =>
      server().call('POST', '/user/change-password', body, { token: token.secret });
    const own = await recording(server(), () =>
      changeOwn({ password: SECOND, confirmPassword: SECOND, oldPassword: FIRST }),
    );
    assert.equal(own.response.status, 200);
    assert.deepEqual(
      own.events.map(({ type, data, preData }) => [type, Object.keys(data ?? {}), preData]),
      [
        [
          'user-updated',
          ['id', 'name', 'username', 'email', 'rootRole', 'createdAt', 'passwordChangedAt'],
          { ...own.events[0]?.preData, passwordChangedAt: response.body.createdAt },
        ],
      ],
    );
    const second = hashOf(id);
    assert.notEqual(second, first);

    const { body: log } = await server().call('GET', '/events?limit=100');
    for (const secret of [FIRST, SECOND, first, second]) {
      assert(!JSON.stringify(log).includes(secret ?? '?'), 'no event shows it');
      const { body } = await server().call('POST', '/events/search', { query: secret });
      assert.equal(body.totalEvents, 0, 'no search finds it');
    }
    for (const name of readdirSync(server().folder, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const bytes = readFileSync(join(name.parentPath, name.name));
      for (const password of [FIRST, SECOND]) assert(!bytes.includes(password), `${name.name} has it not`);
    }
    await server().restart();
    assert.equal(hashOf(id), second);
    assert.equal((await changeOwn({ password: FIRST, oldPassword: SECOND })).status, 200);

    assert.equal((await server().call('DELETE', `/user-admin/${id}`)).status, 200);
    assert.equal(hashOf(id), undefined);
  });

  it('are asked for before they are changed, and the first one is for an Admin to set', async () => {
    const user = await addUser(server(), 3, { username: 'hopper' });
    const options = { token: user.token };
    const path = '/user/change-password';
    const change = { password: SECOND, oldPassword: FIRST };
    await refused(server(), 409, 'InvalidOperationError', { method: 'POST', path, body: change, ...options });
    const set = `/user-admin/${user.id}/change-password`;
    assert.equal((await server().call('POST', set, { password: FIRST })).status, 200);
    await invalidAt(server(), '/body/oldPassword', {
      ...{ method: 'POST', path, ...options },
      body: { ...change, oldPassword: 'Wrong-password-3' },
    });
    assert.equal((await server().call('GET', `/user-admin/${user.id}`)).body.loginAttempts, 1);
    assert.equal((await server().call('POST', path, change, options)).status, 200);
    const { body } = await server().call('GET', `/user-admin/${user.id}`);
    assert.equal(body.loginAttempts, 0);
    await refused(server(), 403, 'NoAccessError', { method: 'POST', path, body: change });
    await refused(server(), 403, 'NoAccessError', {
      ...{ method: 'POST', path: set, ...options },
      body: { password: SECOND },
    });
    await refused(server(), 404, 'NotFoundError', {
      ...{ method: 'POST', path: '/user-admin/999/change-password' },
      body: { password: SECOND },
    });
  });

  it('keep the rules, and what is said of one that does not never repeats it', async () => {
    const path = '/user-admin/1/change-password';
    for (const password of ['weak', 'weak-password-7', `${FIRST.repeat(40)}`, 1234567890, null]) {
      const { body } = await invalidAt(server(), '/body/password', {
        method: 'POST',
        path,
        body: { password },
      });
      assert(!JSON.stringify(body).includes(String(password)));
      assert.equal((await create('weak', { password })).status, 400);
    }
    await invalidAt(server(), '/body/confirmPassword', {
      ...{ method: 'POST', path: '/user-admin/1/change-password' },
      body: { password: FIRST, confirmPassword: SECOND },
    });
  });

  it('tell no retry from another: not even a digest of one is kept', async () => {
    const headers = { 'idempotency-key': 'one' };
    const made = await create('retried', { password: FIRST }, headers);
    const again = await create('retried', { password: FIRST }, headers);
    assert.deepEqual([made.status, again.body.id], [201, made.body.id]);
    assert.equal((await create('retried', { password: SECOND }, headers)).body.id, made.body.id);
    assert.equal((await create('other', { password: FIRST }, headers)).status, 409);
  });

  it('are exported as hashes, with the digests of tokens and only where these are asked for', async () => {
    const { body } = await create('exported', { password: FIRST });
    const { world } = server().server.store.engine;
    assert(!JSON.stringify(exportState(world)).includes('$scrypt$'));
    const { credentials } = exportState(world, { credentials: true });
    assert.equal(credentials?.passwords.find(({ userId }) => userId === body.id)?.hash, hashOf(body.id));
  });

  it('lists all users and groups for those who can give access to a project, and for nobody else', async () => {
    const viewer = await addUser(server(), 3, { username: 'viewer' });
    const options = { token: viewer.token };
    const path = '/user-admin/access';
    await refused(server(), 403, 'NoAccessError', { method: 'GET', path, ...options });
    await addProject(server(), 'theirs');
    await server().call('POST', `/projects/theirs/users/${viewer.id}/roles/4`);
    await server().call('POST', '/groups', { name: 'team', users: [{ user: { id: viewer.id } }] });
    const { body } = await server().call('GET', path, undefined, options);
    assert(body.users.some((user: { id: number }) => user.id === viewer.id));
    assert.deepEqual(
      body.groups.map((group: { name: string; userCount: number }) => [group.name, group.userCount]),
      [['team', 1]],
    );
  });
});
