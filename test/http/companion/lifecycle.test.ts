/** The stages of a flag's life (docs/specification/flags.md#lifecycle). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { archive, FEATURES, flagEvent, invalidAt, makeFlag, recording } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const KEPT = { status: 'kept', statusValue: 'blue' };

describeInterface('the life of a flag', (server) => {
  const stages = async (flag: string): Promise<readonly string[]> => {
    const { body } = await server().call('GET', `${FEATURES}/${flag}/lifecycle`);
    const whole = await server().call('GET', `${FEATURES}/${flag}`);
    const found = await server().call('GET', `/search/features?query=${flag}&archived=IS:true`);
    const active = await server().call('GET', `/search/features?query=${flag}`);
    const [searched] = [...found.body.features, ...active.body.features];
    const overview = await server().call('GET', '/projects/default');
    const listed = overview.body.features.find(({ name }: { readonly name: string }) => name === flag);
    for (const { lifecycle } of [whole.body, searched, listed]) assert.deepEqual(lifecycle, body.at(-1));
    return body.map(({ stage }: { readonly stage: string }) => stage);
  };
  it('is completed and not, with an event and another ETag for each change', async () => {
    const { call } = server();
    await makeFlag(call, 'done');
    const tags = new Set<string | null>();
    const steps = [
      { path: 'complete', body: KEPT, events: [flagEvent('feature-completed', 'done', { data: KEPT })] },
      { path: 'complete', body: KEPT, events: [] },
      {
        path: 'complete',
        body: { status: 'discarded' },
        events: [flagEvent('feature-completed', 'done', { data: { status: 'discarded' } })],
      },
      { path: 'uncomplete', body: undefined, events: [flagEvent('feature-uncompleted', 'done')] },
      { path: 'uncomplete', body: undefined, events: [] },
    ];
    for (const { path, body, events } of steps) {
      const change = () => call('POST', `${FEATURES}/done/lifecycle/${path}`, body);
      const { response, events: recorded } = await recording(server(), change);
      assert.equal(response.status, 200);
      assert.deepEqual(recorded, events);
      tags.add((await call('GET', `${FEATURES}/done`)).headers.get('etag'));
      await stages('done');
    }
    assert.equal(tags.size, 3);
    assert.deepEqual(await stages('done'), ['initial']);
  });

  it('is not completed by a wrong body, of an archived flag, or of one that is not there', async () => {
    const { call } = server();
    await makeFlag(call, 'bad');
    const path = `${FEATURES}/bad/lifecycle/complete`;
    for (const [at, body] of [
      ['/body/status', { status: 'done' }],
      ['/body/status', {}],
      ['/body/statusValue', { ...KEPT, statusValue: 'x'.repeat(201) }],
    ] as const) {
      await invalidAt(server(), at, { method: 'POST', path, body });
    }
    await archive(call, 'bad');
    assert.equal((await call('POST', path, KEPT)).status, 409);
    for (const [method, below] of [
      ['GET', ''],
      ['POST', '/complete'],
      ['POST', '/uncomplete'],
    ] as const) {
      const missing = await call(
        method,
        `${FEATURES}/none/lifecycle${below}`,
        method === 'GET' ? undefined : KEPT,
      );
      assert.equal(missing.status, 404);
    }
  });
});
