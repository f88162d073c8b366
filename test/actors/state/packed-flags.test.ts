/** Flags that a start leaves undecoded: nobody can tell, but for what a flag that does not decode brings about. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { outlinesOf } from '../../../src/actors/state/flag-outlines.ts';
import { PackedFlags, UndecodableFlagError } from '../../../src/actors/state/packed-flags.ts';
import { loadSnapshotRecord, snapshotSections, stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { type Command, decide } from '../../../src/domain/decide/decide.ts';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../../src/domain/flags/growth-limits.ts';
import type { StrategyInput } from '../../../src/domain/flags/strategy.ts';
import { applyChange } from '../../../src/domain/state/apply.ts';
import type { DecideContext } from '../../../src/domain/state/decision.ts';
import { inProjectEnvironment } from '../../../src/domain/state/events.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { RULES_VERSION } from '../../../src/domain/state/replay-rules.ts';
import { emptyWorld, type World } from '../../../src/domain/state/world.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { commands, withRealIds } from '../../support/every-command.ts';
import { outlinedBlock } from '../../support/journal-fixture.ts';
import { TestWorld, TOKEN_ACTOR } from '../../support/test-world.ts';

interface Loaded {
  readonly world: World;
  readonly flags: PackedFlags;
}

/** The state as a start loads it; `change` forges the outline of the flags. */
function loadedPacked(
  live: World,
  change: (outline: OutlineColumns) => unknown = (outline) => outline,
): Loaded {
  const world = emptyWorld();
  const flags = new PackedFlags(world);
  for (const { name, records } of snapshotSections(live)) {
    if (name === 'flags') {
      const all = [...records];
      assert(flags.take(outlinedBlock(change(outlinesOf(all) as OutlineColumns), all)));
    } else for (const record of records) loadSnapshotRecord(world, name, structuredClone(record));
  }
  return { world, flags };
}

type OutlineColumns = ReturnType<typeof outlinesOf>;

const STRATEGY: StrategyInput = {
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  constraints: [
    { contextName: 'country', operator: 'IN', values: ['AT'], caseInsensitive: false, inverted: false },
  ],
  parameters: { rollout: '50', stickiness: 'default', groupId: 'f' },
  variants: [],
  segments: [],
};

/** The context of a command behind that event: the same for both states. */
function contextAt(lastId: number): DecideContext {
  const clockMs = Date.parse('2024-01-01T00:00:00Z') + lastId * 60_000;
  let ids = 0;
  return {
    now: new Date(clockMs).toISOString(),
    clockMs,
    actor: TOKEN_ACTOR,
    limits: DEFAULT_GROWTH_LIMITS,
    memoryBudgetBytes: Number.POSITIVE_INFINITY,
    newId: () => {
      ids += 1;
      return `00000000-0000-4000-8000-${String(lastId * 1_000 + ids).padStart(12, '0')}`;
    },
  };
}

const NAMES = ['a', 'b', 'c'];

function fewFlags(): TestWorld {
  const state = new TestWorld();
  for (const name of NAMES) {
    state.given(
      { type: 'create-flag', project: 'default', name, metadata: {} },
      {
        type: 'add-strategy',
        project: 'default',
        flag: name,
        environment: 'development',
        strategy: STRATEGY,
      },
    );
  }
  return state;
}

const recordOf = (world: World, name: string) => world.projects.get('default')!.flags.get(name)!;

