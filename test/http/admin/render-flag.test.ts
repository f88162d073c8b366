/** The kept bytes of a flag: what reports count does not make them anew with every report. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheOf } from '../../../src/actors/cache.ts';
import { type FlagsUse, type HourCounts, NEVER_SEEN } from '../../../src/actors/usage-view.ts';
import { wholeFlag } from '../../../src/http/admin/render-flag.ts';
import { ofFlagItself } from '../../../src/http/serving/etag.ts';
import { bytesOf } from '../../../src/http/transport/response.ts';
import { TestWorld } from '../../support/test-world.ts';

test('counts of the hour are shown once a minute, under an ETag of their own that If-Match ignores', () => {
  const state = new TestWorld();
  state.given({ type: 'create-flag', project: 'default', name: 'a', metadata: {} });
  const project = state.world.projects.get('default')!;
  const record = project.flags.get('a')!;
  let counts: HourCounts | null = null;
  let step = 0;
  const seen: FlagsUse = {
    ...{ flag: () => null, version: 0 },
    hour: () => new Map(counts === null ? [] : [['production', counts]]),
    get step() {
      return step;
    },
  };
  const read = () => wholeFlag({ world: state.world, seen }, project, record).response;
  const inProduction = (): unknown => {
    const { environments } = JSON.parse(Buffer.from(bytesOf(read().body)).toString());
    const { yes, no } = environments.find(({ name }: { name: string }) => name === 'production');
    return { yes, no };
  };
  const unused = read();
  assert.deepEqual(inProduction(), { yes: 0, no: 0 });
  counts = { yes: 3, no: 1 };
  assert.equal(read(), unused, 'within the minute, the bytes stay');
  step += 1;
  assert.deepEqual(inProduction(), counts);
  const used = read();
  assert.notEqual(used.etag, unused.etag);
  assert.equal(ofFlagItself(used.etag), ofFlagItself(unused.etag));
  step += 1;
  assert.equal(read(), used, 'nothing was counted in the next minute');
  counts = { yes: 3, no: 2 };
  step += 1;
  assert.notEqual(read().etag, used.etag);
  counts = null;
  step += 1;
  assert.equal(read().etag, unused.etag, 'a new hour begins with nothing');
});

test('the bytes of flags count in the cache, and go when others need the room', () => {
  const state = new TestWorld();
  const description = '\u0001'.repeat(9_000);
  state.given({ type: 'create-flag', project: 'default', name: 'a', metadata: { description } });
  const project = state.world.projects.get('default')!;
  const sources = { world: state.world, seen: NEVER_SEEN };
  const cache = cacheOf(state);
  const read = () => wholeFlag(sources, project, project.flags.get('a')!).response;
  const before = cache.bytes;
  const made = read();
  const bytes = bytesOf(made.body).byteLength;
  assert(bytes > 6 * description.length && cache.bytes - before >= bytes, `${cache.bytes - before} bytes`);
  assert.equal(read(), made);
  cache.part<string, number>({ bytesOf: (value) => value }).set('other', cache.bytesMax);
  assert.notEqual(read(), made);
});
