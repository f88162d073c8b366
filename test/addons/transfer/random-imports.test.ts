/** Imports of made-up flags among commands of every type: what always holds of the state that they leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportFlags } from '../../../src/addons/transfer/import-issues.ts';
import { importFlags } from '../../../src/addons/transfer/transfer-commands.ts';
import { type Command, ownCommand } from '../../../src/domain/decide/decide.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { checkOwnCommands } from '../../support/own-commands.ts';
import { anyStrategy, ENVIRONMENTS, FLAGS, pick, type ValueRandom } from '../../support/random-values.ts';

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

test('an import counts its memory, is repeated without an event, and replays to the same state', () =>
  checkOwnCommands({
    numRuns: 20,
    timesMin: 51,
    choices: (random, world) => ({ import: anyImport(random, world) }),
    after: (state, command) => assert.deepEqual(state.run(command), []),
  }));
