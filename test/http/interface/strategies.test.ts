/** Endpoints 9–12: strategies of a flag in an environment (docs/specification/strategies.md). */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { StrategyData } from '../../../src/domain/flags/strategy.ts';
import { aboutFlagEnvironment } from '../../../src/domain/state/events.ts';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  environmentPath,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  type RefusedCall,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const strategiesOf = (flag: string, environment?: string) =>
  `${environmentPath(flag, environment)}/strategies`;

/** Everything that a client can send, as it comes back. */
const FULL = {
  name: 'flexibleRollout',
  title: 'Half of Norway',
  disabled: true,
  parameters: {
    rollout: 50,
    groupId: 'g',
    stickiness: 'userId',
    nested: { list: [1, '1', null] },
    constructor: 1,
  },
  constraints: [
    { contextName: 'country', operator: 'IN', caseInsensitive: false, inverted: true, values: ['NO'] },
    {
      contextName: 'age',
      operator: 'NUM_GTE',
      caseInsensitive: false,
      inverted: false,
      values: [],
      value: '18',
    },
  ],
  variants: [{ name: 'v', weight: 1000, weightType: 'variable', stickiness: 'userId', overrides: [] }],
  segments: [3, 1],
  sortOrder: 4,
};

describeInterface('strategies', (server) => {
  before(async () => {
    for (const name of ['first', 'second', 'third']) {
      assert.equal((await server().call('POST', '/segments', { name, constraints: [] })).status, 201);
    }
  });

  it('adds a strategy with its defaults, and records it', async () => {
    await makeFlag(server().call, 'plain');
    const { response, events } = await recording(server(), () =>
      server().call('POST', strategiesOf('plain'), { name: 'default' }),
    );
    const { id, ...fields } = response.body;
    assert.match(id, UUID);
    assert.deepEqual(
      { status: response.status, ...fields },
      {
        status: 200,
        name: 'default',
        title: null,
        disabled: false,
        constraints: [],
        parameters: {},
        variants: [],
        segments: [],
        sortOrder: 0,
        featureName: 'plain',
      },
    );
    assert.deepEqual(events, [
      flagEvent('feature-strategy-add', 'plain', { environment: 'development', data: response.body }),
    ]);
    const { body: flag } = await server().call('GET', `${FEATURES}/plain`);
    assert.deepEqual(flag.environments[0].strategies, [response.body]);
    assert.deepEqual(flag.environments[1].strategies, []);
  });

  it('keeps all that is sent as it is sent, and nothing that it does not know', async () => {
    await makeFlag(server().call, 'full');
    const { id, ...kept } = await addStrategy(server().call, 'full', { ...FULL, unknown: 1, id: 'mine' });
    assert.deepEqual(kept, { ...FULL, featureName: 'full' });
    assert.match(id, UUID);
  });

  it('keeps null for a title, for disabled and for parameters', async () => {
    await makeFlag(server().call, 'nullish');
    const nulls = { title: null, disabled: null, parameters: null };
    const strategy = await addStrategy(server().call, 'nullish', nulls);
    assert.deepEqual({ ...strategy, ...nulls }, strategy);
  });

  it('puts a strategy after the others, and lists them by their sort order', async () => {
    await makeFlag(server().call, 'sorted');
    const orders = [undefined, 10, undefined, -1, 10];
    for (const [index, sortOrder] of orders.entries()) {
      await addStrategy(server().call, 'sorted', { title: `${index}`, sortOrder });
    }
    const { body } = await server().call('GET', `${FEATURES}/sorted`);
    const listed = body.environments[0].strategies.map(
      ({ title, sortOrder }: { title: string; sortOrder: number }) => [title, sortOrder],
    );
    assert.deepEqual(listed, [
      ['3', -1],
      ['0', 0],
      ['1', 10],
      ['4', 10],
      ['2', 11],
    ]);
  });

  it('replaces a strategy whole: what is left out goes back to its default, id and sort order stay', async () => {
    await makeFlag(server().call, 'replaced');
    const before = await addStrategy(server().call, 'replaced', FULL);
    const path = `${strategiesOf('replaced')}/${before.id}`;
    const { response, events } = await recording(server(), () =>
      server().call('PUT', path, { name: 'default', id: 'mine', featureName: 'another' }),
    );
    assert.deepEqual(response.body, {
      id: before.id,
      name: 'default',
      title: null,
      disabled: false,
      constraints: [],
      parameters: {},
      variants: [],
      segments: [],
      sortOrder: 4,
      featureName: 'replaced',
    });
    assert.deepEqual(events, [
      flagEvent('feature-strategy-update', 'replaced', {
        environment: 'development',
        data: response.body,
        preData: before,
      }),
    ]);
    const { body: moved } = await server().call('PUT', path, { name: 'default', sortOrder: 9 });
    assert.equal(moved.sortOrder, 9);
  });

  it('records nothing when a strategy is replaced or patched by what it is already', async () => {
    await makeFlag(server().call, 'same');
    const { id, featureName: _, ...fields } = await addStrategy(server().call, 'same', FULL);
    const path = `${strategiesOf('same')}/${id}`;
    for (const [method, body] of [
      ['PUT', fields],
      ['PATCH', [{ op: 'replace', path: '/title', value: fields.title }]],
      ['PATCH', []],
    ] as const) {
      const { response, events } = await recording(server(), () => server().call(method, path, body));
      assert.deepEqual({ status: response.status, events }, { status: 200, events: [] });
    }
  });

  it('patches a strategy, in one event', async () => {
    await makeFlag(server().call, 'patched');
    const before = await addStrategy(server().call, 'patched', FULL);
    const path = `${strategiesOf('patched')}/${before.id}`;
    const { response, events } = await recording(server(), () =>
      server().call('PATCH', path, [
        { op: 'replace', path: '/parameters/rollout', value: 75 },
        { op: 'remove', path: '/constraints/0' },
        { op: 'remove', path: '/title' },
      ]),
    );
    const after = {
      ...before,
      title: null,
      parameters: { ...before.parameters, rollout: 75 },
      constraints: [before.constraints[1]],
    };
    assert.deepEqual({ status: response.status, body: response.body }, { status: 200, body: after });
    assert.deepEqual(events, [
      flagEvent('feature-strategy-update', 'patched', {
        environment: 'development',
        data: after,
        preData: before,
      }),
    ]);
  });

  it('removes a strategy, with its event, and leaves the others', async () => {
    await makeFlag(server().call, 'shrinking');
    const gone = await addStrategy(server().call, 'shrinking');
    const kept = await addStrategy(server().call, 'shrinking');
    const { response, events } = await recording(server(), () =>
      server().call('DELETE', `${strategiesOf('shrinking')}/${gone.id}`),
    );
    assert.equal(response.status, 200);
    assert.deepEqual(events, [
      flagEvent('feature-strategy-remove', 'shrinking', { environment: 'development', preData: gone }),
    ]);
    const { body } = await server().call('GET', `${FEATURES}/shrinking`);
    assert.deepEqual(body.environments[0].strategies, [kept]);
  });

  it('disables an enabled environment with its last strategy, in the same step', async () => {
    await makeFlag(server().call, 'emptied');
    const { id } = await addStrategy(server().call, 'emptied');
    await server().call('POST', `${environmentPath('emptied')}/on`);
    const { events } = await recording(server(), () =>
      server().call('DELETE', `${strategiesOf('emptied')}/${id}`),
    );
    assert.deepEqual(
      events.map(({ type, environment }) => [type, environment]),
      [
        ['feature-strategy-remove', 'development'],
        ['feature-environment-disabled', 'development'],
      ],
    );
    const { body } = await server().call('GET', `${FEATURES}/emptied`);
    assert.equal(body.environments[0].enabled, false);
  });

  it('does not find what a path names wrongly, whichever part it is', async () => {
    await addProject(server(), 'production-only', ['production']);
    await server().call('POST', '/projects/production-only/features', { name: 'single' });
    await makeFlag(server().call, 'lost');
    const { id } = await addStrategy(server().call, 'lost');
    const other = await addStrategy(server().call, 'lost', {}, 'production');
    const single = '/projects/production-only/features/single/environments/development/strategies';
    const collections = [strategiesOf('nobody'), strategiesOf('lost', 'staging'), single];
    const items = [
      ...collections.map((path) => `${path}/${id}`),
      `${strategiesOf('lost')}/${other.id}`,
      `${strategiesOf('lost')}/00000000-0000-4000-8000-000000000000`,
      `${strategiesOf('lost')}/no-uuid`,
    ];
    const body = { name: 'default' };
    const calls: RefusedCall[] = [
      ...collections.map((path) => ({ method: 'POST', path, body })),
      ...items.flatMap((path) => [
        { method: 'PUT', path, body },
        { method: 'PATCH', path, body: [] },
        { method: 'DELETE', path },
      ]),
    ];
    for (const call of calls) await refused(server(), 404, 'NotFoundError', call);
  });

  it('refuses a strategy that breaks a rule, on adding and on replacing', async () => {
    await makeFlag(server().call, 'ruled');
    const { id } = await addStrategy(server().call, 'ruled');
    const path = strategiesOf('ruled');
    for (const [fields, pointer] of BROKEN) {
      const body = { name: 'default', ...fields };
      await invalidAt(server(), `/body${pointer}`, { method: 'POST', path, body });
      await invalidAt(server(), `/body${pointer}`, { method: 'PUT', path: `${path}/${id}`, body });
    }
    for (const body of [{}, { name: null }, [], null]) {
      await refused(server(), 400, 'ValidationError', { method: 'POST', path, body });
    }
  });

  it('takes every percentage, as a number or as its text, and looks at no other kind of strategy', async () => {
    await makeFlag(server().call, 'rolled');
    for (const rollout of [0, 100, '0', '100', '12.5', 33.3]) {
      const { parameters } = await addStrategy(server().call, 'rolled', {
        name: 'flexibleRollout',
        parameters: { rollout },
      });
      assert.deepEqual(parameters, { rollout });
    }
    await addStrategy(server().call, 'rolled', { name: 'default', parameters: { rollout: 500 } });
    await addStrategy(server().call, 'rolled', { name: 'flexibleRollout', parameters: {} });
  });

  it('keeps strategies that were recorded before a rule, and lets everything else of them be changed', async () => {
    await makeFlag(server().call, 'old');
    const old: StrategyData = {
      id: '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f',
      name: 'flexibleRollout',
      title: null,
      disabled: false,
      constraints: [
        { contextName: 'c', operator: 'IN', caseInsensitive: false, inverted: false, values: [] },
      ],
      parameters: { rollout: 150 },
      variants: [],
      segments: [],
      sortOrder: 0,
      featureName: 'old',
    };
    await server().server.store.engine.record({ name: 'test', userId: -1 }, [
      {
        type: 'feature-strategy-add',
        ...aboutFlagEnvironment({ name: 'old', project: 'default' }, 'development'),
        data: old,
        preData: null,
      },
    ]);
    await server().restart();
    const path = `${strategiesOf('old')}/${old.id}`;
    const patch = [{ op: 'replace', path: '/title', value: 'patched' }];
    assert.equal((await server().call('PATCH', path, patch)).status, 200);
    const { body } = await server().call('GET', path);
    const put = await server().call('PUT', path, { ...body, title: 'put' });
    assert.deepEqual(put.body, { ...old, title: 'put' });
    await invalidAt(server(), '/body/parameters/rollout', {
      method: 'PUT',
      path,
      body: { ...body, parameters: { rollout: 151 } },
    });
  });

  it('refuses a patch whose result breaks a rule, blaming the operation', async () => {
    await makeFlag(server().call, 'patch-ruled');
    const { id } = await addStrategy(server().call, 'patch-ruled', FULL);
    const path = `${strategiesOf('patch-ruled')}/${id}`;
    const noop = { op: 'test', path: '/name', value: FULL.name };
    const bad = [
      { op: 'replace', path: '/id', value: '00000000-0000-4000-8000-000000000000' },
      { op: 'remove', path: '/id' },
      { op: 'replace', path: '/featureName', value: 'another' },
      { op: 'replace', path: '/name', value: '' },
      { op: 'remove', path: '/name' },
      { op: 'replace', path: '/parameters', value: [] },
      { op: 'replace', path: '/constraints/1/value', value: 'many' },
      { op: 'remove', path: '/constraints/1/value' },
      { op: 'remove', path: '/variants/0/stickiness' },
      { op: 'replace', path: '/variants/0/weightType', value: 'fix' },
      { op: 'replace', path: '/sortOrder', value: 'first' },
      { op: 'add', path: '/constraints/3', value: {} },
      { op: 'replace', path: '/constraints/0/values', value: [] },
      { op: 'replace', path: '/parameters/rollout', value: 101 },
      { op: 'replace', path: '', value: null },
    ];
    for (const operation of bad) {
      await invalidAt(server(), '/body/1', { method: 'PATCH', path, body: [noop, operation] });
    }
    await refused(server(), 409, 'InvalidOperationError', {
      method: 'PATCH',
      path,
      body: [{ op: 'test', path: '/name', value: 'other' }],
    });
  });
});

