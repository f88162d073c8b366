/** The search for flags in all projects (docs/specification/flags.md#search). */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  addUser,
  archive,
  environmentPath,
  FEATURES,
  invalidAt,
  makeFlag,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('the search for flags', (server) => {
  let ada: number;
  const search = async (query: string) => {
    const { status, body } = await server().call('GET', `/search/features?${query}`);
    assert.equal(status, 200, body?.message);
    return body;
  };
  const names = async (query: string): Promise<string[]> =>
    (await search(query)).features.map(({ name }: { name: string }) => name);

  before(async () => {
    const { call } = server();
    await addProject(server(), 'shop');
    await makeFlag(call, 'alpha', { description: 'The Checkout page' });
    await makeFlag(call, 'beta', { type: 'experiment' });
    await makeFlag(call, 'gamma', { stale: true });
    const user = await addUser(server(), 1, { username: 'ada', email: 'ada@example.com' });
    ada = user.id;
    await call('POST', '/projects/shop/features', { name: 'delta' }, { token: user.token });
    await makeFlag(call, 'gone');
    await archive(call, 'gone');
    await call('POST', '/features/alpha/tags', { type: 'team', value: 'checkout' });
    await call('POST', '/features/alpha/tags', { type: 'team', value: 'web' });
    await call('POST', '/features/beta/tags', { type: 'team', value: 'web' });
    await call('POST', '/segments', { name: 'nordic', constraints: [] });
    await addStrategy(call, 'beta', { segments: [1] });
    await call('POST', `${environmentPath('beta')}/on`);
    await call('POST', `${FEATURES}/gamma/dependencies`, { feature: 'alpha' });
  });

  it('finds all flags that are not archived, oldest first, and shows what lists show of them', async () => {
    const { features, total } = await search('');
    assert.deepEqual(
      [features.map(({ name }: { name: string }) => name), total],
      [['alpha', 'beta', 'gamma', 'delta'], 4],
    );
    const [alpha, beta, gamma, delta] = features;
    assert.deepEqual(
      [alpha.dependencyType, gamma.dependencyType, beta.dependencyType],
      ['parent', 'child', null],
    );
    assert.deepEqual(
      [beta.segments, beta.environments[0].enabled, delta.project],
      [['nordic'], true, 'shop'],
    );
    assert.deepEqual([delta.createdBy.id, delta.createdBy.name, alpha.createdBy.id], [ada, 'ada', -42]);
    assert.deepEqual(await names('archived=IS:true'), ['gone']);
  });

  const cases: readonly (readonly [query: string, expected: readonly string[]])[] = [
    ['query=CHECKOUT', ['alpha']],
    ['query=CHECKOUT,team:web', ['alpha', 'beta']],
    ['query=,nothing%20has%20this', []],
    ['query=team:web', ['alpha', 'beta']],
    ['project=IS:shop', ['delta']],
    ['project=IS_NOT:shop', ['alpha', 'beta', 'gamma']],
    ['project=IS_ANY_OF:shop,default&type=IS:experiment', ['beta']],
    ['type=IS_NONE_OF:experiment,operational', ['alpha', 'gamma', 'delta']],
    ['state=IS:stale', ['gamma']],
    ['state=IS:active&project=IS:default', ['alpha', 'beta']],
    ['tag=INCLUDE:team:web', ['alpha', 'beta']],
    ['tag=INCLUDE_ALL_OF:team:web,team:checkout', ['alpha']],
    ['tag=INCLUDE_ANY_OF:team:checkout,team:none', ['alpha']],
    ['tag=EXCLUDE_IF_ANY_OF:team:web', ['gamma', 'delta']],
    ['tag=EXCLUDE_ALL:team:web,team:checkout', ['beta', 'gamma', 'delta']],
    ['segment=INCLUDE:nordic', ['beta']],
    ['segment=DO_NOT_INCLUDE:nordic', ['alpha', 'gamma', 'delta']],
    ['status=development:enabled', ['beta']],
    ['status=development:enabled&status=production:disabled', ['alpha', 'beta', 'gamma', 'delta']],
    ['status[]=development:enabled&status[]=nowhere:disabled', ['beta']],
    ['lifecycle=IS:initial&project=IS:shop', ['delta']],
    ['lifecycle=IS:live', []],
    ['lifecycle=IS:archived', ['gone']],
    ['lifecycle=IS_ANY_OF:initial,archived', ['alpha', 'beta', 'gamma', 'delta', 'gone']],
    ['lifecycle=IS_NONE_OF:archived', ['alpha', 'beta', 'gamma', 'delta']],
    ['archived=IS:true&lifecycle=IS_NOT:live', ['gone']],
    ['archived=IS:true&lifecycle=IS_ANY_OF:initial,archived', ['gone']],
    ['archived=IS:true&lifecycle=IS:initial', []],
    ['archived=IS:false&lifecycle=IS:archived', []],
    ['createdAt=IS_BEFORE:2020-01-01', []],
    ['createdAt=IS_ON_OR_AFTER:2020-01-01&project=IS:shop', ['delta']],
    ['sortBy=name&sortOrder=desc', ['gamma', 'delta', 'beta', 'alpha']],
    ['sortBy=project', ['alpha', 'beta', 'gamma', 'delta']],
    ['sortBy=environment:development&sortOrder=desc&limit=1', ['beta']],
    ['limit=2&offset=1', ['beta', 'gamma']],
  ];
  for (const [query, expected] of cases) {
    it(`takes ${query}`, async () => assert.deepEqual(await names(query), expected));
  }

  it('finds by who created a flag, and lists who did in a project', async () => {
    assert.deepEqual(await names(`createdBy=IS:${ada}`), ['delta']);
    assert.deepEqual(await names(`createdBy=IS_NOT:${ada}`), ['alpha', 'beta', 'gamma']);
    const { body } = await server().call('GET', '/projects/shop/flag-creators');
    assert.deepEqual(body, [{ id: ada, name: 'ada' }]);
  });

  it('finds the favorites of the caller, and the others', async () => {
    const { token } = await addUser(server(), 3);
    const { call } = server();
    await call('POST', `${FEATURES}/beta/favorites`, undefined, { token });
    const found = async (condition: string): Promise<string[]> => {
      const { body } = await call('GET', `/search/features?favorite=${condition}`, undefined, { token });
      return body.features.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await found('IS:true'), ['beta']);
    assert.deepEqual(await found('IS:false'), ['alpha', 'gamma', 'delta']);
    assert.deepEqual(await found('IS_ANY_OF:true,false'), ['alpha', 'beta', 'gamma', 'delta']);
    assert.deepEqual(await names('favorite=IS:true'), [], 'of this caller');
  });

  it('counts all that were found, and says where the next page starts', async () => {
    const page = await search('limit=2&offset=1');
    assert.deepEqual([page.total, page.nextOffset], [4, 3]);
    assert.equal((await search('limit=2&offset=2')).nextOffset, undefined);
  });

  it('refuses what cannot be, and names the parameter', async () => {
    for (const [name, value] of [
      ['project', 'shop'],
      ['tag', 'IS:team:web'],
      ['tag', 'EXCLUDE_ALL:team'],
      ['tag', 'INCLUDE_ANY_OF:team:web,team'],
      ['lifecycle', 'live'],
      ['favorite', 'IS_NOT:true'],
      ['lastSeenAt', 'IS_BEFORE:soon'],
      ['status', 'production'],
      ['createdAt', 'IS_BEFORE:soon'],
      ['sortBy', 'colour'],
      ['sortOrder', 'up'],
      ['limit', '0'],
    ] as const) {
      await invalidAt(server(), `/query/${name}`, {
        method: 'GET',
        path: `/search/features?${name}=${value}`,
      });
    }
  });
});
