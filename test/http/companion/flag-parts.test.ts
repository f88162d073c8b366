/** Parts of a flag read by themselves, strategies in order, variants of one environment, and lists about flags. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EVENT_TYPES } from '../../../src/domain/state/event-types.ts';
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

describeInterface('a flag in one environment', (server) => {
  it('is read whole, and each of its strategies by itself', async () => {
    const { call } = server();
    await makeFlag(call, 'whole');
    const path = environmentPath('whole');
    const empty = (await call('GET', path)).body;
    assert.deepEqual(
      [empty.hasStrategies, empty.hasEnabledStrategies, empty.variantCount],
      [false, false, 0],
    );
    const off = await addStrategy(call, 'whole', { disabled: true });
    assert.equal((await call('GET', path)).body.hasEnabledStrategies, false);
    const on = await addStrategy(call, 'whole', { parameters: { constructor: 'kept', rollout: 5 } });
    await call('PUT', `${path}/variants`, [{ name: 'only', weight: 1 }]);
    const { body } = await call('GET', path);
    assert.deepEqual(body.strategies, [off, on]);
    assert.deepEqual(
      [body.featureName, body.environment, body.type, body.sortOrder, body.hasEnabledStrategies],
      ['whole', 'development', 'development', 1, true],
    );
    assert.deepEqual([body.variantCount, body.variants[0].weight], [1, 1000]);
    assert.deepEqual((await call('GET', `${path}/strategies`)).body, [off, on]);
    assert.deepEqual((await call('GET', `${path}/strategies/${on.id}`)).body, on);
    const production = environmentPath('whole', 'production');
    assert.deepEqual((await call('GET', `${production}/strategies`)).body, []);
    for (const missing of [
      environmentPath('whole', 'nowhere'),
      environmentPath('nowhere'),
      `${production}/strategies/${on.id}`,
      `${path}/strategies/set-sort-order`,
      `${environmentPath('whole', 'nowhere')}/strategies`,
      `${environmentPath('whole', 'nowhere')}/variants`,
      `${FEATURES}/nowhere/variants`,
    ]) {
      await refused(server(), 404, 'NotFoundError', { method: 'GET', path: missing });
    }
  });

  it('has its strategies put in order: those named move, the others keep their place', async () => {
    const { call } = server();
    await makeFlag(call, 'sorted');
    const [a, b, c] = [
      await addStrategy(call, 'sorted'),
      await addStrategy(call, 'sorted'),
      await addStrategy(call, 'sorted'),
    ];
    const path = `${environmentPath('sorted')}/strategies`;
    const order = [
      { id: c.id, sortOrder: -1 },
      { id: a.id, sortOrder: 7.5 },
    ];
    const { response, events } = await recording(server(), () =>
      call('POST', `${path}/set-sort-order`, order),
    );
    assert.equal(response.status, 200);
    const orders = (...values: readonly number[]) => ({
      strategies: [a, b, c].map(({ id }, index) => ({ id, sortOrder: values[index] })),
    });
    assert.deepEqual(events, [
      flagEvent('strategy-order-changed', 'sorted', {
        environment: 'development',
        data: orders(7.5, 1, -1),
        preData: orders(0, 1, 2),
      }),
    ]);
    const ids = async () => (await call('GET', path)).body.map((one: { id: string }) => one.id);
    assert.deepEqual(await ids(), [c.id, b.id, a.id]);
    const again = await recording(server(), () => call('POST', `${path}/set-sort-order`, order));
    assert.deepEqual(again.events, []);
    const sorting = (body: unknown) => ({ method: 'POST', path: `${path}/set-sort-order`, body }) as const;
    const unknown = [
      { id: b.id, sortOrder: 1 },
      { id: 'unknown', sortOrder: 2 },
    ];
    const missing = await refused(server(), 404, 'NotFoundError', sorting(unknown));
    assert.equal(missing.body.details[0].path, '/body/1/id');
    await invalidAt(server(), '/body/0/sortOrder', sorting([{ id: b.id, sortOrder: '1' }]));
    await archive(call, 'sorted');
    await refused(server(), 409, 'InvalidOperationError', sorting([{ id: b.id, sortOrder: 9 }]));
  });

  it('has variants of its own; those of the first environment stand for the flag', async () => {
    const { call } = server();
    await makeFlag(call, 'varied');
    const names = async (path: string) =>
      (await call('GET', path)).body.variants.map((one: { name: string }) => one.name);
    const [development, production] = [
      `${environmentPath('varied')}/variants`,
      `${environmentPath('varied', 'production')}/variants`,
    ];
    const put = await recording(server(), () => call('PUT', production, [{ name: 'p', weight: 1 }]));
    const [variant] = put.response.body.variants;
    assert.deepEqual(put.events, [
      flagEvent('feature-environment-variants-updated', 'varied', {
        environment: 'production',
        data: { variants: [variant] },
        preData: { variants: [] },
      }),
    ]);
    assert.deepEqual([await names(`${FEATURES}/varied/variants`), await names(development)], [[], []]);
    const patch = [{ op: 'add', path: '/0', value: { name: 'd', weight: 1 } }];
    assert.equal((await call('PATCH', development, patch)).status, 200);
    assert.deepEqual(await names(`${FEATURES}/varied/variants`), ['d']);
    assert.deepEqual(await names(production), ['p']);
    const same = await recording(server(), () => call('PUT', production, [variant]));
    assert.deepEqual(same.events, []);
    const rules = { method: 'PUT', path: production, body: [{ name: 'f', weight: 9, weightType: 'fix' }] };
    await refused(server(), 400, 'ValidationError', rules);
    const bad = { method: 'PATCH', path: production, body: [{ op: 'remove', path: '/5' }] } as const;
    await invalidAt(server(), '/body/0', bad);
    assert.deepEqual((await call('PUT', production, [])).body, { version: '1', variants: [] });
  });
});

describeInterface('what is told about flags in general', (server) => {
  it('are the types of flags with their lifetimes, and the types of events', async () => {
    const { body } = await server().call('GET', '/feature-types');
    assert.deepEqual(
      body.types.map((type: { id: string; lifetimeDays: number | null }) => [type.id, type.lifetimeDays]),
      [
        ['release', 40],
        ['kill-switch', null],
        ['experiment', 40],
        ['operational', 7],
        ['permission', null],
      ],
    );
    assert.deepEqual((await server().call('GET', '/event-types')).body.types, EVENT_TYPES);
  });

  it('is whether a name can be had', async () => {
    const { call } = server();
    await makeFlag(call, 'had');
    const validate = (body: object) => ({ method: 'POST', path: '/features/validate', body }) as const;
    for (const body of [{ name: 'free' }, { name: 'free', projectId: 'default' }]) {
      assert.equal((await call('POST', '/features/validate', body)).status, 200);
    }
    await refused(server(), 409, 'NameExistsError', validate({ name: 'had' }));
    await refused(server(), 404, 'NotFoundError', validate({ name: 'free', projectId: 'nowhere' }));
    await invalidAt(server(), '/body/name', validate({ name: 'no name' }));
    await invalidAt(server(), '/body/name', validate({}));
    assert.equal((await call('GET', `${FEATURES}/validate`)).status, 404);
    await makeFlag(call, 'validate');
    assert.equal((await call('GET', `${FEATURES}/validate`)).body.name, 'validate');
  });

  it('is whether a strategy can have a constraint', async () => {
    const validate = (body: object) => ({ method: 'POST', path: '/constraints/validate', body }) as const;
    const constraint = { contextName: 'userId', operator: 'IN', values: ['7'] };
    assert.equal((await server().call('POST', '/constraints/validate', constraint)).status, 204);
    for (const values of [[], ['']])
      await invalidAt(server(), '/body/values', validate({ ...constraint, values }));
    await invalidAt(server(), '/body/value', validate({ ...constraint, operator: 'NUM_EQ', value: 'many' }));
    await invalidAt(server(), '/body/operator', validate({ ...constraint, operator: 'LIKE' }));
  });

  it('are the events, newest first, of all, of a project or of a flag, in pages', async () => {
    const { call } = server();
    await addProject(server(), 'apart');
    await call('POST', '/projects/apart/features', { name: 'logged' });
    for (const stale of [true, false, true]) {
      await call('PUT', '/projects/apart/features/logged', { stale });
    }
    const all = (await call('GET', '/events')).body;
    const search = (await call('POST', '/events/search', {})).body;
    assert.deepEqual(all, search);
    const ofFlag = (await call('GET', '/events/logged')).body;
    assert.deepEqual([ofFlag.toggleName, ofFlag.totalEvents, ofFlag.events.length], ['logged', 7, 7]);
    assert.equal(ofFlag.events.at(-1).type, 'feature-created');
    const ofProject = (await call('GET', '/events?project=apart&limit=3')).body;
    assert.deepEqual([ofProject.totalEvents, ofProject.events.length], [9, 3]);
    const offset = ofFlag.events[2].id;
    const page = (await call('GET', `/events/logged?limit=2&offset=${offset}`)).body;
    assert.deepEqual(page.events, ofFlag.events.slice(2, 4));
    assert.deepEqual((await call('GET', '/events/nowhere')).body.events, []);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=-1', 'offset=-1', 'offset=1.5']) {
      await refused(server(), 400, 'ValidationError', { method: 'GET', path: `/events?${query}` });
    }
  });

  it('is still the log of a flag that was deleted', async () => {
    const { call } = server();
    await makeFlag(call, 'gone');
    await archive(call, 'gone');
    await call('DELETE', '/archive/gone');
    const { events } = (await call('GET', '/events/gone')).body;
    assert.deepEqual(
      events.map((event: { type: string }) => event.type),
      ['feature-deleted', 'feature-archived', 'feature-created'],
    );
  });
});