const constraint = (fields: object) => ({ constraints: [{ contextName: 'c', ...fields }] });
const single = (operator: string, value?: string) => constraint({ operator, value });
const variant = (fields: object) => ({
  variants: [{ name: 'v', weight: 0, stickiness: 'default', ...fields }],
});

/** Fields that break a rule, and where. */
const BROKEN: readonly (readonly [object, string])[] = [
  [{ name: '' }, '/name'],
  [{ name: 'n'.repeat(101) }, '/name'],
  [{ name: 5 }, '/name'],
  [{ title: 5 }, '/title'],
  [{ disabled: 'no' }, '/disabled'],
  [{ parameters: [] }, '/parameters'],
  [{ parameters: 'x' }, '/parameters'],
  [{ segments: [1.5] }, '/segments/0'],
  [{ segments: ['1'] }, '/segments/0'],
  [{ segments: 1 }, '/segments'],
  [{ sortOrder: '1' }, '/sortOrder'],
  [{ sortOrder: null }, '/sortOrder'],
  [{ constraints: {} }, '/constraints'],
  [{ constraints: null }, '/constraints'],
  [constraint({}), '/constraints/0/operator'],
  [constraint({ operator: 'EQUALS' }), '/constraints/0/operator'],
  [constraint({ operator: 'IN' }), '/constraints/0/values'],
  ...['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'].map(
    (operator) => [constraint({ operator, values: [] }), '/constraints/0/values'] as const,
  ),
  [constraint({ operator: 'IN', values: ['', ''] }), '/constraints/0/values'],
  ...[-1, 100.5, '101', 'half', '', true, null, []].map(
    (rollout) => [{ name: 'flexibleRollout', parameters: { rollout } }, '/parameters/rollout'] as const,
  ),
  [{ name: 'gradualRolloutUserId', parameters: { percentage: '200' } }, '/parameters/percentage'],
  [constraint({ operator: 'IN', values: [1] }), '/constraints/0/values/0'],
  [constraint({ operator: 'IN', values: 'x' }), '/constraints/0/values'],
  [constraint({ operator: 'IN', values: [], contextName: 5 }), '/constraints/0/contextName'],
  [constraint({ operator: 'IN', values: [], inverted: 'x' }), '/constraints/0/inverted'],
  [constraint({ operator: 'IN', values: [], caseInsensitive: 1 }), '/constraints/0/caseInsensitive'],
  [constraint({ operator: 'IN', values: [], contextName: '' }), '/constraints/0/contextName'],
  [constraint({ operator: 'num_gt', value: '5' }), '/constraints/0/operator'],
  [constraint({ operator: 'NUM_GT', value: 5 }), '/constraints/0/value'],
  [constraint({ operator: 'NUM_GT', value: null }), '/constraints/0/value'],
  [single('NUM_EQ'), '/constraints/0/value'],
  [single('NUM_LT', 'many'), '/constraints/0/value'],
  [single('NUM_GT', ' 1'), '/constraints/0/value'],
  [single('DATE_AFTER', 'yesterday'), '/constraints/0/value'],
  [single('DATE_BEFORE', '2024-02-30T00:00:00Z'), '/constraints/0/value'],
  [single('SEMVER_EQ', '1.2'), '/constraints/0/value'],
  [single('SEMVER_GT', 'v1.2.3'), '/constraints/0/value'],
  [variant({ stickiness: undefined }), '/variants/0/stickiness'],
  [variant({ weightType: 'fix' }), '/variants'],
  [variant({ weight: 1001 }), '/variants/0/weight'],
  [variant({ weight: -1 }), '/variants/0/weight'],
  [variant({ weight: 0.5 }), '/variants/0/weight'],
  [variant({ weight: '5' }), '/variants/0/weight'],
  [variant({ payload: { type: 'json', value: '{' } }), '/variants/0/payload/value'],
];
