/** The times of snapshots, and the failure of one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../src/domain/decide/decide.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import { ioError } from '../support/memory-file-system.ts';

const snapshotIds = ({ disk }: TestEngine): number[] =>
  disk.namesIn('/data/snapshots').map((name) => Number.parseInt(name, 10));

async function createFlags(engine: TestEngine, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) await engine.execute(createFlag(`f${index}`));
}

/** Fails what touches snapshots, until it is told not to. */
function breakSnapshots({ disk }: TestEngine): { mend(): void } {
  const before = disk.beforeCall;
  disk.beforeCall = (call) => {
    if (call.kind === 'open' && call.path.includes('/snapshots/')) throw ioError('EIO', call.path);
    return before?.(call);
  };
  return {
    mend: () => {
      disk.beforeCall = before;
    },
  };
}

describe('the keeper of snapshots', () => {
  it('takes one when that many events are durable, and none before', async () => {
    const engine = await openTestEngine({ eventsPerSnapshot: 10 });
    await createFlags(engine, engine.store.engine.lastId, 9);
    assert.deepEqual(snapshotIds(engine), []);
    await createFlags(engine, 9, 10);
    engine.manual.runFreely();
    await settle();
    assert.deepEqual(snapshotIds(engine), [10]);
    assert.equal(engine.store.keeper.newestId, 10);
    assert.equal(engine.store.keeper.lastTaken?.id, 10);
  });

  it('takes one when that many bytes are in the journal, those before a start included, and none before', async () => {
    const description = 'x'.repeat(1_000);
    const large = (name: string): Command => ({
      ...{ type: 'create-flag', project: 'default', name, metadata: { description } },
    });
    const engine = await openTestEngine({ bytesPerSnapshot: 12_000 });
    for (let index = 0; index < 6; index += 1) await engine.execute(large(`f${index}`));
    assert.deepEqual(snapshotIds(engine), []);
    const again = await openTestEngine({ bytesPerSnapshot: 12_000, disk: engine.disk.crash() });
    for (let index = 6; index < 8; index += 1) await again.execute(large(`f${index}`));
    assert.deepEqual(snapshotIds(again), []);
    for (let index = 8; index < 10; index += 1) await again.execute(large(`f${index}`));
    again.manual.runFreely();
    await settle();
    assert.equal(snapshotIds(again).length, 1);
  });

  it('takes none of a state that the newest one has', async () => {
    const engine = await openTestEngine();
    engine.manual.runFreely();
    const first = await engine.store.keeper.take();
    assert.equal(first?.id, engine.store.engine.lastId);
    assert.equal(await engine.store.keeper.take(), null);
    assert.equal(snapshotIds(engine).length, 1);
  });

  it('takes one at a time: a second request gets the state after the first', async () => {
    const engine = await openTestEngine();
    const { keeper } = engine.store;
    const first = keeper.take();
    engine.submit(createFlag('later'));
    engine.manual.runFreely();
    const second = keeper.take();
    const third = keeper.take();
    const taken = [await first, await second, await third];
    const { lastId } = engine.store.engine;
    assert.deepEqual(
      taken.map((snapshot) => snapshot?.id ?? null),
      [lastId - 1, lastId, null],
    );
  });

  it('keeps the last three', async () => {
    const engine = await openTestEngine();
    for (let index = 0; index < 5; index += 1) {
      engine.manual.holdTurns();
      await createFlags(engine, index, index + 1);
      engine.manual.runFreely();
      await engine.store.keeper.take();
    }
    const { lastId } = engine.store.engine;
    assert.deepEqual(snapshotIds(engine), [lastId - 2, lastId - 1, lastId]);
  });

  it('holds of a moment what was applied then, synced or not, and is published once that is durable', async () => {
    const engine = await openTestEngine();
    engine.gate.close();
    engine.submit(createFlag('unsynced'));
    engine.manual.runTurns();
    engine.manual.runFreely();
    const taking = engine.store.keeper.take();
    await settle();
    assert.deepEqual(
      engine.disk.namesIn('/data/snapshots').filter((name) => name.endsWith('.snapshot')),
      [],
      'nothing is published of what a crash could take back',
    );
    engine.gate.open();
    assert.equal((await taking)?.id, engine.store.engine.lastId);
  });

  it('goes on without a snapshot that fails, and takes the next one when it is due', async () => {
    const engine = await openTestEngine({ eventsPerSnapshot: 5 });
    const disk = breakSnapshots(engine);
    engine.manual.runFreely();
    await assert.rejects(engine.store.keeper.take(), /EIO/);
    assert.equal(engine.store.keeper.newestId, 0);
    assert(engine.store.keeper.failures > 0, 'failures are counted');
    disk.mend();
    const taken = await engine.store.keeper.take();
    assert.equal(taken?.id, engine.store.engine.lastId);
    assert.deepEqual(engine.stops, []);
  });

  it('does not keep a store from closing when the last one fails', async () => {
    const engine = await openTestEngine();
    await engine.execute(createFlag('kept'));
    breakSnapshots(engine);
    engine.manual.runFreely();
    await engine.store.close();
    const again = await openTestEngine({ disk: engine.disk.copy() });
    assert(again.store.engine.world.projects.get('default')?.flags.has('kept'));
  });
});
