import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { flagDataOf } from '../../../src/domain/flags/flag.ts';
import { type FlagType, INITIAL_METADATA, type SetLifetimes } from '../../../src/domain/flags/metadata.ts';
import { aboutFlag, type DomainEvent } from '../../../src/domain/state/events.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { TestWorld } from '../../support/test-world.ts';

const NOTED = 'feature-potentially-stale-on';
const SOON = 'feature-potentially-stale-soon';

/** The clock of a `TestWorld` begins with 2024. */
const DAYS_OLD = {
  '7': '2023-12-25T00:00:00.000Z',
  '41': '2023-11-21T00:00:00.000Z',
} as const;

function withFlags(
  ...flags: readonly (readonly [name: string, days: keyof typeof DAYS_OLD, type: FlagType])[]
) {
  const state = new TestWorld();
  for (const [name, days, type] of flags) {
    const data = flagDataOf({
      identity: { name, project: 'default', createdAt: DAYS_OLD[days] },
      metadata: { ...INITIAL_METADATA, type },
      variants: [],
      archived: false,
    });
    state.record([{ type: 'feature-created', ...aboutFlag(data), data, preData: null }]);
  }
  return state;
}

const note = (...flags: readonly string[]): Command => ({
  type: 'note-potentially-stale',
  project: 'default',
  flags,
});
const setType = (flag: string, type: FlagType): Command => ({
  type: 'update-flag',
  project: 'default',
  flag,
  metadata: { type },
});

