/** A data folder opened and closed: what was answered is there again. Faults of the disk are in test/persistence. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outlinesOf } from '../../src/actors/state/flag-outlines.ts';
import { UndecodableFlagError } from '../../src/actors/state/packed-flags.ts';
import { snapshotSections, stateHash } from '../../src/actors/state/world-snapshot.ts';
import { DataFolderError } from '../../src/persistence/disk/data-folder.ts';
import { writeSnapshot } from '../../src/persistence/snapshots/snapshot-writer.ts';
import { createFlag, FOLDER, openTestEngine, START_AT, settle, type TestEngine } from '../support/engine.ts';

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

async function saveIndex({ manual, store: { engine } }: TestEngine): Promise<void> {
  manual.runFreely();
  await engine.eventLog.saveIndex(engine.durableId);
  manual.holdTurns();
}

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

  it('reads the snapshot once at a start, and what it replays once to verify and once for state and index', async () => {
    const first = await openTestEngine();
    await createFlags(first, 0, 20);
    const snapshot = await takeSnapshot(first);
    const before = first.disk.bytesOf(SEGMENT).length;
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
    const tail = whole - before;
    assert(read >= whole + tail && read < whole + 1.5 * tail, `${read} bytes read of ${whole} and ${tail}`);
  });

  it('finds after a restart all events by an index that it did not read the journal for', async () => {
    const first = await openTestEngine();
    await createFlags(first, 0, 5);
    await takeSnapshot(first);
    await createFlags(first, 5, 10);
    await saveIndex(first);
    await createFlags(first, 10, 15);
    const search = { project: 'default', type: 'feature-created', limit: 100, offset: 0 };
    const { engine } = first.store;
    const before = await engine.eventLog.search(search, engine.durableId);
    assert.equal(before.totalEvents, 15);
    let disk = first.disk;
    for (const missing of [[], [SEGMENT.replace('.journal', '.index')]]) {
      disk = disk.crash();
      for (const path of missing) disk.take(path);
      const second = (await openTestEngine({ disk })).store.engine;
      assert.deepEqual(await second.eventLog.search(search, second.durableId), before);
    }
  });

  it('trusts no index file that covers what a start cuts off', async () => {
    const first = await openTestEngine();
    await createFlags(first, 0, 5);
    await takeSnapshot(first);
    await createFlags(first, 5, 10);
    const { engine } = first.store;
    await saveIndex(first);
    const disk = first.disk.crash();
    const bytes = disk.bytesOf(SEGMENT);
    bytes[bytes.length - 1]! ^= 1;
    disk.put(SEGMENT, bytes);
    disk.take(`${FOLDER}/journal/durable.mark`);
    const second = (await openTestEngine({ disk })).store;
    assert(second.recovery.tornBytesCut > 0);
    assert.deepEqual(
      [second.engine.lastId, second.engine.eventLog.lastId],
      [engine.lastId - 1, engine.lastId - 1],
    );
  });

  it('is durable in all that a recovery shows, before anybody can ask', async () => {
    const first = await openTestEngine();
    await first.execute(createFlag('f'));
    const { engine } = (await openTestEngine({ disk: first.disk.crash() })).store;
    assert.equal(engine.durableId, engine.lastId);
  });
});

/**
 * A snapshot whose outlines say another revision of the flag than its record, with all checksums right and decoded before it got
 * its name. The one before it is good.
 */
async function forgeSnapshot({ store: { engine }, disk }: TestEngine, forged: string): Promise<string> {
  const outlineOf = (records: readonly unknown[]): unknown => {
    const outline = outlinesOf(records) as ReturnType<typeof outlinesOf>;
    const revisions = outline.revisions.map((id, at) => (outline.names[at] === forged ? id - 1 : id));
    return { ...outline, revisions };
  };
  const written = await writeSnapshot({
    ...{ fs: disk, folder: `${FOLDER}/snapshots`, id: engine.lastId, at: engine.lastAt },
    chain: engine.journal.appendedChain,
    sections: snapshotSections(engine.world).map((section) =>
      section.name === 'flags' ? { ...section, outlineOf } : section,
    ),
    durable: () => engine.journal.flush(),
  });
  return written.path;
}

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

describe('a snapshot with a flag that is not that of its outline', () => {
  const flagOf = ({ store }: TestEngine, name: string) =>
    store.engine.world.projects.get('default')?.flags.get(name);

  async function forgedFolder(): Promise<{ readonly engine: TestEngine; readonly forged: string }> {
    const engine = await openTestEngine();
    await createFlags(engine, 0, 3);
    await takeSnapshot(engine);
    await createFlags(engine, 3, 6);
    return { engine, forged: await forgeSnapshot(engine, 'flag-4') };
  }

  it('is started from, found out by who looks at the flag, and set aside for the next start', async () => {
    const { engine, forged } = await forgedFolder();
    // The first pause of the background work never ends: it would look at the flag too.
    const started = await openTestEngine({ disk: engine.disk.copy(), timer: () => () => undefined });
    assert.equal(started.store.recovery.snapshotId, engine.store.engine.lastId);
    assert.equal(flagOf(started, 'flag-3')?.flag.name, 'flag-3');
    await started.execute(createFlag('later'));
    assert.equal(started.stops.length, 0);
    assert.throws(() => flagOf(started, 'flag-4')?.flag, UndecodableFlagError);
    await settle();
    const [stop, ...more] = started.stops;
    assert(stop instanceof DataFolderError && more.length === 0);
    assert.match(stop.message, /flag-4 of the project default cannot be decoded/);
    assert.deepEqual([stop.file, await started.disk.exists(`${forged}.damaged`)], [forged, true]);
    const again = await openTestEngine({ disk: started.disk.crash() });
    assert((again.store.recovery.snapshotId ?? 0) < engine.store.engine.lastId, 'an older one is used');
    assert.equal(flagOf(again, 'flag-4')?.flag.name, 'flag-4');
    assert.equal(flagOf(again, 'later')?.flag.name, 'later', 'what was acknowledged meanwhile is there');
  });

  it('is found out in the background once its project has lost an environment, and nothing else fails', async () => {
    const { engine } = await forgedFolder();
    const started = await openTestEngine({ disk: engine.disk.copy(), timer: () => () => undefined });
    await started.execute({
      type: 'remove-project-environment',
      project: 'default',
      environment: 'development',
    });
    started.manual.runTurns();
    await settle();
    assert.deepEqual(
      started.stops.map(({ message }) => /flag-4 of the project default cannot be decoded/.test(message)),
      [true],
    );
  });

  it('is not started from where an event behind it changes the flag', async () => {
    const { engine, forged } = await forgedFolder();
    await engine.execute({ type: 'archive-flag', project: 'default', flag: 'flag-4' });
    const started = await openTestEngine({ disk: engine.disk.copy() });
    assert.deepEqual(started.store.recovery.setAside, [forged]);
    assert.equal(stateHash(started.store.engine.world), stateHash(engine.store.engine.world));
    assert.deepEqual(started.stops, []);
  });
});
