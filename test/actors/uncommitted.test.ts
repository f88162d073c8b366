/** The state of a cluster's leader has an uncommitted change only while commands are decided. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import { stateBytes } from '../../src/domain/state/records.ts';
import type { World } from '../../src/domain/state/world.ts';
import { PersistentMap } from '../../src/domain/value/persistent-map.ts';
import { LocalCommitLog } from '../../src/persistence/journal/commit-log.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import { commandsOn } from '../support/random-commands.ts';
import { auditWorld } from '../support/world-audit.ts';

const COMMANDS = 600;
/** Commands that wait for the disk together at most. */
const TOGETHER_MAX = 6;

/** All of the state, in its order, and all that is derived from it. */
function pictureOf({ lastId, lastAt, lastChain, world }: TestEngine['store']['engine']) {
  const { directory, projects, flagProjects, references, served, favoredBy } = world;
  return {
    ...{ lastId, lastAt, lastChain, state: stateHash(world), lineage: world.lineage.recorded },
    bytes: stateBytes(world),
    maps: Object.entries(directory).map(([name, value]) => {
      if (name === 'edit') return [name];
      return [name, value instanceof PersistentMap ? [...value.keys()].map(String) : value];
    }),
    flagProjects: [...flagProjects].sort(),
    favoredBy: [...favoredBy].sort(),
    uses: [...references.counts].map(([key, counts]) => [key, [...counts].sort()]).sort(),
    projects: [...projects].map(([id, { flags, settings, revision }]) => [
      ...[id, settings, revision, flags.activeCount, [...flags.keys()]],
      [...flags.values()].map(({ flag, bytes, revision: changed }) => [flag.name, bytes, changed]),
      flags.chunks.map((chunk) => chunk.values.map(({ flag }) => flag.name)),
      settings.environments.map((name) => [
        flags.enabledCount(name),
        served.documentBytes(directory.segments, name, [id]),
      ]),
    ]),
  };
}

/** Without what the order of rare steps decides, and without what names of starts do. */
const comparable = (picture: ReturnType<typeof pictureOf>) => {
  const { lineage, lastChain, ...rest } = picture;
  return {
    ...rest,
    names: lineage.length,
    isChained: lastChain > 0,
  };
};

const auditOf = ({ world, lastId }: { readonly world: World; readonly lastId: number }): void =>
  auditWorld(world, lastId);

describe('a leader of a cluster', () => {
  it('shows the decided state before, between and after the turns of any commands, and decides as one that stands alone', async () => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const alone = await openTestEngine();
    const leader = await openTestEngine({ commitLog: new LocalCommitLog() });
    const { engine } = leader.store;
    const commands = commandsOn(alone.store.engine, { seed, count: COMMANDS });
    let left = COMMANDS;
    while (left > 0) {
      const before = pictureOf(engine);
      leader.gate.close();
      const waiting = [];
      // Where what waits is dear to take back, the next command waits until it is decided.
      const togetherMax = 1 + (left % TOGETHER_MAX);
      while (waiting.length < togetherMax && left > 0 && engine.queuedCount === 0) {
        const command: Command = commands.next().value;
        left -= 1;
        const expected = await alone.execute(command);
        const submitted = leader.submit(command);
        leader.manual.runTurns();
        assert.deepEqual(pictureOf(engine), before, `SEED=${seed} ${JSON.stringify(command)}`);
        auditOf(engine);
        waiting.push({ command, expected, submitted });
      }
      leader.gate.open();
      for (let round = 0; round < 2; round += 1) {
        await engine.journal.flush();
        await settle();
        leader.manual.runTurns();
      }
      await engine.journal.flush();
      await settle();
      for (const { command, expected, submitted } of waiting)
        assert.deepEqual(submitted.outcome, expected, `SEED=${seed} ${JSON.stringify(command)}`);
      assert.deepEqual(
        comparable(pictureOf(engine)),
        comparable(pictureOf(alone.store.engine)),
        `SEED=${seed}`,
      );
      auditOf(engine);
    }
  });

  it('has a read wait for nothing while its write waits for the disk, and decides on what it wrote', async () => {
    const { store, submit, gate, manual } = await openTestEngine({ commitLog: new LocalCommitLog() });
    const { engine } = store;
    gate.close();
    const before = engine.lastId;
    const first = submit(createFlag('f'));
    manual.runTurns();
    const again = submit(createFlag('f'));
    manual.runTurns();
    assert.equal(engine.world.projects.get('default')!.flags.has('f'), false);
    assert.deepEqual([engine.lastId, engine.durableId], [before, before]);
    assert.deepEqual([first.outcome, again.outcome], [null, null]);
    gate.open();
    await settle();
    assert.equal(engine.world.projects.get('default')!.flags.has('f'), true);
    assert.deepEqual(first.outcome, { kind: 'response', response: ['feature-created'] });
    assert(again.outcome?.kind === 'refusal' && again.outcome.refusal.name === 'NameExistsError');
  });

  it('tells a retry of an uncommitted change the response of the first, once it is decided', async () => {
    const { submit, gate, manual } = await openTestEngine({ commitLog: new LocalCommitLog() });
    const retry = {
      ...{ key: 'once', fingerprint: 'once' },
      toRemember: () => ({ status: 200, body: 'the first' }),
      fromMemory: ({ body }: { readonly body: string | null }) => body,
    };
    const turn = (command: Command) => {
      const submitted = submit(command, { retry });
      manual.runTurns();
      return submitted;
    };
    gate.close();
    turn(createFlag('f'));
    const again = turn(createFlag('f'));
    assert.equal(again.outcome, null);
    gate.open();
    await settle();
    assert.deepEqual(again.outcome, { kind: 'response', response: 'the first' });
    assert.deepEqual(turn(createFlag('f')).outcome, { kind: 'response', response: 'the first' });
  });

  it('takes a snapshot of the decided state', async () => {
    const { store, submit, gate, manual, disk } = await openTestEngine({ commitLog: new LocalCommitLog() });
    gate.close();
    manual.nowMs += 1_000;
    submit(createFlag('f'));
    manual.runFreely();
    const decided = { id: store.engine.lastId, chain: store.engine.lastChain, at: store.engine.lastAt };
    const taking = store.keeper.take();
    await settle();
    gate.open();
    assert.equal((await taking)?.id, decided.id);
    await store.close();
    const again = await openTestEngine({ disk });
    assert.equal(again.store.engine.world.projects.get('default')!.flags.has('f'), true);
    assert(decided.at < again.store.engine.lastAt);
  });
});
