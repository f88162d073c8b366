/** The order of lists, and their pages. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addUser } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const VIEWER = 3;

interface Named {
  readonly name: string;
}

describeInterface('lists', (server) => {
  const made = async (path: string, body: object): Promise<void> => {
    assert.equal((await server().call('POST', path, body)).status, 201, path);
  };
  const namesIn = async (path: string, field: string): Promise<readonly string[]> => {
    const { body } = await server().call('GET', path);
    return body[field].map(({ name }: Named) => name);
  };

  it('are in order of name, behind what is predefined', async () => {
    for (const name of ['bb', 'Cc', 'aa']) {
      await made('/segments', { name, constraints: [] });
      await made('/strategies', { name, parameters: [] });
      await made('/tag-types', { name, description: '' });
      await made('/projects', { id: `id-${name}`, name });
    }
    const sorted = ['Cc', 'aa', 'bb'];
    assert.deepEqual(await namesIn('/segments', 'segments'), sorted);
    assert.deepEqual((await namesIn('/strategies', 'strategies')).slice(-3), sorted);
    assert.deepEqual((await namesIn('/tag-types', 'tagTypes')).slice(-3), sorted);
    assert.deepEqual(await namesIn('/projects', 'projects'), ['Cc', 'Default', 'aa', 'bb']);
  });

  it('have context fields in their own order, and then by name', async () => {
    await made('/context', { name: 'last', sortOrder: 900 });
    for (const name of ['z', 'y']) await made('/context', { name, sortOrder: 800 });
    const response = await server().call('GET', '/context');
    assert.deepEqual(response.body.map(({ name }: Named) => name).slice(-3), ['y', 'z', 'last']);
  });

  it('of people can be read in pages, each list of a response by the same', async () => {
    const ids = [];
    for (let count = 0; count < 3; count += 1) ids.push((await addUser(server(), VIEWER)).id);
    for (const name of ['one', 'two', 'three']) {
      await made('/groups', { name, users: ids.map((id) => ({ user: { id } })) });
    }
    const { call } = server();
    const roles = [{ id: 4, users: ids, groups: [1, 2, 3] }];
    const written = await call('PUT', '/projects/default/access', { roles });
    assert.equal(written.status, 200);
    assert.deepEqual(
      written.body.groups.map((one: { users?: unknown; userCount: number }) => [one.users, one.userCount]),
      [1, 2, 3].map(() => [undefined, 3]),
    );
    for (const path of ['/user-admin', '/user-admin/access', '/projects/default/access']) {
      const { body: all } = await call('GET', path);
      const { body: page } = await call('GET', `${path}?limit=1&offset=1`);
      assert(all.users.length >= 3, path);
      assert.deepEqual(page, {
        ...all,
        users: [all.users[1]],
        ...(all.groups && { groups: [all.groups[1]] }),
      });
      assert.equal((await call('GET', `${path}?limit=none`)).status, 400);
    }
    const { body } = await call('GET', '/user-admin/access');
    assert.equal(body.groups[0].users, undefined, 'a thousand groups may have a thousand users each');
  });
});
