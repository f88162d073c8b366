/** What the main thread offers to whoever has the connection: until when it may be given again, and what stands beside it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Engine } from '../../../src/actors/engine.ts';
import { NEVER_SEEN } from '../../../src/domain/usage/last-seen.ts';
import { flagRoutes } from '../../../src/http/admin/flags/flags.ts';
import { taggedResponse } from '../../../src/http/dispatch/json-response.ts';
import type { ReadRoute, RequestContext } from '../../../src/http/dispatch/route.ts';
import type { Call } from '../../../src/http/serving/call.ts';
import { ReadPath } from '../../../src/http/serving/read-path.ts';
import type { ResponseSender } from '../../../src/http/serving/response-sender.ts';
import type { KeepTerms } from '../../../src/http/transport/transport.ts';
import { createFlag, openTestEngine, settle } from '../../support/engine.ts';

/** Until when a read may be given again; undefined where it is not offered. */
function offeredUntil(ofRoute: number | null, validUntil?: number): number | undefined {
  const offers: KeepTerms[] = [];
  const sender = { send: () => undefined };
  const path = new ReadPath({ durableId: 1, world: {} } as Engine, sender as unknown as ResponseSender);
  const response = taggedResponse('"1-a"', Buffer.from('{}'));
  const route = {
    keptUntil: () => ofRoute,
    read: () => ({ revision: 1, response, ...(validUntil !== undefined && { validUntil }) }),
  };
  const call = {
    responder: { keep: (_: unknown, terms: KeepTerms) => offers.push(terms) },
    request: { header: () => '' },
    caller: { expiresAt: 9, roles: [] },
  };
  path.read(call as unknown as Call, route as unknown as ReadRoute, {} as RequestContext<unknown>, null);
  assert.ok(offers.length <= 1);
  return offers[0]?.untilMs;
}

describe('a response that may be given again', () => {
  it('is so until the time that its route says, or until it shows something else by itself', () => {
    assert.equal(offeredUntil(5_000), 5_000);
    assert.equal(offeredUntil(5_000, 4_000), 4_000);
    assert.equal(offeredUntil(5_000, 6_000), 5_000);
    assert.equal(offeredUntil(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
    assert.equal(offeredUntil(null, 4_000), undefined);
  });

  it('stands beside flags that were read since they changed last, as far as they are durable', async () => {
    const { store, gate, manual, submit } = await openTestEngine();
    const { engine } = store;
    const { world } = engine;
    const run = async (command: Parameters<typeof submit>[0]): Promise<void> => {
      submit(command);
      manual.runTurns();
      await settle();
    };
    for (const name of ['a', 'b', 'c']) await run(createFlag(name));
    const route = flagRoutes.find(({ operationId }) => operationId === 'getFeature') as ReadRoute;
    const contextOf = (featureName: string): RequestContext<unknown> => {
      const parts = { world, engine, usage: { seen: NEVER_SEEN }, caller: { user: null } };
      return {
        ...{ ...parts, params: { projectId: 'default', featureName }, query: () => '' },
      } as unknown as RequestContext<unknown>;
    };
    const read = (name: string): void => void route.read(contextOf(name), null);
    const beside = (): string[] =>
      route.neighbors!(contextOf('a'))!
        .now()
        .map(({ name, etag }) => `${name} ${etag}`);
    read('a');
    read('b');
    const first = beside();
    assert.deepEqual(
      first.map((one) => one[0]),
      ['a', 'b'],
      'nobody has read c',
    );
    gate.close();
    await run({ type: 'archive-flag', project: 'default', flag: 'b' });
    assert.deepEqual(beside(), [first[0]]);
    read('b');
    assert.deepEqual(beside(), [first[0]], 'what it shows is not on disk yet');
    gate.open();
    await settle();
    const last = beside();
    assert.equal(last.length, 2);
    assert.notEqual(last[1], first[1]);
    assert.equal(route.neighbors!(contextOf('unknown')), null);
    await run({ type: 'remove-project-environment', project: 'default', environment: 'production' });
    assert.deepEqual(beside(), [], 'nothing is made anew for whom it may be sent to');
    read('a');
    assert.equal(beside().length, 1);
  });
});
