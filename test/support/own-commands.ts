/** Made-up commands of add-ons among commands of every type: what always holds of the state that they leave. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import type { Actor } from '../../src/domain/state/decision.ts';
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
  /** How often each is carried out at least. */
  readonly timesMin: number;
  /** Commands by name, one of which is carried out. */
  choices(random: ValueRandom, world: World): Readonly<Record<string, Command>>;
  /** Gives the commands; a token unless given. */
  actor?(random: ValueRandom, world: World): Actor;
  /** Further checks, once a command was carried out. */
  after?(state: TestWorld, command: Command): void;
}

/** Deciding changes nothing, the memory is counted, events replay to the same state, and each command is carried out often enough for that to say something. */
export function checkOwnCommands({ numRuns, timesMin, choices, actor, after }: OwnCommands): void {
  const times = new Map<string, number>();
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
        const decision = state.decide(all[name]!, actor?.(random, state.world));
        assert.equal(stateHash(state.world), before, 'deciding changes nothing');
        if (isRefusal(decision)) continue;
        state.record(decision);
        if (decision.length > 0) times.set(name, (times.get(name) ?? 0) + 1);
        after?.(state, all[name]!);
        assert.equal(stateBytes(state.world), recountStateBytes(state.world));
      }
      const replayed = new TestWorld([]);
      for (const frame of JSON.parse(JSON.stringify(state.frames))) replayed.record(frame);
      assert.equal(stateHash(replayed.world), stateHash(state.world));
    }),
    { seed: 1, numRuns },
  );
  for (const name of names) assert((times.get(name) ?? 0) >= timesMin, `${name}: ${times.get(name)} times`);
}
