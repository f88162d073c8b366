/** Made-up commands of add-ons among commands of every type: what always holds of the state that they leave. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import { stateBytes } from '../../src/domain/state/records.ts';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import type { World } from '../../src/domain/state/world.ts';
import { recountStateBytes } from '../simulation/recounted-memory.ts';
import { commandRuns, commandsOn } from './random-commands.ts';
import { pick, type ValueRandom } from './random-values.ts';
import { seededRandom } from './seeded-random.ts';
import { TestWorld } from './test-world.ts';

interface OwnCommands {
  readonly numRuns: number;
  /** Commands by name, one of which is carried out. */
  choices(random: ValueRandom, world: World): Readonly<Record<string, Command>>;
  /** Further checks, once a command was carried out. */
  after?(state: TestWorld, command: Command): void;
}

/** Deciding changes nothing, the memory is counted, events replay to the same state, and each command is carried out. */
export function checkOwnCommands({ numRuns, choices, after }: OwnCommands): void {
  const carriedOut = new Set<string>();
  let names: readonly string[] = [];
  fc.assert(
    fc.property(commandRuns(20, 80), (run) => {
      const state = new TestWorld();
      const random = { ...seededRandom(run.seed), longTexts: false as const };
      for (const command of commandsOn(state, run)) {
        state.run(command);
        const all = choices(random, state.world);
        names = Object.keys(all);
        const name = pick(random, names);
        const before = stateHash(state.world);
        const decision = state.decide(all[name]!);
        assert.equal(stateHash(state.world), before, 'deciding changes nothing');
        if (isRefusal(decision)) continue;
        state.record(decision);
        if (decision.length > 0) carriedOut.add(name);
        after?.(state, all[name]!);
        assert.equal(stateBytes(state.world), recountStateBytes(state.world));
      }
      const replayed = new TestWorld([]);
      for (const frame of JSON.parse(JSON.stringify(state.frames))) replayed.record(frame);
      assert.equal(stateHash(replayed.world), stateHash(state.world));
    }),
    { seed: 1, numRuns },
  );
  assert.deepEqual([...carriedOut].sort(), names.toSorted());
}
