/** The documents that are kept: as many as fit, those that were asked for last; large ones are made in slices. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientDocuments } from '../../../src/http/client-flags/client-documents.ts';
import { queryOfScope } from '../../../src/http/client-flags/client-query.ts';
import { Cache } from '../../../src/http/dispatch/cache.ts';
import { TestWorld } from '../../support/test-world.ts';

const query = (projects: readonly string[] | '*', environment: string) =>
  queryOfScope({ projects, environment }, false);

const DEVELOPMENT = query(['default'], 'development');
const PRODUCTION = query(['default'], 'production');
const EVERYTHING = query('*', 'production');

const createFlag = (name: string) =>
  ({ type: 'create-flag', project: 'default', name, metadata: {} }) as const;

const lastId = (): number => 1;

describe('documents of queries', () => {
  it('are forgotten when they exceed the bound, beginning with the one that was asked for longest ago', async () => {
    const { world } = new TestWorld().given(createFlag('checkout'));
    // Each takes some 11 KiB, with the digests of a block.
    const cache = new Cache(30 * 1024);
    const documents = new ClientDocuments({ world, cache });
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
    const { world } = new TestWorld().given(...names.map(createFlag));
    const pending = new ClientDocuments({ world, cache: new Cache(2 ** 24) }).get(DEVELOPMENT, lastId);
    assert.ok(pending instanceof Promise);
    const inSlices = await pending;
    const atOnce = await new ClientDocuments({ world, cache: new Cache(2 ** 24) }).get(DEVELOPMENT, lastId);
    const bodyOf = async ({ encoded }: typeof inSlices): Promise<string> =>
      String((await encoded.response('')).body);
    assert.equal(await bodyOf(inSlices), await bodyOf(atOnce));
    assert.equal(JSON.parse(await bodyOf(inSlices)).features.length, 2_100);
  });

  it('made in slices show one moment, and to who asks later what has changed meanwhile', async () => {
    const names = Array.from({ length: 2_100 }, (_, at) => `flag-${at}`);
    const test = new TestWorld().given(...names.map(createFlag));
    const documents = new ClientDocuments({ world: test.world, cache: new Cache(2 ** 24) });
    let id = 1;
    const bodyOf = async (asked: ReturnType<ClientDocuments['get']>) =>
      String((await (await asked).encoded.response('')).body);
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
    const unchanged = await documents.get(DEVELOPMENT, () => id);
    assert.equal(await bodyOf(unchanged), second);
  });
});
