/** Nodes that share a commit log: one writes, the others follow, and what the log refuses never happened. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { stateHash } from '../../src/actors/world-snapshot.ts';
import { OWN_STAMP } from '../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../src/persistence/journal/frame-payload.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import { commands } from '../support/every-command.ts';
import { frameOf } from '../support/journal-fixture.ts';
import { SharedLog } from '../support/shared-log.ts';

async function openLeader(log: SharedLog): Promise<TestEngine> {
  const node = log.node();
  await node.fence(0);
  return openTestEngine({ commitLog: node });
}

const openFollower = (log: SharedLog): Promise<TestEngine> =>
  openTestEngine({ commitLog: log.node(), follows: true });

const placeOf = ({ store: { engine } }: TestEngine) => ({
  lastId: engine.lastId,
  durableId: engine.durableId,
  state: stateHash(engine.world),
  lineage: engine.world.lineage.recorded,
});

describe('a node with a commit log', () => {
  it('answers a write when both its disk and the log have it, whichever is later', async () => {
    for (const later of ['disk', 'log'] as const) {
      const log = new SharedLog();
      const { submit, gate, manual } = await openLeader(log);
      gate.close();
      log.gate.close();
      const written = submit(createFlag('f'));
      manual.runTurns();
      await settle();
      (later === 'disk' ? log.gate : gate).open();
      await settle();
      assert.equal(written.outcome, null, `the ${later} does not have it yet`);
      (later === 'disk' ? gate : log.gate).open();
      await settle();
      assert.deepEqual(written.outcome, { kind: 'response', response: ['feature-created'] });
    }
  });

  it('acknowledges nothing more once another node has taken over, and stops', async () => {
    const log = new SharedLog();
    const leader = await openLeader(log);
    const next = log.node();
    await next.fence(log.lastId);
    const { durableId } = leader.store.engine;
    const written = leader.submit(createFlag('too-late'));
    leader.manual.runTurns();
    await settle();
    assert.equal(written.outcome, null);
    assert.equal(leader.store.engine.durableId, durableId);
    assert.match(leader.stops[0]?.message ?? '', /may not write any more: another node took over/);
    assert.equal(leader.store.engine.journal.writable, false);
  });
});

describe('a node that follows', () => {
  it('has the same ids and state as the one that writes, after any commands and a restart', async () => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const log = new SharedLog();
    const leader = await openLeader(log);
    const early = await openFollower(log);
    for (const command of fc.sample(commands, { seed, numRuns: 400 })) leader.submit(command);
    leader.manual.runTurns();
    await leader.store.engine.journal.flush();
    const retry = {
      key: 'k',
      fingerprint: 'f',
      toRemember: () => ({ status: 201, body: '{}' }),
      fromMemory: () => 'remembered',
    };
    leader.submit(createFlag('with-an-answer'), { retry });
    leader.manual.runTurns();
    await settle();
    const late = await openFollower(log);
    await settle();
    const expected = placeOf(leader);
    assert.deepEqual(placeOf(early), expected, `SEED=${seed}`);
    assert.deepEqual(placeOf(late), expected, `SEED=${seed}`);
    const restarted = await openTestEngine({ disk: early.disk.crash() });
    assert.deepEqual(placeOf(restarted), expected, `SEED=${seed}`);
    assert.equal(expected.lineage.length, 1);
  });

  it('shows a change when it is on its own disk, and tells its change feed then', async () => {
    const log = new SharedLog();
    const leader = await openLeader(log);
    const follower = await openFollower(log);
    await settle();
    const { engine } = follower.store;
    const told: string[] = [];
    engine.feed.subscribe((changes) => told.push(...changes.map(({ by }) => by)));
    follower.gate.close();
    const before = engine.durableId;
    await leader.execute(createFlag('f'));
    assert.deepEqual([engine.lastId, engine.durableId, told], [before + 1, before, []]);
    follower.gate.open();
    await settle();
    assert.deepEqual([engine.durableId, told], [before + 1, ['tester']]);
  });

  it('goes on where the other one ended when it takes over', async () => {
    const log = new SharedLog();
    const leader = await openLeader(log);
    const node = log.node();
    const follower = await openTestEngine({ commitLog: node, follows: true });
    await leader.execute(createFlag('first'));
    await settle();
    await node.fence(follower.store.engine.lastId);
    const { lastId } = follower.store.engine;
    const outcome = await follower.execute(createFlag('second'));
    assert.deepEqual(outcome, { kind: 'response', response: ['feature-created'] });
    const names = follower.store.engine.world.lineage;
    assert.equal(names.nameAt(lastId), leader.store.engine.world.lineage.nameAt(lastId));
    assert.notEqual(names.nameAt(lastId + 1), names.nameAt(lastId));
    assert.deepEqual([log.lastId, log.batches.at(-1)?.by], [lastId + 1, node]);
  });

  it('refuses what it cannot read and what does not follow, and changes nothing', async () => {
    const { store, stops } = await openTestEngine();
    const { engine } = store;
    const before = placeOf({ store } as TestEngine);
    const nonsense = { payload: Buffer.from('nonsense'), ...OWN_STAMP };
    assert.throws(() => engine.follow(nonsense), /cannot be read/);
    const ahead = { payload: Buffer.from(encodePayload(frameOf(engine.lastId + 2))), ...OWN_STAMP };
    assert.throws(() => engine.follow(ahead), /begins with event/);
    const next = { payload: Buffer.from(encodePayload(frameOf(engine.lastId + 1))), ...OWN_STAMP };
    assert.throws(() => engine.follow({ ...next, rules: OWN_STAMP.rules + 1 }), /runs a newer version/);
    assert.deepEqual([placeOf({ store } as TestEngine), stops], [before, []]);
  });
});
