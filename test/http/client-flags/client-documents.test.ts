/** The documents that are kept: as many as fit, those that were asked for last; large ones are made in slices. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientDocuments } from '../../../src/http/client-flags/client-documents.ts';
import { queryOfScope } from '../../../src/http/client-flags/client-query.ts';
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
    // Each takes 4 KiB and a few hundred bytes.
    const documents = new ClientDocuments({ world, bytesMax: 12 * 1024 });
    const development = await documents.get(DEVELOPMENT, lastId);
    const production = await documents.get(PRODUCTION, lastId);
    await documents.get(DEVELOPMENT, lastId);
    await documents.get(EVERYTHING, lastId);
    assert.equal(await documents.get(DEVELOPMENT, lastId), development);
    assert.notEqual(await documents.get(PRODUCTION, lastId), production);
    assert.ok(documents.bytes <= 12 * 1024);
  });

  it('of thousands of flags are the same, made in slices or at once', async () => {
    const names = Array.from({ length: 2_100 }, (_, at) => `flag-${at}`);
    const { world } = new TestWorld().given(...names.map(createFlag));
    const pending = new ClientDocuments({ world }).get(DEVELOPMENT, lastId);
    assert.ok(pending instanceof Promise);
    const inSlices = await pending;
    const atOnce = await new ClientDocuments({ world }).get(DEVELOPMENT, lastId);
    const bodyOf = async ({ encoded }: typeof inSlices): Promise<string> =>
      String((await encoded.response('')).body);
    assert.equal(await bodyOf(inSlices), await bodyOf(atOnce));
    assert.equal(JSON.parse(await bodyOf(inSlices)).features.length, 2_100);
  });

  it('show a flag that was created while they were made in slices', async () => {
    const names = Array.from({ length: 2_100 }, (_, at) => `flag-${at}`);
    const test = new TestWorld().given(...names.map(createFlag));
    const pending = new ClientDocuments({ world: test.world }).get(DEVELOPMENT, lastId);
    test.given(createFlag('late'));
    const body = String((await (await pending).encoded.response('')).body);
    assert.match(body, /"name":"late"/);
  });

  it('use the blocks that were made in slices', async () => {
    const { world } = new TestWorld().given(createFlag('checkout'));
    const document = await new ClientDocuments({ world }).get(PRODUCTION, lastId);
    const prepared = document.builder([]);
    while (!prepared.advance());
    document.update(2, prepared.made);
    const shown = document.builder();
    while (!shown.advance());
    assert.equal(shown.made[0], prepared.made[0]);
  });
});
