/** Endpoints 1 and 2: a project's overview and its list of flags (docs/specification/flags.md#overview). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
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
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const names = (features: readonly { readonly name: string }[]): string[] => features.map(({ name }) => name);

describeInterface('projects', (server) => {
  it('a project without flags is wholly healthy', async () => {
    await addProject(server(), 'empty', ['production']);
    const { status, body } = await server().call('GET', '/projects/empty');
    assert.equal(status, 200);
    assert.deepEqual(
      { ...body, updatedAt: '' },
      {
        version: 1,
        name: 'empty',
        description: '',
        health: 100,
        members: 1,
        favorite: false,
        defaultStickiness: 'default',
        featureNaming: { pattern: null, example: null, description: null },
        featureLimit: null,
        linkTemplates: [],
        lifetimes: {},
        createdAt: '2024-01-01T00:00:00.000Z',
        updatedAt: '',
        environments: [{ environment: 'production' }],
        features: [],
      },
    );
    const list = await server().call('GET', '/projects/empty/features');
    assert.deepEqual(list.body, { version: 2, features: [] });
  });

  it('overview and list show the same summaries, in the order in which the flags were created', async () => {
    const { call } = server();
    for (const name of ['zebra', 'ant', 'mole']) await makeFlag(call, name);
    await addStrategy(call, 'ant', {}, 'production');
    await call('POST', `${environmentPath('ant', 'production')}/on`);
    const overview = await call('GET', '/projects/default');
    const list = await call('GET', FEATURES);
    assert.deepEqual(names(list.body.features), ['zebra', 'ant', 'mole']);
    assert.deepEqual(overview.body.features, list.body.features);
    const { name, type, createdAt, environments } = list.body.features[1];
    assert.match(createdAt, /Z$/);
    assert.deepEqual([name, type], ['ant', 'release']);
    assert.deepEqual(
      environments.map((one: { name: string; enabled: boolean }) => [one.name, one.enabled]),
      [
        ['development', false],
        ['production', true],
      ],
    );
  });

  it('leaves archived flags out of the overview and the list, not out of reach', async () => {
    const { call } = server();
    await makeFlag(call, 'gone');
    await archive(call, 'gone');
    for (const path of ['/projects/default', FEATURES]) {
      assert(!names((await call('GET', path)).body.features).includes('gone'));
    }
    const { status, body } = await call('GET', `${FEATURES}/gone`);
    assert.deepEqual({ status, archived: body.archived }, { status: 200, archived: true });
  });

  it('shows a change in overview and list at once', async () => {
    const { call } = server();
    await makeFlag(call, 'watched');
    const watched = async (path: string) =>
      (await call('GET', path)).body.features.find(({ name }: { name: string }) => name === 'watched');
    for (const path of ['/projects/default', FEATURES]) assert.equal((await watched(path)).stale, false);
    await call('PUT', `${FEATURES}/watched`, { stale: true, type: 'permission' });
    for (const path of ['/projects/default', FEATURES]) {
      const { stale, type } = await watched(path);
      assert.deepEqual({ stale, type }, { stale: true, type: 'permission' });
    }
  });

  it('counts as healthy the unarchived flags that are not stale, in percent, rounded', async () => {
    const { call } = server();
    await addProject(server(), 'ailing');
    const path = '/projects/ailing/features';
    for (const name of ['well-1', 'well-2', 'stale-1']) await call('POST', path, { name });
    await call('PUT', `${path}/stale-1`, { stale: true });
    assert.equal((await call('GET', '/projects/ailing')).body.health, 67);
    await call('DELETE', `${path}/well-2`);
    assert.equal((await call('GET', '/projects/ailing')).body.health, 50);
  });

  it('counts the users who hold a role in the project', async () => {
    const { call } = server();
    await addProject(server(), 'crowd');
    const { id } = await addUser(server(), 3);
    await call('POST', `/projects/crowd/users/${id}/roles/5`);
    assert.equal((await call('GET', '/projects/crowd')).body.members, 2);
    await call('DELETE', `/projects/crowd/users/${id}/roles/5`);
    assert.equal((await call('GET', '/projects/crowd')).body.members, 1);
  });

  it('does not find a project that does not exist, on any path below it', async () => {
    const strategy = '/projects/nowhere/features/f/environments/development/strategies';
    const cases = [
      ['GET', '/projects/nowhere'],
      ['GET', '/projects/Default'],
      ['GET', '/projects/nowhere/features'],
      ['POST', '/projects/nowhere/features', {}],
      ['GET', '/projects/nowhere/features/f/parents'],
      ['PUT', '/projects/nowhere/features/f/variants', []],
      ['PATCH', '/projects/nowhere/features/f/variants', []],
      ['POST', strategy, {}],
      ['PUT', `${strategy}/1`, {}],
      ['POST', '/projects/nowhere/features/f/environments/development/on'],
      ['POST', '/projects/nowhere/users/1/roles/4'],
    ] as const;
    for (const [method, path, body] of cases) {
      const { body: error } = await refused(server(), 404, 'NotFoundError', { method, path, body });
      assert.match(error.message, /"(nowhere|Default)"/);
    }
  });

  it('lists flags by tag and by the start of their names', async () => {
    const { call } = server();
    for (const name of ['team.a', 'team.b', 'other.a']) await makeFlag(call, name);
    await call('POST', '/features/team.a/tags', { type: 'simple', value: 'blue' });
    await call('POST', '/features/other.a/tags', { type: 'simple', value: 'a:b' });
    const names = async (query: string) => {
      const { status, body } = await call('GET', `${FEATURES}?${query}`);
      assert.equal(status, 200);
      return body.features.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await names('namePrefix=team.'), ['team.a', 'team.b']);
    assert.deepEqual(await names('namePrefix=Team.'), []);
    assert.deepEqual(await names('tag=simple:blue'), ['team.a']);
    assert.deepEqual(await names('tag=simple%3Ablue&tag=simple:a:b'), ['team.a', 'other.a']);
    assert.deepEqual(await names('tag=simple:blue&namePrefix=other'), []);
    await archive(call, 'team.a');
    assert.deepEqual(await names('tag=simple:blue'), []);
    await invalidAt(server(), '/query/tag', { method: 'GET', path: `${FEATURES}?tag=blue` });
  });

  it('shows what a list needs: description, impression data, and figures of each environment', async () => {
    const { call } = server();
    await makeFlag(call, 'figured', { description: 'told', impressionData: true });
    await addStrategy(call, 'figured', { disabled: true }, 'production');
    await call('POST', '/features/figured/tags', { type: 'simple', value: 'seen' });
    const parameters = { rollout: '35', stickiness: 'default', groupId: 'g' };
    await addStrategy(call, 'figured', { name: 'flexibleRollout', parameters });
    await call('PUT', `${FEATURES}/figured/environments/production/variants`, [{ name: 'v', weight: 1 }]);
    const { body } = await call('GET', `${FEATURES}?namePrefix=figured`);
    const [{ createdAt: enteredStageAt, ...flag }] = body.features;
    const environment = (name: string, sortOrder: number) => ({
      name,
      displayName: name,
      type: name,
      enabled: false,
      sortOrder,
      lastSeenAt: null,
    });
    assert.deepEqual(flag, {
      name: 'figured',
      type: 'release',
      description: 'told',
      stale: false,
      impressionData: true,
      favorite: false,
      createdByUserId: -42,
      tags: [{ type: 'simple', value: 'seen' }],
      lastSeenAt: null,
      lifecycle: { stage: 'initial', enteredStageAt },
      environments: [
        {
          ...environment('development', 1),
          variantCount: 0,
          hasStrategies: true,
          hasEnabledStrategies: true,
          enabledStrategyCount: 1,
          rollout: 35,
        },
        {
          ...environment('production', 2),
          variantCount: 1,
          hasStrategies: true,
          hasEnabledStrategies: false,
          enabledStrategyCount: 0,
          rollout: null,
        },
      ],
    });
  });
});
