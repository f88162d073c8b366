/** The state as snapshot sections and back; the property over random commands is in equal-states.test.ts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadSnapshotRecord, snapshotSections, stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { draftOf, emptyWorld, type World } from '../../../src/domain/state/world.ts';
import { createExample } from '../../support/example-kind.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const STRATEGY = { ...DEFAULT_STRATEGY, parameters: { b: 1, a: 2 } };

/** A state with something in every section that commands can fill. */
function filledWorld(): World {
  const of = { project: 'default', flag: 'f' } as const;
  return new TestWorld().given(
    { type: 'create-flag', project: 'default', name: 'f', metadata: {} },
    { type: 'create-flag', project: 'default', name: 'gone', metadata: {} },
    { type: 'add-strategy', ...of, environment: 'development', strategy: STRATEGY },
    { type: 'archive-flag', project: 'default', flag: 'gone' },
    { type: 'create-user', fields: { username: 'ann', rootRole: 3 } },
    {
      type: 'create-personal-token',
      userId: 2,
      digest: 'd',
      description: '',
      expiresAt: '2999-01-01T00:00:00.000Z',
    },
    { type: 'add-member', project: 'default', userId: 2, roleId: 5 },
    createExample('one', 'secret'),
  ).world;
}

function copyOf(
  world: World,
  change: (section: string, record: unknown) => unknown = (_, record) => record,
): World {
  const copy = draftOf(emptyWorld());
  for (const { name, records } of snapshotSections(world)) {
    for (const record of records) loadSnapshotRecord(copy, name, change(name, structuredClone(record)));
  }
  return copy;
}

describe('the state as a snapshot', () => {
  it('has numbers for counters, or is refused', () => {
    for (const revision of [{}, '5', 1.5, null])
      assert.throws(
        () => loadSnapshotRecord(draftOf(emptyWorld()), 'counters', { revision }),
        /counters are numbers/,
      );
  });

  it('has another hash for every state that differs, in whatever part', () => {
    const world = filledWorld();
    const hashes = new Set([stateHash(world)]);
    let parts = 1;
    for (const { name, records } of snapshotSections(world)) {
      for (const position of [...records].keys()) {
        let at = 0;
        const changed = copyOf(world, (section, record) => {
          if (section !== name) return record;
          at += 1;
          return at - 1 === position ? alter(record) : record;
        });
        hashes.add(stateHash(changed));
        parts += 1;
      }
    }
    assert.equal(hashes.size, parts);
  });

  it('has the same hash whatever the order of keys in its objects', () => {
    const world = filledWorld();
    const turned = copyOf(world, (_, record) => reversed(record));
    assert.equal(stateHash(turned), stateHash(world));
  });

  it('refuses a section that it does not know, and a flag of no project', () => {
    assert.throws(() => loadSnapshotRecord(draftOf(emptyWorld()), 'weather', {}), /"weather"/);
    const orphan = { flag: { name: 'f', project: 'nowhere' }, revision: 1 };
    assert.throws(() => loadSnapshotRecord(draftOf(emptyWorld()), 'flags', orphan), /of no project/);
  });
});

/** The record with one number or text in it changed, but for what it is filed under. */
function alter(record: unknown): unknown {
  const fields = record as Record<string, unknown>;
  for (const [key, value] of Object.entries(fields)) {
    if (['id', 'name', 'project', 'digest', 'kind', 'version'].includes(key)) continue;
    // No record of an add-on is newer than the newest of its kind.
    const step = 'kind' in fields && 'data' in fields ? -1 : 1;
    if (typeof value === 'number') return { ...fields, [key]: value + step };
    if (typeof value === 'string') return { ...fields, [key]: `${value}!` };
  }
  throw new Error(`nothing to change in ${JSON.stringify(record)}`);
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  );
}
