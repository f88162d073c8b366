/** A data folder opened and closed: what was answered is there again. Faults of the disk are in test/persistence. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { snapshotSections, stateHash } from '../../src/actors/state/world-snapshot.ts';
import { writeSnapshot } from '../../src/persistence/snapshots/snapshot-writer.ts';
import { createFlag, FOLDER, openTestEngine, type TestEngine } from '../support/engine.ts';

const SEGMENT = `${FOLDER}/journal/00000000000000000001.journal`;

async function createFlags({ execute }: TestEngine, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) await execute(createFlag(`flag-${number}`));
}

async function takeSnapshot({ manual, store }: TestEngine): Promise<string> {
  manual.runFreely();
  const taken = await store.keeper.take();
  manual.holdTurns();
  return taken?.path ?? '';
}

describe('a store', () => {
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

  it('reads the snapshot once at a start, and the journal once, to verify it and for state and index', async () => {
    const first = await openTestEngine();
    await createFlags(first, 0, 20);
    const snapshot = await takeSnapshot(first);
    await createFlags(first, 20, 80);
    const disk = first.disk.crash();
    const { store } = await openTestEngine({ disk });
    assert.equal(store.recovery.replayedFrames, 60);
    assert.equal(store.engine.eventLog.lastId, store.engine.lastId);
    const snapshotBytes = disk.bytesOf(snapshot).length;
    const snapshotRead = disk.bytesRead.get(snapshot) ?? 0;
    assert(
      snapshotRead >= snapshotBytes && snapshotRead < 1.5 * snapshotBytes,
      'the heads of blocks come twice',
    );
    const whole = disk.bytesOf(SEGMENT).length;
    const read = disk.bytesRead.get(SEGMENT) ?? 0;
    assert(read >= whole && read < 1.1 * whole, `${read} bytes read of ${whole}`);
  });

  it('is durable in all that a recovery shows, before anybody can ask', async () => {
    const first = await openTestEngine();
    await first.execute(createFlag('f'));
    const { engine } = (await openTestEngine({ disk: first.disk.crash() })).store;
    assert.equal(engine.durableId, engine.lastId);
  });
});

it('does not start from a snapshot whose state is newer than its event, though all checksums are right', async () => {
  const engine = await openTestEngine();
  await createFlags(engine, 0, 3);
  await takeSnapshot(engine);
  await createFlags(engine, 3, 6);
  const { engine: own } = engine.store;
  const written = await writeSnapshot({
    ...{ fs: engine.disk, folder: `${FOLDER}/snapshots`, id: own.lastId, at: own.lastAt },
    chain: own.journal.appendedChain,
    sections: snapshotSections(own.world).map((section) =>
      section.name === 'counters'
        ? { ...section, records: [...section.records].map((one) => ({ ...(one as object), revision: 1e6 })) }
        : section,
    ),
    durable: () => own.journal.flush(),
  });
  const started = await openTestEngine({ disk: engine.disk.copy() });
  assert.deepEqual(started.store.recovery.setAside, [written.path]);
  assert.equal(stateHash(started.store.engine.world), stateHash(own.world));
});
