/** Clients at once: every response, and the order of the events, must be explicable by one order of the requests. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addStrategy, environmentPath, FEATURES, makeFlag } from '../../support/interface.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';

interface Change {
  readonly data: { readonly description: string };
  readonly preData: { readonly description: string };
}

describeInterface('clients at once', (server) => {
  const eventsOf = async (feature: string, type: string) =>
    (await server().call('POST', '/events/search', { feature, type })).body.events.reverse();

  /** Clients that send one request after the other, all at the same time. */
  const clients = (
    count: number,
    rounds: number,
    request: (client: number, round: number) => Promise<ReceivedResponse>,
  ) =>
    Promise.all(
      Array.from({ length: count }, async (_, client) => {
        const responses: ReceivedResponse[] = [];
        for (let round = 0; round < rounds; round += 1) responses.push(await request(client, round));
        return responses;
      }),
    );

  it('one of many clients that create a flag of the same name gets it', async () => {
    const responses = await clients(8, 1, () => server().call('POST', FEATURES, { name: 'wanted' }));
    assert.deepEqual(
      responses
        .flat()
        .map(({ status }) => status)
        .sort(),
      [201, ...Array(7).fill(409)],
    );
    assert.equal((await eventsOf('wanted', 'feature-created')).length, 1);
  });

  it('two clients that write the same field see one history, in which each change follows from the one before', async () => {
    await makeFlag(server().call, 'shared', { description: 'start' });
    const written = (client: number, round: number) => `${client}-${round}`;
    const responses = await clients(2, 20, (client, round) =>
      server().call('PUT', `${FEATURES}/shared`, { description: written(client, round) }),
    );
    const events: readonly Change[] = await eventsOf('shared', 'feature-metadata-updated');
    const history = events.map(({ data }) => data.description);
    for (const [index, { preData }] of events.entries()) {
      assert.equal(preData.description, index === 0 ? 'start' : history[index - 1]);
    }
    for (const [client, own] of responses.entries()) {
      const expected = own.map((_, round) => written(client, round));
      assert.deepEqual(
        own.map(({ body }) => body.description),
        expected,
        'each response shows the change that it answers',
      );
      assert.deepEqual(
        history.filter((one) => one.startsWith(`${client}-`)),
        expected,
        'the changes of one client are in its order',
      );
    }
    const { body } = await server().call('GET', `${FEATURES}/shared`);
    assert.equal(body.description, history.at(-1));
  });

  it('patches that test before they replace never overwrite what they have not seen', async () => {
    await makeFlag(server().call, 'counted', { description: '0' });
    const increment = async (): Promise<ReceivedResponse> => {
      const { body } = await server().call('GET', `${FEATURES}/counted`);
      return server().call('PATCH', `${FEATURES}/counted`, [
        { op: 'test', path: '/description', value: body.description },
        { op: 'replace', path: '/description', value: `${Number(body.description) + 1}` },
      ]);
    };
    const responses = (await clients(4, 10, increment)).flat();
    const won = responses.filter(({ status }) => status === 200);
    assert(responses.every(({ status }) => status === 200 || status === 409));
    const { body } = await server().call('GET', `${FEATURES}/counted`);
    assert.equal(body.description, `${won.length}`);
    assert.equal(new Set(won.map((response) => response.body.description)).size, won.length);
  });

  it('a switch that is pressed by many changes as often as its events say, in turn', async () => {
    await makeFlag(server().call, 'pressed');
    await addStrategy(server().call, 'pressed');
    await clients(4, 8, (client, round) =>
      server().call('POST', `${environmentPath('pressed')}/${(client + round) % 2 === 0 ? 'on' : 'off'}`),
    );
    const { body } = await server().call('POST', '/events/search', { feature: 'pressed' });
    const presses = body.events
      .map(({ type }: { type: string }) => type)
      .filter((type: string) => type.startsWith('feature-environment-'))
      .reverse();
    const inTurn = presses.map((_: string, index: number) =>
      index % 2 === 0 ? 'feature-environment-enabled' : 'feature-environment-disabled',
    );
    assert.deepEqual(presses, inTurn);
    const { body: flag } = await server().call('GET', `${FEATURES}/pressed`);
    assert.equal(flag.environments[0].enabled, presses.length % 2 === 1);
  });

  it('strategies added at once get positions of their own, in the order of their events', async () => {
    await makeFlag(server().call, 'crowded');
    const added = (
      await clients(6, 3, () =>
        server().call('POST', `${environmentPath('crowded')}/strategies`, { name: 'default' }),
      )
    ).flat();
    const { body } = await server().call('GET', `${FEATURES}/crowded`);
    const { strategies } = body.environments[0];
    assert.deepEqual(
      strategies.map(({ sortOrder }: { sortOrder: number }) => sortOrder),
      added.map((_, index) => index),
    );
    const events = await eventsOf('crowded', 'feature-strategy-add');
    assert.deepEqual(
      events.map(({ data }: { data: unknown }) => data),
      strategies,
    );
  });
});
