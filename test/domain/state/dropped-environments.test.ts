/** A project loses an environment, and its flags lose what they have in it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';
import { auditWorld } from '../../support/world-audit.ts';

const FLAGS = ['a', 'b', 'c', 'd', 'e', 'f'];
const SPARE = ['production', 'staging'];

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

describe('an environment that a project loses', () => {
  it('is gone from all flags at once, and from all that is counted of them, and a state from before has it still', () => {
    const seed = Number(process.env.SEED ?? Math.trunc(Math.random() * 2 ** 31));
    const random = seededRandom(seed);
    const state = new TestWorld().given({
      type: 'create-environment',
      name: 'staging',
      fields: { type: 'test' },
    });
    const moments: (() => void)[] = [];
    for (let round = 0; round < 1_000; round += 1) {
      const where = `round ${round} of seed ${seed}`;
      state.run(commandOf(random));
      const { settings, flags } = state.world.projects.get('default')!;
      for (const { flag } of flags.values())
        for (const { name } of flag.environments)
          assert(settings.environments.includes(name), `${flag.name} has ${name}, ${where}`);
      auditWorld(state.world, Number.MAX_SAFE_INTEGER);
      assert.equal(stateBytes(state.world), recountStateBytes(state.world), where);
      if (random.chance(0.05)) {
        const { world } = state;
        const hash = stateHash(world);
        moments.push(() => assert.equal(stateHash(world), hash, where));
      }
    }
    for (const check of moments) check();
  });

  it('is a newer revision of the flags that had something in it, and of no others', () => {
    const project = 'default';
    const environment = 'production';
    const create = (name: string): Command => ({ type: 'create-flag', project, name, metadata: {} });
    const state = new TestWorld().given(create('with'), create('without'), {
      ...{ type: 'add-strategy', project, environment, flag: 'with' },
      strategy: strategy('default', 'userId'),
    });
    const before = state.world.projects.get(project)!;
    state.given({ type: 'remove-project-environment', project, environment });
    const { flags, revision } = state.world.projects.get(project)!;
    assert.equal(flags.get('with')!.revision, revision);
    assert.equal(flags.get('without'), before.flags.get('without'));
  });
});
