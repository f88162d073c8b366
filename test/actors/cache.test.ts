/** The cache: one account and one order of eviction for all kinds of values. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cache } from '../../src/actors/cache.ts';

const bytesOf = (bytes: number): number => bytes;

describe('the cache', () => {
  it('evicts what was used longest ago, whatever its kind, and tells the kind', () => {
    const cache = new Cache(10_000);
    const evicted: string[] = [];
    const onEvicted = (_value: number, key: string) => evicted.push(key);
    const [documents, lists] = [1, 2].map(() => cache.part<string, number>({ bytesOf, onEvicted }));
    documents!.set('a', 3_000);
    lists!.set('b', 3_000);
    assert.equal(documents!.get('a'), 3_000);
    lists!.set('c', 4_000);
    assert.deepEqual(evicted, ['b']);
    documents!.set('d', 9_000);
    assert.deepEqual(evicted, ['b', 'a', 'c']);
    assert(cache.bytes <= 10_000);
  });

  it('gives values that one caller can multiply a quarter, so that they never evict all others', () => {
    const cache = new Cache(10_000);
    const shared = cache.part<string, number>({ bytesOf });
    const multiplied = cache.part<number, number>({ bytesOf, isMultiplied: true });
    shared.set('shared', 6_000);
    for (let key = 0; key < 100; key += 1) multiplied.set(key, 1_000);
    assert.deepEqual([shared.peek('shared'), multiplied.size], [6_000, 1]);
  });

  it('keeps a value that is larger than all of it until another one is set', () => {
    const cache = new Cache(1_000);
    const part = cache.part<string, number>({ bytesOf });
    part.set('large', 5_000);
    assert.equal(part.get('large'), 5_000);
    part.set('small', 100);
    assert.deepEqual([part.peek('large'), part.peek('small')], [undefined, 100]);
  });

  it('makes room for what is reserved, of which half of it may be', () => {
    const cache = new Cache(10_000);
    const part = cache.part<string, number>({ bytesOf });
    for (const key of ['a', 'b', 'c']) part.set(key, 2_500);
    assert.deepEqual([cache.hasRoomFor(5_000), cache.hasRoomFor(5_001)], [true, false]);
    cache.reserve(5_000);
    assert.deepEqual([part.size, cache.hasRoomFor(1)], [1, false]);
    cache.reserve(-5_000);
    assert(cache.hasRoomFor(5_000));
  });

  it('counts a value anew when it is set again, and gives back what is deleted', () => {
    const cache = new Cache(10_000);
    const part = cache.part<string, { bytes: number }>({ bytesOf: ({ bytes }) => bytes });
    const value = { bytes: 1_000 };
    part.set('a', value);
    value.bytes = 3_000;
    part.set('a', value);
    assert(cache.bytes > 3_000 && cache.bytes < 4_000);
    part.delete('a');
    part.delete('a');
    assert.equal(cache.bytes, 0);
  });
});
