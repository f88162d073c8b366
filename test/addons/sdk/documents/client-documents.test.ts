/** The documents that are kept: as many as fit, those that were asked for last; large ones are made in slices. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { Cache } from '../../../../src/actors/cache.ts';
import { type Requester, setTurnMs } from '../../../../src/actors/turn.ts';
import { ClientDocument } from '../../../../src/addons/sdk/client-document.ts';
import { ClientDocuments } from '../../../../src/addons/sdk/client-documents.ts';
import { queryOfScope } from '../../../../src/addons/sdk/client-query.ts';
import { BLOCK_ITEMS, BLOCK_LENGTH_MAX, BlockList } from '../../../../src/addons/sdk/json-blocks.ts';
import { isRefusal } from '../../../../src/domain/state/refusal.ts';
import { TestWorld } from '../../../support/test-world.ts';

const query = (projects: readonly string[] | '*', environment: string) =>
  queryOfScope({ projects, environment }, false);

const DEVELOPMENT = query(['default'], 'development');
const PRODUCTION = query(['default'], 'production');
const EVERYTHING = query('*', 'production');

const createFlag = (name: string) =>
  ({ type: 'create-flag', project: 'default', name, metadata: {} }) as const;

const lastId = (): number => 1;

async function bodyOf(asked: ReturnType<ClientDocuments['get']>): Promise<string> {
  const document = await asked;
  assert(!isRefusal(document), 'the document is not too large');
  return String((await document.encoded.response('')).body);
}

describe('documents of queries', () => {
  afterEach(() => setTurnMs());

  it('are forgotten when they exceed the bound, beginning with the one that was asked for longest ago', async () => {
    const state = new TestWorld().given(createFlag('checkout'));
    // Each takes some 11 KiB, with the digests of a block.
    const cache = new Cache(30 * 1024);
    const documents = new ClientDocuments({ state, cache });
    const development = await documents.get(DEVELOPMENT, lastId);
    const production = await documents.get(PRODUCTION, lastId);
    await documents.get(DEVELOPMENT, lastId);
    await documents.get(EVERYTHING, lastId);
    assert.equal(await documents.get(DEVELOPMENT, lastId), development);
    assert.notEqual(await documents.get(PRODUCTION, lastId), production);
    assert.ok(cache.bytes <= 30 * 1024);
  });

  it('of thousands of flags are the same, made in slices or at once', async () => {
    const names = Array.from({ length: 2_100 }, (_, at) => `flag-${at}`);
    const state = new TestWorld().given(...names.map(createFlag));
    const document = new ClientDocuments({ state, cache: new Cache(2 ** 26) }).get(DEVELOPMENT, lastId);
    const atOnce = await bodyOf(document);
    setTurnMs(0);
    const pending = new ClientDocuments({ state, cache: new Cache(2 ** 26) }).get(DEVELOPMENT, lastId);
    assert(pending instanceof Promise, 'a slice that takes no time holds one flag');
    const inSlices = await bodyOf(pending);
    assert.equal(inSlices, atOnce);
    assert.equal(JSON.parse(inSlices).features.length, 2_100);
  });

  it('passes over archived flags step by step: thousands of them may follow one another', () => {
    const test = new TestWorld();
    const names = Array.from({ length: 1_000 }, (_, at) => `flag-${at}`);
    test.given(...names.map(createFlag));
    test.given(...names.map((flag) => ({ type: 'archive-flag', project: 'default', flag }) as const));
    const documents = new ClientDocuments({ state: test, cache: new Cache(2 ** 26) });
    const blocks = documents.blocksOf(DEVELOPMENT);
    const workshop = documents.workshop;
    const document = new ClientDocument({
      ...workshop,
      state: test,
      query: DEVELOPMENT,
      blocks,
      onResized: () => undefined,
    });
    const { steps } = document.next(1).builder;
    let count = 0;
    while (steps.next().done !== true) count += 1;
    assert(count >= names.length, `${count} steps`);
  });

  it('of many bytes are cut into blocks that are encoded one at a time', async () => {
    const description = 'x'.repeat(9_000);
    const names = Array.from({ length: 300 }, (_, at) => `flag-${at}`);
    const test = new TestWorld();
    test.given(...names.map((name) => ({ ...createFlag(name), metadata: { description } })));
    const body = await bodyOf(
      new ClientDocuments({ state: test, cache: new Cache(2 ** 26) }).get(DEVELOPMENT, lastId),
    );
    assert.equal(JSON.parse(body).features.length, 300);
    const list = new BlockList([]);
    for (const { features } of [JSON.parse(body)])
      for (const flag of features) list.add({ json: JSON.stringify(flag), digest: flag.name });
    const blocks = list.end();
    assert(blocks.every(({ bytes }) => bytes.byteLength < BLOCK_LENGTH_MAX + 10_000));
    assert(blocks.length > 300 / BLOCK_ITEMS);
  });

  it('wait as queries alone, one for all who ask for the same, and not for somebody who has gone', async () => {
    const names = Array.from({ length: 300 }, (_, at) => `flag-${at}`);
    const state = new TestWorld().given(...names.map(createFlag));
    // With room for one of them, each that is asked for drives out those that wait.
    const cache = new Cache(1);
    const documents = new ClientDocuments({ state, cache });
    setTurnMs(0);
    const ends = Array.from({ length: 20 }, () => new AbortController());
    const asked = ends.flatMap(({ signal }, at) => {
      const narrowed = { ...DEVELOPMENT, namePrefix: 'flag', isNarrowed: true, key: `narrowed ${at}` };
      const requester = (): Requester => ({ name: `caller ${at % 2}`, signal });
      return [1, 2, 3].map(async () => documents.get(narrowed, lastId, requester));
    });
    await new Promise(setImmediate);
    assert.deepEqual([cache.making.runningCount, cache.making.waitingCount], [1, 19]);
    for (const end of ends.slice(1)) end.abort();
    assert.equal(cache.making.waitingCount, 0, 'nobody waits for them');
    const outcomes = await Promise.allSettled(asked);
    assert.equal(new Set(outcomes.slice(0, 3).map(({ status }) => status)).size, 1);
    assert(outcomes.slice(3).every(({ status }) => status === 'rejected'));
    assert.equal(JSON.parse(await bodyOf(asked[0]!)).features.length, 300);
  });

  it('made in slices show one moment, and to who asks later what has changed meanwhile', async () => {
    const names = Array.from({ length: 2_100 }, (_, at) => `flag-${at}`);
    const test = new TestWorld().given(...names.map(createFlag));
    const documents = new ClientDocuments({ state: test, cache: new Cache(2 ** 26) });
    let id = 1;
    const pending = documents.get(DEVELOPMENT, () => id);
    test.given(createFlag('late'), { type: 'archive-flag', project: 'default', flag: 'flag-2099' });
    id = 2;
    const later = documents.get(DEVELOPMENT, () => id);
    const [first, second] = [await bodyOf(pending), await bodyOf(later)];
    assert.equal(
      first.includes('"name":"late"'),
      !first.includes('"name":"flag-2099"'),
      'all of it or nothing',
    );
    assert.match(second, /"name":"late"/);
    assert.doesNotMatch(second, /"name":"flag-2099"/);
    assert.equal(await bodyOf(documents.get(DEVELOPMENT, () => id)), second);
  });
});
