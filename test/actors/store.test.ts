/** A data folder opened and closed: what was answered is there again. Faults of the disk are in test/persistence. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../src/actors/world-snapshot.ts';
import { createFlag, openTestEngine, START_AT, settle } from '../support/engine.ts';

describe('a store', () => {
  it('comes back after a clean stop from its snapshot alone, with the same ids and times', async () => {
    const first = await openTestEngine();
    first.manual.nowMs += 1234;
    await first.execute(createFlag('f'));
    first.manual.runFreely();
    await first.store.close();
    const { engine } = first.store;
    const second = await openTestEngine({ disk: first.disk });
    assert.equal(second.store.recovery.replayedEvents, 0);
    assert.equal(stateHash(second.store.engine.world), stateHash(engine.world));
    assert.deepEqual(
      [second.store.engine.lastId, second.store.engine.lastAt],
      [engine.lastId, START_AT + 1234],
    );
  });

  it('goes on counting and never goes back in time after a restart, though the clock did', async () => {
    const first = await openTestEngine();
    first.manual.nowMs += 5000;
    await first.execute(createFlag('f'));
    const second = await openTestEngine({ disk: first.disk.crash() });
    const { engine } = second.store;
    const lastId = engine.lastId;
    await second.execute(createFlag('g'));
    assert.equal(engine.lastId, lastId + 1);
    assert.equal(
      engine.world.projects.get('default')?.flags.get('g')?.flag.createdAt,
      '2024-05-01T00:00:05.000Z',
    );
  });

  it('has after a crash what was answered, and the events of all of it', async () => {
    const first = await openTestEngine();
    await first.execute(createFlag('answered'));
    first.gate.close();
    const open = first.submit(createFlag('unanswered'));
    first.manual.runTurns();
    await settle();
    assert.equal(open.outcome, null);
    const second = await openTestEngine({ disk: first.disk.crash() });
    const { engine } = second.store;
    assert(engine.world.projects.get('default')?.flags.has('answered'));
    const page = await engine.eventLog.search({ limit: 100, offset: 0 }, engine.durableId);
    assert.equal(page.totalEvents, engine.lastId);
  });

  it('is durable in all that a recovery shows, before anybody can ask', async () => {
    const first = await openTestEngine();
    await first.execute(createFlag('f'));
    const { engine } = (await openTestEngine({ disk: first.disk.crash() })).store;
    assert.equal(engine.durableId, engine.lastId);
  });
});
