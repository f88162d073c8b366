/** An engine behind a commit log, and one that applies what another one decided. The nodes of a cluster are in test/addons/replication. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { FencedError } from '../../src/persistence/journal/commit-log.ts';
import { type FrameBody, OWN_STAMP } from '../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../src/persistence/journal/frame-payload.ts';
import { createFlag, Gate, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import { frameOf } from '../support/journal-fixture.ts';

const placeOf = ({ store: { engine } }: Pick<TestEngine, 'store'>) => ({
  lastId: engine.lastId,
  durableId: engine.durableId,
  state: stateHash(engine.world),
  lineage: engine.world.lineage.recorded,
});

describe('a node with a commit log', () => {
  it('answers a write when both its disk and the log have it, whichever is later', async () => {
    for (const later of ['disk', 'log'] as const) {
      const log = new Gate();
      const commitLog = {
        append: async ({ lastId }: { readonly lastId: number }) => {
          await log.pass();
          return lastId;
        },
      };
      const { submit, gate, manual } = await openTestEngine({ commitLog });
      gate.close();
      log.close();
      const written = submit(createFlag('f'));
      manual.runTurns();
      await settle();
      (later === 'disk' ? log : gate).open();
      await settle();
      assert.equal(written.outcome, null, `the ${later} does not have it yet`);
      (later === 'disk' ? gate : log).open();
      await settle();
      assert.deepEqual(written.outcome, { kind: 'response', response: ['feature-created'] });
    }
  });

  it('acknowledges nothing more once another node has taken over, and stops', async () => {
    let isFenced = false;
    const leader = await openTestEngine({
      commitLog: {
        append: async ({ lastId }) => {
          if (isFenced) throw new FencedError('another node took over');
          return lastId;
        },
      },
    });
    isFenced = true;
    const { durableId } = leader.store.engine;
    const written = leader.submit(createFlag('too-late'));
    leader.manual.runTurns();
    await settle();
    assert(written.outcome?.kind === 'refusal');
    assert.match(written.outcome.refusal.message, /^The change may have happened/);
    assert.equal(leader.store.engine.durableId, durableId);
    assert.match(leader.stops[0]?.message ?? '', /may not write any more: another node took over/);
    assert.equal(leader.store.engine.journal.writable, false);
  });
});

describe('an engine that follows', () => {
  it('shows a change when it is on its own disk, and tells its change feed then', async () => {
    const decided: FrameBody[] = [];
    const leader = await openTestEngine({
      commitLog: {
        append: async (batch) => {
          for (const body of batch.bodies()) decided.push({ ...body, payload: Buffer.from(body.payload) });
          return batch.lastId;
        },
      },
    });
    const follower = await openTestEngine({ follows: true });
    const edit = {};
    for (const body of decided) follower.store.engine.follow(body, edit);
    follower.store.engine.journal.commit();
    await settle();
    assert.deepEqual(placeOf(follower), placeOf(leader));
    const { engine } = follower.store;
    const told: string[] = [];
    engine.feed.subscribe((changes) => told.push(...changes.map(({ by }) => by)));
    follower.gate.close();
    const before = engine.durableId;
    await leader.execute(createFlag('f'));
    engine.follow(decided.at(-1)!);
    engine.journal.commit();
    await settle();
    assert.deepEqual([engine.lastId, engine.durableId, told], [before + 1, before, []]);
    follower.gate.open();
    await settle();
    assert.deepEqual([engine.durableId, told], [before + 1, ['tester']]);
  });

  it('refuses what it cannot read and what does not follow, and changes nothing', async () => {
    const { store, stops } = await openTestEngine();
    const { engine } = store;
    const before = placeOf({ store });
    const nonsense = { payload: Buffer.from('nonsense'), ...OWN_STAMP };
    assert.throws(() => engine.follow(nonsense), /cannot be read/);
    const ahead = { payload: Buffer.from(encodePayload(frameOf(engine.lastId + 2))), ...OWN_STAMP };
    assert.throws(() => engine.follow(ahead), /begins with event/);
    const next = { payload: Buffer.from(encodePayload(frameOf(engine.lastId + 1))), ...OWN_STAMP };
    assert.throws(() => engine.follow({ ...next, rules: OWN_STAMP.rules + 1 }), /runs a newer version/);
    assert.deepEqual([placeOf({ store }), stops], [before, []]);
  });
});
