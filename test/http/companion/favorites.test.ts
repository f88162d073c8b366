/** Favorites of users. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addProject, addUser, archive, FEATURES, makeFlag, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('favorites', (server) => {
  const as = (token: string) => {
    const { call } = server();
    const get = async (path: string) => (await call('GET', path, undefined, { token })).body;
    return {
      mark: (path: string) => call('POST', `${path}/favorites`, undefined, { token }),
      unmark: (path: string) => call('DELETE', `${path}/favorites`, undefined, { token }),
      flags: async (query = '') =>
        (await get(`/search/features?query=fav.&${query}`)).features.map(
          ({ name, favorite }: { name: string; favorite: boolean }) => `${name}${favorite ? '*' : ''}`,
        ),
      /** By the flag itself, the overview of its project, and the list of its flags by prefix. */
      listed: async () => {
        const lists = [await get('/projects/default'), await get(`${FEATURES}?namePrefix=fav.`)];
        const found = lists.map(({ features }) =>
          features.find(({ name }: { name: string }) => name === 'fav.b'),
        );
        return [await get(`${FEATURES}/fav.b`), ...found].map(({ favorite }) => favorite);
      },
      projects: async () =>
        (await get('/projects')).projects
          .filter(({ favorite }: { favorite: boolean }) => favorite)
          .map(({ id }: { id: string }) => id),
      get,
    };
  };

  it('are shown to those who marked them, and to nobody else, also after a restart', async () => {
    const [ada, bob] = [await addUser(server(), 2), await addUser(server(), 2)].map(({ token }) => as(token));
    assert(ada !== undefined && bob !== undefined);
    for (const name of ['fav.a', 'fav.b']) await makeFlag(server().call, name);
    assert.equal((await ada.mark(`${FEATURES}/fav.b`)).status, 200);
    assert.equal((await ada.mark('/projects/default')).status, 200);
    for (const isRestarted of [false, true]) {
      if (isRestarted) await server().restart();
      assert.deepEqual(await ada.flags(), ['fav.a', 'fav.b*']);
      assert.deepEqual(await ada.flags('favoritesFirst=true'), ['fav.b*', 'fav.a']);
      assert.deepEqual(await ada.projects(), ['default']);
      assert.deepEqual(
        [await ada.listed(), await bob.listed()],
        [
          [true, true, true],
          [false, false, false],
        ],
      );
      for (const [path, who] of [
        ['', 'ada'],
        ['/overview', 'ada'],
        ['', 'bob'],
      ] as const) {
        const body: { favorite: boolean } = await (who === 'ada' ? ada : bob).get(`/projects/default${path}`);
        assert.equal(body.favorite, who === 'ada', `${who}: ${path}`);
      }
      assert.deepEqual([await bob.flags(), await bob.projects()], [['fav.a', 'fav.b'], []]);
      assert.equal((await bob.get('/projects/default/overview')).favorite, false);
    }
    assert.equal((await ada.unmark(`${FEATURES}/fav.b`)).status, 200);
    assert.deepEqual(await ada.flags(), ['fav.a', 'fav.b']);
    assert.equal((await ada.get('/projects/default')).favorite, true);
    assert.equal((await ada.unmark('/projects/default')).status, 200);
    assert.equal((await ada.get('/projects/default')).favorite, false);
  });

  it('give a flag another tag for those who marked it, by which they may change it', async () => {
    const [ada, bob] = [await addUser(server(), 2), await addUser(server(), 2)];
    await makeFlag(server().call, 'fav.tagged');
    const path = `${FEATURES}/fav.tagged`;
    await as(ada.token).mark(path);
    const tagFor = async ({ token }: { token: string }) =>
      (await server().call('GET', path, undefined, { token })).headers.get('etag') ?? '';
    const [marked, plain] = [await tagFor(ada), await tagFor(bob)];
    assert.notEqual(marked, plain);
    const change = (ifMatch: string) =>
      server().call('PUT', path, { description: ifMatch }, { headers: { 'if-match': ifMatch } });
    assert.equal((await change(marked)).status, 200);
    assert.equal((await change(marked)).status, 412);
    assert.equal((await change(plain)).status, 412);
    assert.equal((await change(await tagFor(ada))).status, 200);
  });

  it('end with the flag and the project, whose names others may get', async () => {
    const ada = as((await addUser(server(), 1)).token);
    await addProject(server(), 'brief');
    const create = () => server().call('POST', '/projects/brief/features', { name: 'fav.gone' });
    await create();
    await ada.mark('/projects/brief/features/fav.gone');
    await ada.mark('/projects/brief');
    await server().call('DELETE', '/projects/brief/features/fav.gone');
    assert.equal((await server().call('DELETE', '/projects/brief')).status, 200);
    await addProject(server(), 'brief');
    await create();
    assert(!(await ada.flags()).includes('fav.gone*'));
    assert.deepEqual(await ada.projects(), []);
  });

  it('record nothing where nothing changes, and are for users only', async () => {
    const ada = as((await addUser(server(), 3)).token);
    await makeFlag(server().call, 'fav.once');
    await ada.mark(`${FEATURES}/fav.once`);
    const { lastId } = server().server.store.engine;
    await ada.mark(`${FEATURES}/fav.once`);
    await ada.unmark('/projects/default');
    assert.equal(server().server.store.engine.lastId, lastId);
    const path = `${FEATURES}/fav.once/favorites`;
    await refused(server(), 403, 'NoAccessError', { method: 'POST', path });
    await archive(server().call, 'fav.once');
    assert.equal((await ada.unmark(`${FEATURES}/fav.once`)).status, 200);
  });
});
