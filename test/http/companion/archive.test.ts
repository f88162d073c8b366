/** The archive, and changes to many flags at once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BULK_FLAGS_MAX } from '../../../src/http/admin/bodies.ts';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  archive,
  environmentPath,
  FEATURES,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';

const BULK = ['archive', 'revive', 'delete', 'stale'] as const;

describeInterface('the archive', (server) => {
  const archived = async (project = '') =>
    (await server().call('GET', `/archive/features${project}`)).body.features.map(
      (flag: { name: string }) => flag.name,
    );

  it('lists archived flags, of all projects or of one, each with when it was archived', async () => {
    const { call } = server();
    await addProject(server(), 'other');
    await makeFlag(call, 'here', { description: 'of the flag', type: 'experiment' });
    await makeFlag(call, 'active');
    await call('POST', '/projects/other/features', { name: 'there' });
    await archive(call, 'here');
    await call('DELETE', '/projects/other/features/there');
    assert.deepEqual(await archived(), ['here', 'there']);
    assert.deepEqual(await archived('/default'), ['here']);
    const { body } = await call('GET', '/archive/features/default');
    assert.equal(body.version, 2);
    const [{ archivedAt, archived: isArchived, description }] = body.features;
    assert.deepEqual([isArchived, description], [true, 'of the flag']);
    assert.equal((await call('GET', `${FEATURES}/here`)).body.archivedAt, archivedAt);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/archive/features/nowhere' });
  });

  it('gives a flag back as it was, but disabled everywhere', async () => {
    const { call } = server();
    await makeFlag(call, 'back');
    await addStrategy(call, 'back');
    await call('POST', `${environmentPath('back')}/on`);
    await call('POST', '/features/back/tags', { type: 'simple', value: 'kept' });
    const before = await call('GET', `${FEATURES}/back`);
    await archive(call, 'back');
    const { response, events } = await recording(server(), () => call('POST', '/archive/revive/back'));
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type, featureName, environment }) => [type, featureName, environment]),
      [
        ['feature-revived', 'back', null],
        ['feature-environment-disabled', 'back', 'development'],
      ],
    );
    const after = await call('GET', `${FEATURES}/back`);
    assert.equal(before.body.environments[0].enabled, true);
    const [development, ...others] = before.body.environments;
    assert.deepEqual(after.body, {
      ...before.body,
      environments: [{ ...development, enabled: false }, ...others],
    });
    const again = await recording(server(), () => call('POST', '/archive/revive/back'));
    assert.deepEqual(again.events, [], 'reviving an active flag records nothing');
    await refused(server(), 404, 'NotFoundError', { method: 'POST', path: '/archive/revive/nowhere' });
  });

  it('disables each of many flags that are revived together', async () => {
    const { call } = server();
    for (const name of ['lit.one', 'lit.two', 'unlit']) {
      await makeFlag(call, name);
      await addStrategy(call, name);
      if (name !== 'unlit') await call('POST', `${environmentPath(name)}/on`);
    }
    const features = ['lit.one', 'unlit', 'lit.two'];
    await call('POST', '/projects/default/archive', { features });
    const { events } = await recording(server(), () =>
      call('POST', '/projects/default/revive', { features }),
    );
    assert.deepEqual(
      events.map(({ type, featureName }) => `${type} ${featureName}`),
      [
        'feature-revived lit.one',
        'feature-environment-disabled lit.one',
        'feature-revived unlit',
        'feature-revived lit.two',
        'feature-environment-disabled lit.two',
      ],
    );
    for (const name of features) {
      const { body } = await call('GET', `${FEATURES}/${name}`);
      assert.deepEqual(
        body.environments.map(({ enabled }: { enabled: boolean }) => enabled),
        [false, false],
      );
    }
  });

  it('keeps names taken until the flag is deleted for good', async () => {
    const { call } = server();
    const before = await makeFlag(call, 'once');
    const deletion = { method: 'DELETE', path: '/archive/once' } as const;
    await refused(server(), 409, 'InvalidOperationError', deletion);
    await archive(call, 'once');
    const creation = { method: 'POST', path: FEATURES, body: { name: 'once' } } as const;
    await refused(server(), 409, 'NameExistsError', creation);
    await refused(server(), 409, 'NameExistsError', {
      method: 'POST',
      path: '/features/validate',
      body: { name: 'once' },
    });
    const { response, events } = await recording(server(), () => call('DELETE', '/archive/once'));
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type, preData }) => [type, preData]),
      [['feature-deleted', { ...before, archived: true }]],
    );
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: `${FEATURES}/once` });
    await refused(server(), 404, 'NotFoundError', deletion);
    assert.equal((await call('POST', '/features/validate', { name: 'once' })).status, 200);
    await server().restart();
    assert.equal((await server().call('POST', FEATURES, { name: 'once' })).status, 201);
  });
});

describeInterface('many flags at once', (server) => {
  const bulk = (what: string, features: readonly string[], fields: object = {}) =>
    server().call('POST', `/projects/default/${what}`, { features, ...fields });
  const typesAndFlags = (events: readonly { type: string; featureName: string }[]) =>
    events.map(({ type, featureName }) => [type, featureName]);

  it('are checked before they are archived: which have other children, and whether dependencies go', async () => {
    for (const name of ['c.parent', 'c.child', 'c.alone']) await makeFlag(server().call, name);
    await server().call('POST', `${FEATURES}/c.child/dependencies`, { feature: 'c.parent' });
    const { response, events } = await recording(server(), async () => {
      for (const [features, parentsWithChildFeatures, hasDeletedDependencies] of [
        [['c.alone'], [], false],
        [['c.parent', 'c.alone'], ['c.parent'], false],
        [['c.child'], [], true],
        [['c.parent', 'c.child'], [], true],
      ] as const) {
        const { status, body } = await bulk('archive/validate', features);
        assert.equal(status, 200);
        assert.deepEqual(body, { parentsWithChildFeatures, hasDeletedDependencies });
      }
      return bulk('archive', ['c.parent', 'c.alone']);
    });
    assert.deepEqual([response.status, events], [409, []]);
    await refused(server(), 404, 'NotFoundError', {
      method: 'POST',
      path: '/projects/default/archive/validate',
      body: { features: ['nowhere'] },
    });
  });

  it('are marked as stale, archived, revived and deleted, each in one step with an event per flag', async () => {
    for (const name of ['m1', 'm2', 'm3']) await makeFlag(server().call, name);
    await bulk('stale', ['m2'], { stale: true });
    const steps = [
      ['stale', 'feature-stale-on', 202, ['m1', 'm3'], { stale: true }],
      ['stale', 'feature-stale-off', 202, ['m1', 'm2', 'm3'], { stale: false }],
      ['archive', 'feature-archived', 202, ['m1', 'm2', 'm3'], {}],
      ['revive', 'feature-revived', 200, ['m1', 'm2', 'm3'], {}],
      ['archive', 'feature-archived', 202, ['m1', 'm2', 'm3'], {}],
      ['delete', 'feature-deleted', 200, ['m1', 'm2', 'm3'], {}],
    ] as const;
    for (const [what, type, status, changed, fields] of steps) {
      const { response, events } = await recording(server(), () =>
        bulk(what, ['m1', 'm2', 'm3', 'm1'], fields),
      );
      assert.equal(response.status, status);
      assert.deepEqual(
        typesAndFlags(events),
        changed.map((name) => [type, name]),
      );
    }
  });

  it('are not changed at all when one of them does not exist, and the response names it', async () => {
    await makeFlag(server().call, 'known');
    for (const what of BULK) {
      const { body } = await refused(server(), 404, 'NotFoundError', {
        method: 'POST',
        path: `/projects/default/${what}`,
        body: { features: ['known', 'unknown'], stale: true },
      });
      assert.match(body.message, /"unknown"/);
      assert.equal(body.details[0].path, '/body/features/1');
    }
  });

  it('are not changed at all when one of them is in another project, or in the wrong state', async () => {
    const { call } = server();
    await addProject(server(), 'elsewhere');
    await call('POST', '/projects/elsewhere/features', { name: 'foreign' });
    for (const name of ['gone', 'active']) await makeFlag(call, name);
    await archive(call, 'gone');
    const asked = (what: string, features: readonly string[]) =>
      ({ method: 'POST', path: `/projects/default/${what}`, body: { features, stale: true } }) as const;
    await refused(server(), 404, 'NotFoundError', asked('archive', ['active', 'foreign']));
    await refused(server(), 409, 'InvalidOperationError', asked('delete', ['gone', 'active']));
    await refused(server(), 409, 'InvalidOperationError', asked('stale', ['active', 'gone']));
    const { events } = await recording(server(), () => bulk('archive', ['gone', 'active']));
    assert.deepEqual(typesAndFlags(events), [['feature-archived', 'active']]);
  });

  it('are archived with their children, in whichever order they are named', async () => {
    const { call } = server();
    for (const order of [
      ['parent', 'child1', 'child2'],
      ['child2', 'parent', 'child1'],
    ]) {
      for (const name of order) await makeFlag(call, name);
      for (const child of ['child1', 'child2']) {
        await call('POST', `${FEATURES}/${child}/dependencies`, { feature: 'parent' });
      }
      const { body } = await refused(server(), 409, 'InvalidOperationError', {
        method: 'POST',
        path: '/projects/default/archive',
        body: { features: ['parent', 'child1'] },
      });
      assert.match(body.message, /"child2"/);
      const { events } = await recording(server(), () => bulk('archive', order));
      assert.deepEqual(typesAndFlags(events).at(-1), ['feature-archived', 'parent']);
      assert.equal(events.length, 5);
      await bulk('revive', order);
      const { body: parent } = await call('GET', `${FEATURES}/parent`);
      assert.deepEqual(parent.children, [], 'an archived flag gives up its parents');
      await bulk('archive', order);
      await bulk('delete', order);
    }
  });

  it('are between one and a limit', async () => {
    const path = '/projects/default/archive';
    const tooMany = Array.from({ length: BULK_FLAGS_MAX + 1 }, (_, index) => `f${index}`);
    for (const features of [[], tooMany, 'known']) {
      await invalidAt(server(), '/body/features', { method: 'POST', path, body: { features } });
    }
    const names = tooMany.slice(1);
    for (const name of names) await makeFlag(server().call, name);
    assert.equal((await bulk('archive', names)).status, 202);
    assert.equal((await bulk('delete', names)).status, 200);
    await invalidAt(server(), '/body/stale', {
      method: 'POST',
      path: '/projects/default/stale',
      body: { features: ['f1'] },
    });
  });

  it('comes in pages, which put end to end give every flag once', async () => {
    const { call } = server();
    for (const name of ['page-1', 'page-2', 'page-3']) {
      await makeFlag(call, name);
      await archive(call, name);
    }
    const all = (await call('GET', '/archive/features')).body;
    assert.equal(all.nextOffset, undefined);
    const names: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const { body }: ReceivedResponse = await call('GET', `/archive/features?limit=2&offset=${offset}`);
      assert(body.features.length <= 2);
      names.push(...body.features.map(({ name }: { name: string }) => name));
      offset = body.nextOffset;
    }
    assert.deepEqual(
      names,
      all.features.map(({ name }: { name: string }) => name),
    );
    await refused(server(), 400, 'ValidationError', { method: 'GET', path: '/archive/features?limit=1001' });
  });
});