describe('noting flags that outlived their types', () => {
  it('records an event for each of them, and for no other', () => {
    const state = withFlags(
      ['a', '41', 'release'],
      ['b', '7', 'release'],
      ['c', '7', 'operational'],
      ['d', '41', 'permission'],
    );
    const events = state.decide(note('a', 'b', 'c', 'd', 'a'));
    const ENDS = { a: '2023-12-31T00:00:00.000Z', c: '2024-01-01T00:00:00.000Z' };
    const expected = (['a', 'c'] as const).map((featureName) => ({
      ...{ type: NOTED, project: 'default', featureName, environment: null },
      ...{ data: { owner: null, potentiallyStaleAt: ENDS[featureName] }, preData: null },
    }));
    assert.deepEqual(events, expected);
  });

  it('passes over flags and projects that are gone, archived flags, and flags that are stale already', () => {
    const state = withFlags(['a', '41', 'release'], ['b', '41', 'release']);
    state.given(
      { type: 'archive-flag', project: 'default', flag: 'a' },
      { type: 'mark-flags-stale', project: 'default', flags: ['b'], stale: true },
    );
    assert.deepEqual(state.run(note('a', 'b', 'nowhere')), []);
    assert.deepEqual(state.run({ type: 'note-potentially-stale', project: 'nowhere', flags: ['a'] }), []);
  });

  it('notes a flag that is revived, or no longer stale, unless it was noted before', () => {
    const state = withFlags(['a', '41', 'release'], ['b', '41', 'release']);
    state.given(note('b'));
    for (const flag of ['a', 'b']) {
      state.given({ type: 'archive-flag', project: 'default', flag });
      state.given({ type: 'revive-flags', project: 'default', flags: [flag] });
      state.given({ type: 'mark-flags-stale', project: 'default', flags: [flag], stale: true });
      state.given({ type: 'mark-flags-stale', project: 'default', flags: [flag], stale: false });
    }
    assert.deepEqual(state.run(note('a', 'b')), [NOTED]);
  });

  it('begins anew with a type whose lifetime has not ended, and not with another that has ended too', () => {
    const state = withFlags(['a', '41', 'release']);
    state.given(note('a'), setType('a', 'experiment'));
    assert.deepEqual(state.run(note('a')), []);
    state.given(setType('a', 'kill-switch'));
    assert.deepEqual(state.run(note('a')), []);
    state.given(setType('a', 'operational'));
    assert.deepEqual(state.run(note('a')), [NOTED]);
  });

  it('gives notice of a flag a week before, or a quarter of its lifetime, once until it has another lifetime, with who created it', () => {
    const state = withFlags(['a', '7', 'release'], ['b', '41', 'release'], ['c', '7', 'permission']);
    const setLifetime = (lifetimeDays: number): Command => ({
      type: 'set-lifetime',
      flagType: 'release',
      lifetimeDays,
    });
    assert.deepEqual(state.run(note('a', 'b', 'c')), [NOTED]);
    state.given(setLifetime(15));
    assert.deepEqual(state.run(note('a')), []);
    state.given(setLifetime(9));
    const [soon] = state.decide(note('a')) as DomainEvent[];
    assert.deepEqual(
      [soon?.type, soon?.data],
      [SOON, { owner: null, potentiallyStaleAt: '2024-01-03T00:00:00.000Z' }],
    );
    state.given(note('a'), {
      type: 'update-flag',
      project: 'default',
      flag: 'a',
      metadata: { description: 'x' },
    });
    assert.deepEqual(state.run(note('a')), []);
    state.given(setLifetime(5), note('a'), setLifetime(9));
    assert.deepEqual(state.run(note('a')), [SOON]);
    assert.equal(stateBytes(state.world), recountStateBytes(state.world));
  });

  it('notes a flag once, and anew when it exceeds another lifetime than it was noted for', () => {
    const state = withFlags(['a', '41', 'release'], ['b', '7', 'release'], ['c', '41', 'permission']);
    const all = () => state.run(note('a', 'b', 'c'));
    const setLifetime = (lifetimeDays: number | null): Command => ({
      type: 'set-lifetime',
      flagType: 'release',
      lifetimeDays,
    });
    assert.deepEqual(all(), [NOTED]);
    assert.deepEqual(state.run(setLifetime(40)), []);
    assert.deepEqual(state.run(setLifetime(7)), ['feature-type-updated']);
    assert.deepEqual(all(), [NOTED, NOTED]);
    assert.deepEqual(all(), []);
    state.given(setLifetime(60));
    assert.deepEqual(all(), []);
    state.given(setLifetime(7));
    assert.deepEqual(all(), []);
    state.given(setLifetime(null));
    assert.deepEqual(all(), []);
    state.given(setLifetime(40));
    assert.deepEqual(all(), [NOTED]);
    assert.equal(stateBytes(state.world), recountStateBytes(state.world));
  });

  it('goes by the lifetime that the project has set, and by that of the service without one or once the flag is moved', () => {
    const state = withFlags(['a', '41', 'release'], ['b', '7', 'release']);
    const all = () => state.run(note('a', 'b'));
    const setLifetimes = (lifetimes: SetLifetimes | null): Command => ({
      type: 'update-project',
      project: 'default',
      fields: { lifetimes },
    });
    assert.deepEqual(state.run(setLifetimes({ release: 100 })), ['project-updated']);
    assert.deepEqual(all(), []);
    state.given(setLifetimes({ release: 7 }));
    assert.deepEqual(all(), [NOTED, NOTED]);
    state.given({ type: 'set-lifetime', flagType: 'release', lifetimeDays: 5 });
    assert.deepEqual(all(), []);
    state.given(setLifetimes(null));
    assert.deepEqual(all(), [NOTED, NOTED]);
    state.given(
      { type: 'create-project', id: 'p', fields: { name: 'P', lifetimes: { release: 42 } } },
      { type: 'move-flag', project: 'default', flag: 'a', newProject: 'p' },
    );
    assert.deepEqual(state.run({ type: 'note-potentially-stale', project: 'p', flags: ['a'] }), [SOON]);
    assert.equal(stateBytes(state.world), recountStateBytes(state.world));
  });

  it('leaves nothing behind of a flag that is deleted', () => {
    const state = withFlags(['a', '41', 'release']);
    state.given(note('a'));
    assert.equal(state.world.directory.potentiallyStale.size, 1);
    assert.equal(stateBytes(state.world), recountStateBytes(state.world));
    state.given(
      { type: 'archive-flag', project: 'default', flag: 'a' },
      { type: 'delete-flags', project: 'default', flags: ['a'] },
    );
    assert.equal(state.world.directory.potentiallyStale.size, 0);
    assert.equal(stateBytes(state.world), recountStateBytes(state.world));
  });
});
