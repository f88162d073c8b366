/** Imports of made-up flags among commands of every type: what always holds of the state that they leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import type { ImportFlags } from '../../../src/addons/transfer/import-issues.ts';
import { importFlags } from '../../../src/addons/transfer/transfer-commands.ts';
import { type Command, ownCommand } from '../../../src/domain/decide/decide.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { commandRuns, commandsOn } from '../../support/random-commands.ts';
import { anyStrategy, ENVIRONMENTS, FLAGS, pick, type ValueRandom } from '../../support/random-values.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';

function anyImport(random: ValueRandom, world: World): Command {
  const names = [...new Set([pick(random, FLAGS), pick(random, FLAGS)])];
  const sent: ImportFlags = {
    project: pick(random, [...world.projects.keys()]),
    environment: pick(random, ENVIRONMENTS),
    flags: names.map((name) => ({
      name,
      metadata: { stale: random.chance(0.5) },
      enabled: random.chance(0.3) ? null : random.chance(0.5),
      variants: random.chance(0.5) ? null : [],
      strategies: random.chance(0.5) ? [anyStrategy(random)] : [],
      tags: random.chance(0.5) ? [{ type: 'team', value: 'one' }] : [],
      dependencies: [],
    })),
    segmentNames: new Map([...world.directory.segments.values()].map(({ id, name }) => [id, name])),
    records: random.chance(0.5) ? [{ kind: 'contextFields', fields: { name: 'region' } }] : [],
    strangers: [],
    archived: [],
  };
  return ownCommand({ sent, decide: importFlags });
}

test('an import counts its memory, is repeated without an event, and replays to the same state', () => {
  let carriedOut = 0;
  fc.assert(
    fc.property(commandRuns(20, 80), (run) => {
      const state = new TestWorld();
      const random = { ...seededRandom(run.seed), longTexts: false as const };
      for (const command of commandsOn(state, run)) {
        state.run(command);
        const wanted = anyImport(random, state.world);
        const outcome = state.run(wanted);
        if (typeof outcome === 'string') continue;
        carriedOut += 1;
        assert.deepEqual(state.run(wanted), []);
        assert.equal(stateBytes(state.world), recountStateBytes(state.world));
      }
      const replayed = new TestWorld([]);
      for (const frame of JSON.parse(JSON.stringify(state.frames))) replayed.record(frame);
      assert.equal(stateHash(replayed.world), stateHash(state.world));
    }),
    { seed: 1, numRuns: 20 },
  );
  assert(carriedOut > 50);
});
