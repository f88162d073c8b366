/** Endpoints 7 and 8: cloning and archiving a flag (docs/specification/flags.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  archive,
  environmentPath,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('clones and archives', (server) => {
  const clone = (source: string, body: object) => server().call('POST', `${FEATURES}/${source}/clone`, body);

  /** A flag with variants, strategies in both environments, enabled and stale. */
  async function makeSource(name: string): Promise<void> {
    const { call } = server();
    await makeFlag(call, name, { description: 'of the source', type: 'experiment', impressionData: true });
    await addStrategy(call, name, { name: 'flexibleRollout', parameters: { groupId: name, rollout: 50 } });
    await addStrategy(call, name, { parameters: { groupId: 'another' }, sortOrder: 7 });
    await addStrategy(call, name, { disabled: true, title: 'mine' }, 'production');
    await call('POST', `${environmentPath(name)}/on`);
    await call('PUT', `${FEATURES}/${name}/variants`, [{ name: 'a', weight: 1 }]);
    await call('PUT', `${FEATURES}/${name}`, { stale: true });
  }

  it('clones metadata, variants and strategies: with new ids, disabled everywhere and not stale', async () => {
    await makeSource('source');
    const { call } = server();
    const { body: before } = await call('GET', `${FEATURES}/source`);
    const { status, body } = await clone('source', { name: 'copy' });
    assert.equal(status, 201);
    const { body: after } = await call('GET', `${FEATURES}/copy`);
    assert.deepEqual(
      body,
      (({
        archivedAt: _,
        environments: __,
        children: ___,
        dependencies: ____,
        tags: _____,
        lifecycle: ______,
        favorite: _______,
        ...flag
      }) => flag)(after),
    );
    const comparable = (flag: typeof before) => ({
      ...flag,
      createdAt: '',
      name: '',
      lifecycle: { ...flag.lifecycle, enteredStageAt: '' },
      environments: flag.environments.map(
        (environment: { enabled: boolean; strategies: readonly object[] }) => ({
          ...environment,
          enabled: '',
          strategies: environment.strategies.map((strategy) => ({ ...strategy, id: '', featureName: '' })),
        }),
      ),
    });
    assert.deepEqual(comparable(after), comparable({ ...before, stale: false }));
    const flat = (flag: typeof before) =>
      flag.environments.flatMap(
        ({ strategies }: { strategies: { id: string; featureName: string }[] }) => strategies,
      );
    assert(after.environments.every(({ enabled }: { enabled: boolean }) => !enabled));
    for (const { id, featureName } of flat(after)) {
      assert.equal(featureName, 'copy');
      assert(!flat(before).some((strategy: { id: string }) => strategy.id === id));
    }
  });

  it('records the clone: the flag with its variants, then each strategy', async () => {
    await makeSource('recorded');
    const { response, events } = await recording(server(), () =>
      clone('recorded', { name: 'recorded-copy' }),
    );
    const { body: whole } = await server().call('GET', `${FEATURES}/recorded-copy`);
    const added = (environment: string, index: number, at: number) =>
      flagEvent('feature-strategy-add', 'recorded-copy', {
        environment,
        data: whole.environments[at].strategies[index],
      });
    assert.deepEqual(events, [
      flagEvent('feature-created', 'recorded-copy', { data: response.body }),
      added('development', 0, 0),
      added('development', 1, 0),
      added('production', 0, 1),
    ]);
    assert.equal(response.body.variants.length, 1);
  });

  it('rewrites group ids equal to the old name when asked to, and no others', async () => {
    await makeSource('grouped');
    for (const [replaceGroupId, expected] of [
      [true, 'regrouped'],
      [false, 'grouped'],
    ] as const) {
      const name = replaceGroupId ? 'regrouped' : 'as-grouped';
      await clone('grouped', { name, replaceGroupId });
      const { body } = await server().call('GET', `${FEATURES}/${name}`);
      const groups = body.environments[0].strategies.map(
        ({ parameters }: { parameters: { groupId: string } }) => parameters.groupId,
      );
      assert.deepEqual(groups, [expected, 'another']);
    }
  });

  it('leaves clone and source independent of each other', async () => {
    await makeSource('parent');
    const { call } = server();
    await clone('parent', { name: 'offspring' });
    await call('PUT', `${FEATURES}/offspring/variants`, []);
    assert.equal((await call('GET', `${FEATURES}/parent`)).body.variants.length, 1);
    await archive(call, 'parent');
    assert.equal((await call('GET', `${FEATURES}/offspring`)).body.archived, false);
  });

  it('refuses to clone under a name that is taken or cannot be one, or from an archived flag', async () => {
    await addProject(server(), 'neighbour');
    await makeFlag(server().call, 'model');
    const path = `${FEATURES}/model/clone`;
    for (const [body, pointer] of [
      [{}, '/body/name'],
      [{ name: 'no good' }, '/body/name'],
      [{ name: 5 }, '/body/name'],
      [{ name: 'good', replaceGroupId: 'yes' }, '/body/replaceGroupId'],
      [[], '/body'],
    ] as const) {
      await invalidAt(server(), pointer, { method: 'POST', path, body });
    }
    await refused(server(), 409, 'NameExistsError', { method: 'POST', path, body: { name: 'model' } });
    await archive(server().call, 'model');
    await refused(server(), 409, 'InvalidOperationError', { method: 'POST', path, body: { name: 'fresh' } });
    await refused(server(), 400, 'ValidationError', { method: 'POST', path, body: { name: '' } });
  });

  it('archives a flag once: again is accepted and records nothing', async () => {
    await makeFlag(server().call, 'ended');
    const first = await recording(server(), () => server().call('DELETE', `${FEATURES}/ended`));
    assert.equal(first.response.status, 202);
    assert.deepEqual(first.events, [flagEvent('feature-archived', 'ended')]);
    const { body } = await server().call('GET', `${FEATURES}/ended`);
    assert.equal(body.archived, true);
    assert.match(body.archivedAt, /Z$/);
    const second = await recording(server(), () => server().call('DELETE', `${FEATURES}/ended`));
    assert.deepEqual({ status: second.response.status, events: second.events }, { status: 202, events: [] });
    assert.equal((await server().call('GET', `${FEATURES}/ended`)).body.archivedAt, body.archivedAt);
  });

  it('refuses every write to an archived flag', async () => {
    await makeFlag(server().call, 'frozen');
    const strategy = await addStrategy(server().call, 'frozen');
    await archive(server().call, 'frozen');
    const flag = `${FEATURES}/frozen`;
    const inside = environmentPath('frozen');
    const writes = [
      ['PUT', flag, {}],
      ['PATCH', flag, []],
      ['POST', `${flag}/clone`, { name: 'thawed' }],
      ['POST', `${inside}/strategies`, { name: 'default' }],
      ['PUT', `${inside}/strategies/${strategy.id}`, { name: 'default' }],
      ['PATCH', `${inside}/strategies/${strategy.id}`, []],
      ['DELETE', `${inside}/strategies/${strategy.id}`],
      ['POST', `${inside}/on`],
      ['POST', `${inside}/off`],
      ['PUT', `${flag}/variants`, []],
      ['PATCH', `${flag}/variants`, []],
    ] as const;
    for (const [method, path, body] of writes) {
      await refused(server(), 409, 'InvalidOperationError', { method, path, body });
    }
  });

  it('ignores a body sent to an endpoint that takes none', async () => {
    await makeFlag(server().call, 'bodily');
    const options = { headers: { 'content-type': 'text/plain' } };
    assert.equal((await server().call('DELETE', `${FEATURES}/bodily`, 'not JSON', options)).status, 202);
  });
});
