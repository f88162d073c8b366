/** Endpoints 15 and 16: the variants of a flag, in all environments at once (docs/specification/variants.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { FEATURES, flagEvent, invalidAt, makeFlag, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const pathOf = (flag: string) => `${FEATURES}/${flag}/variants`;
const variable = (name: string, fields: object = {}) => ({
  name,
  weight: 0,
  weightType: 'variable',
  ...fields,
});
const fix = (name: string, weight: number) => ({ name, weight, weightType: 'fix' });

interface Weighed {
  readonly name: string;
  readonly weight: number;
}

describeInterface('variants', (server) => {
  const put = (flag: string, body: unknown) => server().call('PUT', pathOf(flag), body);
  const patch = (flag: string, body: unknown) => server().call('PATCH', pathOf(flag), body);
  const weights = (variants: readonly Weighed[]) => variants.map(({ weight }) => weight);

  it('replaces the variants whole, keeps their order and records the change', async () => {
    await makeFlag(server().call, 'varied');
    const sent = {
      name: 'z',
      weight: 3,
      weightType: 'variable',
      stickiness: 'userId',
      payload: { type: 'json', value: '{"a":1}' },
      overrides: [{ contextName: 'userId', values: ['1', '2'] }],
    };
    const { response, events } = await recording(server(), () =>
      put('varied', [sent, { name: 'a', weight: 1, unknown: 1 }]),
    );
    const variants = [
      { ...sent, weight: 500 },
      { name: 'a', weight: 500, weightType: 'variable', stickiness: 'default', overrides: [] },
    ];
    assert.deepEqual(
      { status: response.status, body: response.body },
      { status: 200, body: { version: '1', variants } },
    );
    const preData = { variants: [] };
    assert.deepEqual(events, [
      flagEvent('feature-variants-updated', 'varied', { data: { variants }, preData }),
    ]);
    assert.deepEqual((await server().call('GET', `${FEATURES}/varied`)).body.variants, variants);
  });

  it('splits what fix variants leave evenly, the first ones taking one more each', async () => {
    await makeFlag(server().call, 'weighed');
    const cases: readonly (readonly [readonly object[], readonly number[]])[] = [
      [
        [variable('a'), variable('b'), variable('c')],
        [334, 333, 333],
      ],
      [
        [variable('a', { weight: 900 }), variable('b', { weight: 100 })],
        [500, 500],
      ],
      [
        [fix('a', 999), variable('b'), variable('c')],
        [999, 1, 0],
      ],
      [
        [variable('a'), fix('b', 0), variable('c')],
        [500, 0, 500],
      ],
      [
        [variable('a'), fix('b', 997), variable('c')],
        [2, 997, 1],
      ],
      [[variable('only')], [1000]],
    ];
    for (const [sent, expected] of cases) {
      const { body } = await put('weighed', sent);
      assert.deepEqual(weights(body.variants), expected);
    }
  });

  it('clears the variants by an empty list; the flag then has null', async () => {
    await makeFlag(server().call, 'cleared');
    await put('cleared', [variable('a')]);
    const { body } = await put('cleared', []);
    assert.deepEqual(body, { version: '1', variants: [] });
    assert.equal((await server().call('GET', `${FEATURES}/cleared`)).body.variants, null);
  });

  it('records nothing when the variants are those that the flag has', async () => {
    await makeFlag(server().call, 'constant');
    assert.deepEqual((await recording(server(), () => put('constant', []))).events, []);
    await put('constant', [variable('a'), variable('b')]);
    for (const change of [
      () => put('constant', [variable('a', { weight: 7 }), variable('b')]),
      () => patch('constant', []),
    ]) {
      const { response, events } = await recording(server(), change);
      assert.deepEqual({ status: response.status, events }, { status: 200, events: [] });
    }
  });

  it('refuses what breaks a rule, naming the place', async () => {
    await makeFlag(server().call, 'ruled');
    await put('ruled', [variable('before')]);
    const payload = (type: unknown, value: unknown) => [variable('a', { payload: { type, value } })];
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, '/body'],
      ['null', '/body'],
      [[5], '/body/0'],
      [[{ weight: 1 }], '/body/0/name'],
      [[{ name: 'a' }], '/body/0/weight'],
      [[variable('')], '/body/0/name'],
      [[variable('a', { weight: 1001 })], '/body/0/weight'],
      [[variable('a', { weight: -1 })], '/body/0/weight'],
      [[variable('a', { weight: 1.5 })], '/body/0/weight'],
      [[variable('a', { weight: '1' })], '/body/0/weight'],
      [[variable('a', { weightType: 'fixed' })], '/body/0/weightType'],
      [[variable('a', { stickiness: 5 })], '/body/0/stickiness'],
      [[variable('a', { stickiness: '' })], '/body/0/stickiness'],
      [[variable('a'), variable('a')], '/body/1/name'],
      [[fix('a', 10)], '/body'],
      [[variable('a'), fix('b', 1000)], '/body'],
      [[variable('a'), fix('b', 500), fix('c', 500)], '/body'],
      [payload('json', '{'), '/body/0/payload/value'],
      [payload('number', 'many'), '/body/0/payload/value'],
      [payload('number', 5), '/body/0/payload/value'],
      [payload('xml', '<a/>'), '/body/0/payload/type'],
      [payload('string', undefined), '/body/0/payload/value'],
      [[variable('a', { payload: null })], '/body/0/payload'],
      [[variable('a', { overrides: [{ values: [] }] })], '/body/0/overrides/0/contextName'],
      [[variable('a', { overrides: [{ contextName: 'c' }] })], '/body/0/overrides/0/values'],
      [[variable('a', { overrides: [{ contextName: 'c', values: [1] }] })], '/body/0/overrides/0/values/0'],
    ];
    for (const [body, pointer] of cases) {
      await invalidAt(server(), pointer, { method: 'PUT', path: pathOf('ruled'), body });
    }
  });

  it('takes payloads of every type', async () => {
    await makeFlag(server().call, 'loaded');
    for (const [type, value] of [
      ['json', '[1, {"a": null}]'],
      ['csv', 'a,b'],
      ['string', ''],
      ['number', '-1.5e3'],
    ]) {
      const { status, body } = await put('loaded', [variable('a', { payload: { type, value } })]);
      assert.deepEqual([status, body.variants[0].payload], [200, { type, value }]);
    }
  });

  it('patches by position, and distributes the weights anew', async () => {
    await makeFlag(server().call, 'patched');
    await put('patched', [variable('z'), variable('a')]);
    const { response, events } = await recording(server(), () =>
      patch('patched', [
        { op: 'add', path: '/1', value: variable('between') },
        { op: 'add', path: '/-', value: fix('last', 400) },
      ]),
    );
    const expected = [
      ['z', 200],
      ['between', 200],
      ['a', 200],
      ['last', 400],
    ];
    const listed = (variants: readonly Weighed[]) => variants.map(({ name, weight }) => [name, weight]);
    assert.deepEqual(listed(response.body.variants), expected);
    assert.equal(response.body.version, '1');
    assert.equal(events.length, 1);
    assert.deepEqual(events[0].data, { variants: response.body.variants });
    assert.deepEqual(listed(events[0].preData.variants), [
      ['z', 500],
      ['a', 500],
    ]);
    const { body: removed } = await patch('patched', [{ op: 'remove', path: '/0' }]);
    assert.deepEqual(listed(removed.variants), [
      ['between', 300],
      ['a', 300],
      ['last', 400],
    ]);
  });

  it('refuses a patch that cannot be applied or breaks a rule, with the index of the operation', async () => {
    await makeFlag(server().call, 'strict');
    await put('strict', [variable('a'), variable('b')]);
    const cases: readonly unknown[] = [
      { op: 'replace', path: '/2', value: variable('c') },
      { op: 'add', path: '/3', value: variable('c') },
      { op: 'add', path: '/01', value: variable('c') },
      { op: 'remove', path: '/name' },
      { op: 'replace', path: '/0/name', value: 'b' },
      { op: 'replace', path: '/0/name', value: 5 },
      { op: 'replace', path: '/1/weight', value: 2000 },
      { op: 'add', path: '/0/payload', value: { type: 'json', value: '{' } },
      { op: 'replace', path: '', value: {} },
      { op: 'add', path: '/__proto__', value: variable('c') },
    ];
    const before = { op: 'replace', path: '/0/stickiness', value: 'random' };
    for (const operation of cases) {
      await invalidAt(server(), '/body/1', {
        method: 'PATCH',
        path: pathOf('strict'),
        body: [before, operation],
      });
    }
    const { body } = await refused(server(), 409, 'InvalidOperationError', {
      method: 'PATCH',
      path: pathOf('strict'),
      body: [before, { op: 'test', path: '/0/name', value: 'z' }],
    });
    assert.equal(body.details[0].path, '/body/1');
  });

  it('does not find the variants of a flag that does not exist', async () => {
    for (const method of ['PUT', 'PATCH']) {
      await refused(server(), 404, 'NotFoundError', { method, path: pathOf('nobody'), body: [] });
    }
  });
});
