import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CallerCache } from '../../../src/http/serving/access.ts';

it('the cache of callers never exceeds its bytes; the oldest go first, and the newest is always found', () => {
  const cache = new CallerCache<number>(10_000);
  const secretOf = (at: number) => `${at}:`.padEnd(300, 'x');
  for (let at = 0; at < 1000; at += 1) {
    cache.add(secretOf(at), at);
    assert(cache.bytes <= 10_000);
    assert.equal(cache.get(secretOf(at)), at);
  }
  assert.equal(cache.get(secretOf(0)), undefined);
  assert.equal(cache.get(secretOf(995)), 995);
  cache.clear();
  assert.deepEqual([cache.bytes, cache.get(secretOf(999))], [0, undefined]);
});
