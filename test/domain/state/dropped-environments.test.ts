/**
 * A project loses an environment at once, and its flags lose it one after the other. Whoever looks finds what they would if each flag
 * had lost it at once.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { settleFlags, type World } from '../../../src/domain/state/world.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';

const FLAGS = ['a', 'b', 'c', 'd', 'e', 'f'];
const SPARE = ['production', 'staging'];

function flagsOf(world: World): Map<string, Flag> {
  const flags = [...world.projects.values()].flatMap((project) => project.flags.shelved());
  return new Map(flags.flatMap((shelved) => shelved.flags.map((flag) => [flag.name, flag])));
}

const strategy = (name: string, contextName: string) => ({
  ...{ name, title: null, disabled: false, parameters: {}, variants: [], segments: [] },
  constraints: [
    { contextName, operator: 'IN', values: ['1'], inverted: false, caseInsensitive: false } as const,
  ],
});

function commandOf({ below, chance }: ReturnType<typeof seededRandom>): Command {
  const project = 'default';
  const flag = FLAGS[below(FLAGS.length)]!;
  const environment = SPARE[below(SPARE.length)]!;
  switch (below(10)) {
    case 0:
      return { type: 'remove-project-environment', project, environment };
    case 1:
    case 2:
      return { type: 'add-project-environment', project, environment };
    case 3:
      return { type: 'create-flag', project, name: flag, metadata: {} };
    case 4:
      return chance(0.3)
        ? { type: 'archive-flags', project, flags: [flag] }
        : { type: 'revive-flags', project, flags: [flag] };
    case 5:
      return chance(0.3)
        ? { type: 'delete-flags', project, flags: [flag] }
        : { type: 'switch-environment', project, flag, environment, enabled: chance(0.3) };
    default: {
      const name = chance(0.5) ? 'default' : 'flexibleRollout';
      const where = chance(0.3) ? 'development' : environment;
      const made = strategy(name, chance(0.5) ? 'userId' : 'region');
      return { type: 'add-strategy', project, flag, environment: where, strategy: made };
    }
  }
}

/** With flags in `production`, which the project has lost, and no flag looked at since. */
function unsettled(count: number): TestWorld {
  const state = new TestWorld();
  const project = 'default';
  for (let at = 0; at < count; at += 1) {
    const flag = `flag-${at}`;
    state.given({ type: 'create-flag', project, name: flag, metadata: {} });
    for (const environment of ['development', 'production'])
      state.given({
        type: 'add-strategy',
        project,
        flag,
        environment,
        strategy: strategy('default', 'userId'),
      });
  }
  return state.given({ type: 'remove-project-environment', project, environment: 'production' });
}

describe('an environment that a project loses', () => {
  it('is gone for whoever looks, whether or not each flag has been looked at since', () => {
    const seed = Number(process.env.SEED ?? Math.trunc(Math.random() * 2 ** 31));
    const random = seededRandom(seed);
    const [settled, left] = [new TestWorld(), new TestWorld()];
    const staging = { type: 'create-environment', name: 'staging', fields: { type: 'test' } } as const;
    for (const state of [settled, left]) state.given(staging);
    const moments: (() => void)[] = [];
    for (let round = 0; round < 1_000; round += 1) {
      const where = `round ${round} of seed ${seed}`;
      const command = commandOf(random);
      assert.deepEqual(settled.run(command), left.run(command), where);
      settleFlags(settled.world, Number.POSITIVE_INFINITY);
      assert.deepEqual(left.world.references.counts, settled.world.references.counts, where);
      if (random.chance(0.1)) settleFlags(left.world, 1);
      if (random.chance(0.1)) {
        const shelves = left.world.projects.get('default')!.flags.shelved();
        const expected = flagsOf(settled.world);
        moments.push(() => {
          const flags = shelves.flatMap((shelved) => shelved.flags);
          assert.deepEqual(new Map(flags.map((flag) => [flag.name, flag])), expected, where);
        });
      }
      if (random.chance(0.05)) {
        for (const check of moments.splice(0)) check();
        assert.equal(stateHash(left.world), stateHash(settled.world), where);
        assert.equal(stateBytes(left.world), stateBytes(settled.world), where);
      }
    }
  });

  it('is taken from few flags at a time, and the memory that they took is free when all have lost it', () => {
    const { world } = unsettled(300);
    const { flags } = world.projects.get('default')!;
    const before = stateBytes(world);
    assert.equal(settleFlags(world, 100), false);
    const after = stateBytes(world);
    assert(after < before, 'the first ones have lost it');
    assert.equal(settleFlags(world, 100), false);
    assert(stateBytes(world) < after, 'so have others');
    assert.equal(settleFlags(world, 200), true);
    assert.equal(flags.drops.list.length, 0);
    assert.equal(world.unsettled.size, 0);
  });

  it('is a newer revision of the flags that had something in it, and of no others', () => {
    const { world } = unsettled(1).given({
      type: 'create-flag',
      project: 'default',
      name: 'x',
      metadata: {},
    });
    const { flags, revision } = world.projects.get('default')!;
    assert.equal(flags.get('flag-0')!.revision, revision - 1, 'the event before the new flag');
    const untouched = new TestWorld().given(
      { type: 'create-flag', project: 'default', name: 'x', metadata: {} },
      { type: 'remove-project-environment', project: 'default', environment: 'production' },
    );
    const project = untouched.world.projects.get('default')!;
    assert.equal(project.flags.get('x')!.revision, project.revision - 1);
  });
});
