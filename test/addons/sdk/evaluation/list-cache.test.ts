/** Lists that are kept for contexts that come again: never an old one, and none that depends on more than the context. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cache } from '../../../../src/actors/cache.ts';
import { ListCache, scopeEvaluators } from '../../../../src/addons/sdk/evaluation/scope-evaluators.ts';
import { type TaggedResponse, taggedResponse } from '../../../../src/http/serving/json-response.ts';
import { BodyPieces } from '../../../../src/http/transport/response.ts';
import { addToken } from '../../../support/applications.ts';
import { addStrategy, environmentPath, makeFlag } from '../../../support/interface.ts';
import { describeInterface } from '../../../support/server.ts';

function setTwice(cache: ListCache, key: string, list: TaggedResponse): void {
  cache.set(key, list);
  cache.set(key, list);
}

describe('kept lists', () => {
  const listOf = (pieces: number) =>
    taggedResponse('"tag"', new BodyPieces(Array<Uint8Array>(pieces).fill(new Uint8Array(1)), pieces));

  it('are bounded by the bytes that they take, and those asked for longest ago go first', () => {
    const cache = new ListCache(new Cache(4 * 30_000));
    for (let at = 0; at < 100; at += 1) setTwice(cache, `context ${at}`, listOf(1_000));
    assert.equal(cache.size, 2);
    assert.notEqual(cache.get('context 99'), undefined);
    assert.equal(cache.get('context 0'), undefined);
  });

  it('are none for contexts that come once, however many these are', () => {
    const cache = new ListCache(new Cache(1_000_000));
    setTwice(cache, 'again', listOf(1));
    for (let at = 0; at < 10_000; at += 1) cache.set(`once ${at}`, listOf(1));
    assert(cache.size < 10, `${cache.size} are kept`);
    assert.notEqual(cache.get('again'), undefined);
  });

  it('are none for contexts that are long', () => {
    const cache = new ListCache(new Cache(1_000_000));
    setTwice(cache, 'x'.repeat(2_001), listOf(1));
    assert.equal(cache.size, 0);
  });
});

describeInterface('lists for a context that comes again', (server) => {
  const cachedCount = (): number => scopeEvaluators(server().server.store.engine).lists.size;
  const call = (path: string) => server().callBelow(path);

  it('are kept for each context, form and token, and not for others', async () => {
    await makeFlag(server().call, 'plain');
    await addStrategy(server().call, 'plain');
    await server().call('POST', `${environmentPath('plain')}/on`);
    const token = await addToken(server(), { type: 'frontend', environment: 'development', projects: ['*'] });
    const names = async (query: string) => {
      const { body } = await call('/api/frontend')('GET', query, undefined, { token });
      return body.toggles.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await names('?userId=7'), ['plain']);
    assert.equal(cachedCount(), 0, 'a context that came once');
    const context = { userId: '7' };
    for (let time = 0; time < 3; time += 1) {
      assert.deepEqual(await names('?userId=7'), ['plain']);
      await names('?userId=8');
      await call('/api/frontend')('POST', '', { context }, { token });
      const { body } = await call('/ofrep/v1')('POST', '/evaluate/flags', { context }, { token });
      assert.deepEqual(body.flags[0].key, 'plain');
    }
    assert.equal(cachedCount(), 4);
    await server().call('POST', `${environmentPath('plain')}/off`);
    assert.deepEqual(await names('?userId=7'), []);
    assert.equal(
      cachedCount(),
      1,
      'all that was kept before the change is gone, but for the context that was seen before',
    );
  });

  for (const [what, strategy] of [
    [
      'the time',
      {
        constraints: [{ contextName: 'currentTime', operator: 'DATE_AFTER', value: '2020-01-01T00:00:00Z' }],
      },
    ],
    [
      'chance',
      { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'random', groupId: 'g' } },
    ],
    [
      'a session of its own',
      { name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'sessionId', groupId: 'g' } },
    ],
    [
      'the address of the caller',
      { constraints: [{ contextName: 'remoteAddress', operator: 'IN', values: ['127.0.0.1'] }] },
    ],
  ] as const) {
    it(`are not kept where they depend on ${what}, unless the context says it`, async () => {
      const name = `by-${what.replaceAll(' ', '-')}`;
      await makeFlag(server().call, name);
      await addStrategy(server().call, name, strategy);
      await server().call('POST', `${environmentPath(name)}/on`);
      const token = await addToken(server(), {
        ...{ type: 'frontend', environment: 'development', projects: ['*'] },
      });
      const get = (query: string) => call('/api/frontend')('GET', query, undefined, { token });
      for (let time = 0; time < 3; time += 1) await get('?userId=7');
      assert.equal(cachedCount(), 0);
      const whole = '?userId=7&sessionId=1&remoteAddress=127.0.0.1&currentTime=2026-01-01T00:00:00Z';
      for (let time = 0; time < 3; time += 1) await get(whole);
      assert.equal(cachedCount(), what === 'chance' ? 0 : 1);
      await server().call('POST', `${environmentPath(name)}/off`);
    });
  }
});