describe('a flag that is not decoded yet', () => {
  it('leaves the state, what it takes of memory, and what it refers to as they are', () => {
    const { world } = fewFlags();
    const { world: loaded } = loadedPacked(world);
    assert.equal(stateBytes(loaded), stateBytes(world));
    assert.deepEqual(loaded.references.counts, world.references.counts);
    assert.deepEqual([...loaded.directory.flagProjects], [...world.directory.flagProjects]);
    assert.equal(stateHash(loaded), stateHash(world));
    assert.equal(stateBytes(loaded), recountStateBytes(loaded));
  });

  it('is that of its outline, whatever the environments in which flags are enabled are called', () => {
    for (const environment of ['-', 'null', '.-', '[]']) {
      const state = fewFlags();
      state.given(
        { type: 'create-environment', name: environment, fields: { type: 'test' } },
        { type: 'add-project-environment', project: 'default', environment },
      );
      const inEnvironment = { project: 'default', flag: 'b', environment };
      state.given(
        { type: 'add-strategy', ...inEnvironment, strategy: STRATEGY },
        { type: 'switch-environment', ...inEnvironment, enabled: true },
        { type: 'archive-flag', project: 'default', flag: 'a' },
      );
      const { world: loaded } = loadedPacked(state.world);
      assert.equal(stateHash(loaded), stateHash(state.world), environment);
    }
  });

  it('is one and the same object, whoever asks for it, before and after it changed', () => {
    const { world } = loadedPacked(fewFlags().world);
    const project = world.projects.get('default')!;
    const [shelf] = project.flags.shelved();
    const record = recordOf(world, 'b');
    const { flag } = record;
    const changed: Flag = { ...flag, stale: true };
    record.flag = changed;
    assert.equal(record.flag, changed);
    assert.equal(shelf!.flags[1], flag, 'who took the shelf before sees the flag as it was');
    assert.equal(recordOf(world, 'a').flag, shelf!.flags[0]);
  });

  it('is decided on and changed like any other, by any commands', () => {
    const history = fc.array(commands, { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(history, fc.array(commands, { maxLength: 20 }), (before, after) => {
        const { world: live } = fewFlags();
        let lastId = 1_000;
        const carryOut = (command: Command, worlds: readonly World[]): void => {
          const real = withRealIds(live, command);
          const decisions = worlds.map((world) => decide(world, real, contextAt(lastId)));
          for (const one of decisions) assert.equal(JSON.stringify(one), JSON.stringify(decisions[0]));
          const [decision] = decisions;
          if (decision === undefined || isRefusal(decision) || decision.length === 0) return;
          const stamp = { id: lastId + 1, createdAt: contextAt(lastId).now, rules: RULES_VERSION };
          for (const world of worlds) applyChange(world, decision, stamp);
          lastId += decision.length;
        };
        for (const command of before) carryOut(command, [live]);
        const { world: packed } = loadedPacked(live);
        for (const command of after) carryOut(command, [live, packed]);
        assert.equal(stateBytes(packed), stateBytes(live));
        assert.deepEqual(packed.references.counts, live.references.counts);
        assert.equal(stateHash(packed), stateHash(live));
      }),
      { numRuns: 40 },
    );
  });

  it('is decoded by the sweep, which ends when it is told to', async () => {
    const { world, flags } = loadedPacked(fewFlags().world);
    let looks = 0;
    await flags.sweep(async () => {
      looks += 1;
      return looks < 1;
    });
    assert.equal(looks, 1);
    const again = loadedPacked(fewFlags().world);
    await again.flags.sweep(async () => true);
    assert.equal(stateHash(again.world), stateHash(world));
  });
});

describe('what a build before counted otherwise', () => {
  it('is corrected when the flags are decoded', async () => {
    const { world } = fewFlags();
    const { world: loaded, flags } = loadedPacked(world, (outline) => ({
      ...outline,
      memoryBytes: outline.memoryBytes.map((bytes) => bytes + 10),
      references: outline.references.map((keys) => [...keys, 'development segment:99']),
    }));
    assert.equal(stateBytes(loaded) > stateBytes(world), true);
    await flags.sweep(async () => true);
    assert.equal(stateBytes(loaded), stateBytes(world));
    assert.deepEqual(loaded.references.counts, world.references.counts);
    assert.equal(flags.fault, null);
  });

  it('is corrected where the project has lost an environment before the flags are decoded', async () => {
    const { world } = fewFlags();
    const { world: loaded, flags } = loadedPacked(world, (outline) => ({
      ...outline,
      references: outline.references.map(() => [
        'development segment:99',
        'development production segment:98',
      ]),
    }));
    const about = inProjectEnvironment('default', 'development');
    const lost = { type: 'project-environment-removed', ...about, data: null, preData: null } as const;
    const stamp = { id: 1_001, createdAt: contextAt(1_000).now, rules: RULES_VERSION };
    for (const one of [world, loaded]) applyChange(one, [lost], stamp);
    assert.deepEqual([...loaded.references.counts.keys()], ['segment:98']);
    await flags.sweep(async () => true);
    assert.deepEqual(loaded.references.counts, world.references.counts);
    assert.equal(stateHash(loaded), stateHash(world));
    assert.equal(stateBytes(loaded), stateBytes(world));
    assert.equal(flags.fault, null);
  });

  it('is not taken where the outline is of a shape that this build does not know', () => {
    const { world } = fewFlags();
    const records = snapshotSections(world).find(({ name }) => name === 'flags')!.records;
    const all = [...records];
    const outline = outlinesOf(all) as OutlineColumns;
    for (const other of [
      null,
      {},
      { ...outline, names: outline.names.slice(1) },
      { ...outline, projectAt: outline.projectAt.map(() => 1) },
      { ...outline, revisions: outline.revisions.map(String) },
      { ...outline, references: [7] },
      { ...outline, enabledIn: ['development'] },
    ]) {
      assert.equal(
        new PackedFlags(emptyWorld()).take(outlinedBlock(other, all)),
        false,
        JSON.stringify(other),
      );
    }
  });
});

describe('a flag that does not decode', () => {
  const forged: readonly (readonly [string, (outline: OutlineColumns) => OutlineColumns])[] = [
    ['name', (outline) => ({ ...outline, names: ['a', 'other', 'c'] })],
    [
      'revision',
      (outline) => ({ ...outline, revisions: outline.revisions.map((id, at) => id + (at === 1 ? 1 : 0)) }),
    ],
    [
      'author',
      (outline) => ({ ...outline, createdBy: outline.createdBy.map((id, at) => (at === 1 ? 77 : id)) }),
    ],
  ];

  for (const [what, change] of forged) {
    it(`is one of another ${what} than its outline says: whoever asks for it fails, and it is told of once`, async () => {
      const { world, flags } = loadedPacked(fewFlags().world, change);
      const faults: Error[] = [];
      flags.onFault = (error) => faults.push(error);
      const name = what === 'name' ? 'other' : 'b';
      assert.equal(recordOf(world, 'a').flag.name, 'a');
      assert.throws(() => recordOf(world, name).flag, UndecodableFlagError);
      assert.throws(() => recordOf(world, name).flag, UndecodableFlagError);
      await flags.sweep(async () => true);
      assert.deepEqual([faults.length, faults[0]], [1, flags.fault]);
      assert.match(faults[0]?.message ?? '', new RegExp(`The flag ${name} of the project default`));
    });
  }

  it('is found by the sweep where nobody asks for it', async () => {
    const { flags } = loadedPacked(fewFlags().world, forged[0]![1]);
    await flags.sweep(async () => true);
    assert(flags.fault instanceof UndecodableFlagError);
  });
});
