/** A hydration: its parts are made one by one, for all who read them at the same time, and show one moment. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Cache } from '../../../../src/actors/cache.ts';
import { type ClientQuery, queryOfScope } from '../../../../src/addons/sdk/client-query.ts';
import type { QueryWatch } from '../../../../src/addons/sdk/query-watch.ts';
import { QueryWatches } from '../../../../src/addons/sdk/query-watches.ts';
import type { Hydration } from '../../../../src/addons/sdk/stream-format.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../../../support/engine.ts';

const EVERYTHING = queryOfScope({ projects: '*', environment: 'development' }, false);
const NARROWED: ClientQuery = { ...EVERYTHING, namePrefix: 'flag-1', isNarrowed: true, key: 'flag-1' };

const FLAGS = 600;

async function filled(): Promise<TestEngine> {
  const test = await openTestEngine();
  test.manual.runFreely();
  const metadata = { description: 'd'.repeat(1_000) };
  for (let at = 0; at < FLAGS; at += 1)
    test.submit({ ...createFlag(`flag-${at}`), metadata } as ReturnType<typeof createFlag>);
  do {
    await settle();
    await test.store.engine.journal.flush();
  } while (test.store.engine.queuedCount > 0);
  return test;
}

describe('a hydration', async () => {
  const test = await filled();
  const { engine } = test.store;
  const hydrated = (watches: QueryWatches, query: ClientQuery): Promise<Hydration> =>
    Promise.resolve(watches.read(query, (watch: QueryWatch) => watches.hydrationOf(watch)));

  it('is one JSON object of many parts, also where most flags are not shown', async () => {
    const watches = new QueryWatches(engine, new Cache(2 ** 26));
    for (const query of [EVERYTHING, NARROWED, { ...NARROWED, namePrefix: 'none', key: 'none' }]) {
      const parts = [...watches.partsOf(await hydrated(watches, query))];
      const { type, features, segments } = JSON.parse(Buffer.concat(parts).toString());
      const names = Array.from({ length: FLAGS }, (_, at) => `flag-${at}`);
      const shown = names.filter((name) => name.startsWith(query.namePrefix));
      assert.deepEqual([type, segments], ['hydration', []]);
      assert.deepEqual(
        features.map(({ name }: { name: string }) => name),
        shown,
      );
      if (query === EVERYTHING) assert(parts.length > 8, `${parts.length} parts`);
    }
  });

  it('makes a part when a reader has come to it, and no second time for one who reads behind', async () => {
    const cache = new Cache(2 ** 26);
    const watches = new QueryWatches(engine, cache);
    const hydration = await hydrated(watches, EVERYTHING);
    const before = cache.bytes;
    const [first, second] = [watches.partsOf(hydration), watches.partsOf(hydration)];
    const one = first.next().value!;
    assert(cache.bytes - before < 2 * one.byteLength, 'one part is kept');
    assert.equal(second.next().value, one);
  });

  it('is made as a body once for all clients, and compressed once', async () => {
    const watches = new QueryWatches(engine, new Cache(2 ** 26));
    const bodies = await Promise.all(
      Array.from({ length: 5 }, () => watches.read(EVERYTHING, (watch) => watches.bodyOf(watch))),
    );
    assert.equal(new Set(bodies).size, 1);
    const sent = await Promise.all(bodies.map(({ encoded }) => encoded.response('gzip')));
    assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
    const { events } = JSON.parse(gunzipSync(sent[0]!.body as Buffer).toString());
    assert.deepEqual([events.length, events[0].features.length], [1, FLAGS]);
  });
});
