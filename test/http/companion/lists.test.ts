/** The order of lists, and their pages. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ProjectState } from '../../../src/domain/state/world.ts';
import '../../support/check-responses.ts';
import { setTurnMs } from '../../../src/actors/turn.ts';
import { ABOUT_NOTHING, type DomainEvent, inProject } from '../../../src/domain/state/events.ts';
import { addProject, addUser, record } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const VIEWER = 3;

const createdAt = '2024-01-01T00:00:00.000Z';

/** A text of 3 MiB where it is served, as older releases let it come about. */
const LONG = '\u0001'.repeat(2 ** 19);

const created = (type: string, data: object, digest?: string): DomainEvent =>
  ({
    ...{ type, ...ABOUT_NOTHING, data, preData: null },
    ...(digest === undefined ? {} : { hidden: { digest } }),
  }) as unknown as DomainEvent;

/** Six of each would take 18 MiB. */
const LARGE: Readonly<Record<string, (number: number) => DomainEvent>> = {
  '/projects projects': (number) => ({
    ...{ type: 'project-created', ...inProject(`large-${number}`), preData: null },
    data: {
      ...{ id: `large-${number}`, name: `large ${number}`, description: LONG, mode: 'open' },
      ...{ defaultStickiness: 'default', createdAt, updatedAt: createdAt, environments: ['development'] },
    },
  }),
  '/api-tokens tokens': (number) =>
    created(
      'api-token-created',
      {
        ...{ tokenName: LONG, type: 'client', environment: 'development' },
        ...{ projects: ['default'], createdAt, expiresAt: null },
      },
      `${number}`.padStart(64, '0'),
    ),
  '/groups groups': (number) =>
    created('group-created', {
      ...{ id: 1_000 + number, name: `large ${number}`, description: LONG, rootRole: null },
      ...{ mappingsSSO: [], users: [], createdAt, createdBy: 'admin' },
    }),
  '/service-account serviceAccounts': (number) =>
    created('service-account-created', {
      ...{ id: 10_000 + number, name: LONG, username: `large-account-${number}`, email: null },
      ...{ rootRole: VIEWER, createdAt, isService: true },
    }),
  '/user-admin users': (number) =>
    created('user-created', {
      ...{ id: 20_000 + number, name: LONG, username: `large-${number}`, email: null },
      ...{ rootRole: VIEWER, createdAt },
    }),
};

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

  for (const [list, large] of Object.entries(LARGE)) {
    const [path = '', field = ''] = list.split(' ');
    it(`of more than 16 MiB are a 413 that says how to read them in pages: ${path}`, async () => {
      const { call } = server();
      const before = (await call('GET', path)).body[field].length;
      await record(server(), ...Array.from({ length: 6 }, (_, number) => large(number)));
      const { status, body } = await call('GET', path);
      assert.equal(status, 413);
      assert.match(
        body.message,
        /^The response would take more than 16 MiB.* \?limit=\d+&offset=0, and so on\.$/,
      );
      const limit = Number(/limit=(\d+)/.exec(body.message)?.[1]);
      let count = 0;
      for (let offset = 0; offset < before + 6; offset += limit) {
        const page = await call('GET', `${path}?limit=${limit}&offset=${offset}`);
        assert.equal(page.status, 200);
        count += page.body[field].length;
      }
      assert.equal(count, before + 6);
    });
  }
});

describeInterface('the rights of somebody with a role in many projects', (server) => {
  const PROJECTS = 300;

  it('are listed a few projects at a time, and all of them', async () => {
    const { call } = server();
    const role = { name: 'Writer', permissions: [{ name: 'UPDATE_FEATURE' }, { name: 'DELETE_FEATURE' }] };
    const { id: roleId } = (await call('POST', '/roles', role)).body.roles;
    const { id: userId, token } = await addUser(server(), VIEWER);
    const ids = Array.from({ length: PROJECTS }, (_, at) => `many-${at}`);
    for (const id of ids) {
      await addProject(server(), id);
      const data = { userId, roleId, roleName: 'Writer', email: null };
      await record(server(), { type: 'project-user-added', ...inProject(id), data, preData: null });
    }
    const looked = new Set<string>();
    let most = 0;
    const { projects } = server().server.store.engine.world;
    for (const { order, values } of projects.chunks)
      for (const [at, project] of values.entries()) {
        const id = order.keys[at]!;
        const get = (target: typeof project, key: keyof typeof project): unknown => {
          if (key === 'members') looked.add(id);
          return target[key];
        };
        (values as ProjectState[])[at] = new Proxy(project, { get } as ProxyHandler<typeof project>);
      }
    let isOver = false;
    const count = (): void => {
      most = Math.max(most, looked.size);
      looked.clear();
      if (!isOver) setImmediate(count);
    };
    setTurnMs(0);
    setImmediate(count);
    try {
      const { permissions } = (await call('GET', '/user', undefined, { token })).body;
      assert.equal(permissions.length, 2 * PROJECTS);
      assert(most <= 3, `${most} projects were looked at between two turns of the event loop`);
    } finally {
      setTurnMs();
      isOver = true;
    }
  });
});
