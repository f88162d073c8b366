/** Persistent maps: what native maps are, with each version left as it was. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHUNK_ENTRIES_MAX, type Key, PersistentMap } from '../../../src/domain/value/persistent-map.ts';
import { seededRandom } from '../../support/seeded-random.ts';

describe('a persistent map', () => {
  for (const [kind, keyOf] of Object.entries<(at: number) => Key>({
    texts: (at) => `key-${at}`,
    numbers: (at) => at * 7,
  })) {
    it(`has the entries of a native map in their order, by ${kind}, and each version keeps its own`, () => {
      const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31));
      const random = seededRandom(seed);
      const native = new Map<Key, number>();
      const versions: (readonly [PersistentMap<Key, number>, readonly (readonly [Key, number])[]])[] = [];
      let map = PersistentMap.empty<Key, number>();
      let edit = {};
      for (let step = 0; step < 20_000; step += 1) {
        const key = keyOf(random.below(900));
        if (random.chance(0.01)) {
          const later = (value: number) => (value * 31 + step) % 1_000_003;
          for (const [one, value] of native) native.set(one, later(value));
          map = map.map(later);
          edit = {};
        }
        if (random.chance(step % 4_000 < 2_500 ? 0.7 : 0.2)) {
          native.set(key, step);
          map = map.with(key, step, edit);
        } else {
          native.delete(key);
          map = map.without(key, edit);
        }
        assert.deepEqual(
          [map.get(key), map.has(key), map.size],
          [native.get(key), native.has(key), native.size],
        );
        if (random.chance(0.1)) edit = {};
        if (step % 500 !== 0) continue;
        versions.push([map, [...native]]);
        edit = {};
      }
      for (const [version, entries] of versions) {
        assert.deepEqual([...version], entries, `seed ${seed}`);
        for (const [key, value] of entries) assert.equal(version.get(key), value);
        assert.equal(version.get(keyOf(1_000)), undefined);
        for (const { values } of version.chunks)
          assert(values.length > 0 && values.length <= CHUNK_ENTRIES_MAX, `seed ${seed}`);
      }
    });
  }

  it('leaves every version as it was, from whichever one the next branches', () => {
    const random = seededRandom(1991);
    type Version = readonly [PersistentMap<number, number>, ReadonlyMap<number, number>];
    const versions: Version[] = [[PersistentMap.empty(), new Map()]];
    const look = ([map, native]: Version, key: number): void =>
      assert.deepEqual([map.has(key), map.get(key)], [native.has(key), native.get(key)]);
    for (let branch = 0; branch < 60; branch += 1) {
      const [from, entries] = versions[random.below(versions.length)]!;
      let map = from;
      const native = new Map(entries);
      const edit = random.chance(0.5) ? {} : undefined;
      for (let changes = random.below(branch % 10 === 0 ? 2_500 : 50); changes >= 0; changes -= 1) {
        const key = random.below(400);
        if (random.chance(0.6)) {
          native.set(key, changes);
          map = map.with(key, changes, edit);
        } else {
          native.delete(key);
          map = map.without(key, edit);
        }
        if (random.chance(0.1)) look(versions[random.below(versions.length)]!, random.below(400));
        look([map, native], key);
      }
      versions.push([map, native]);
    }
    for (const [map, native] of versions) {
      assert.deepEqual([...map], [...native]);
      for (let key = 0; key < 400; key += 1) look([map, native], key);
    }
  });

  it('changes all values a chunk at a time, when one of them is first looked at', () => {
    const before = PersistentMap.of(
      Array.from({ length: 3 * CHUNK_ENTRIES_MAX }, (_, at) => [at, at] as const),
    );
    const changed: number[] = [];
    const after = before
      .map((value) => value + 1)
      .map((value) => {
        changed.push(value);
        return value * 2;
      })
      .with(0, 7);
    assert.equal(changed.length, CHUNK_ENTRIES_MAX);
    assert.deepEqual([after.get(0), after.get(200), before.get(200)], [7, 402, 200]);
    assert.deepEqual([after.get(201), changed.length], [404, 2 * CHUNK_ENTRIES_MAX]);
  });

  it('shares with the version before all but the chunk that changed, among however many chunks', () => {
    const entries = Array.from({ length: 70 * CHUNK_ENTRIES_MAX }, (_, at) => [at, at] as const);
    const before = PersistentMap.of(entries);
    for (const [key, place] of [
      [200, 1],
      [66 * CHUNK_ENTRIES_MAX, 66],
    ] as const) {
      const after = before.with(key, -1);
      const changed = after.chunks.flatMap((chunk, at) => (chunk === before.chunks[at] ? [] : [at]));
      assert.deepEqual([changed, after.get(key), before.get(key)], [[place], -1, key]);
      assert(after.chunks.every(({ slot }, at) => slot === before.chunks[at]!.slot));
      assert.equal(before.with(key, key), before, 'the same value changes nothing');
    }
    let left = before;
    for (let key = 0; key < 3 * CHUNK_ENTRIES_MAX; key += 1) left = left.without(key);
    assert.deepEqual([...left], entries.slice(3 * CHUNK_ENTRIES_MAX));
    assert.deepEqual([...before], entries);
  });
});
