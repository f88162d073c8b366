/** Retention, through whole servers on a clock that the test sets. */
import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { dataFolder } from '../../../src/persistence/disk/data-folder.ts';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { dropOldEvents } from '../../../src/persistence/event-log/retention.ts';
import {
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  outputOf,
  segmentsIn,
  snapshotsIn,
  startsOn,
} from '../../support/operator.ts';
import { serverFor, startTestServer, type TestServer } from '../../support/server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const FEATURES = '/projects/default/features';
const DAYS_KEPT = 10;

/** Retention of a signed history goes by blocks of 64 events, of which there are too few here (test/addons/audit/head-keeper.test.ts). */
const UNSIGNED = { observe: async () => ({}) };

const firstIdOf = (path: string): number => Number(/(\d{20})\.journal$/.exec(path)?.[1]);

describe('retention', () => {
  let server: TestServer;
  let now = Date.UTC(2030, 0, 1);
  let madeAt = 0;
  before(async () => {
    const clock = { now: () => now, defer: setImmediate, monotonic: () => performance.now() };
    server = await startTestServer({
      env: { EVENT_RETENTION_DAYS: String(DAYS_KEPT) },
      store: { clock, segmentBytes: 1_024, ...UNSIGNED },
    });
    await server.call('POST', FEATURES, { name: 'old', description: 'first' });
    madeAt = server.server.store.engine.lastId;
  });
  after(() => server.stop());

  const take = () => server.server.store.keeper.take();
  const oldestEvent = (): number => server.server.store.engine.eventLog.firstId;

  /** A day passes, with a few events in it. */
  async function day(name: string): Promise<void> {
    now += DAY_MS;
    for (let index = 0; index < 6; index += 1) {
      assert.equal((await server.call('POST', FEATURES, { name: `${name}-${index}` })).status, 201);
    }
  }

  it('keeps everything while it is young, whatever snapshots are taken', async () => {
    for (let index = 0; index < 4; index += 1) {
      await day(`young-${index}`);
      await take();
    }
    assert.equal(snapshotsIn(server.folder).length, 4, 'the newest three, and the first');
    assert.equal(oldestEvent(), 1);
    assert.equal(firstIdOf(fileAt(segmentsIn(server.folder), 0)), 1);
  });

  it('keeps what is old while the oldest snapshot does not contain it', async () => {
    const oldest = await outputOf(['status', '-d', server.folder]).then((status) => status.snapshots[0].id);
    now += 98 * DAY_MS;
    await day('confirming');
    now += DAY_MS;
    await server.call('PUT', `${FEATURES}/old`, { description: 'second' });
    // Everything before is old now; the oldest of the snapshots that stay bounds what may go.
    const boundary = await outputOf(['status', '-d', server.folder]).then((status) => status.snapshots[1].id);
    await take();
    assert(oldestEvent() > 1, 'something was deleted');
    assert(oldestEvent() <= boundary + 1);
    assert(oldest < boundary);
    assert.equal(firstIdOf(fileAt(segmentsIn(server.folder), 0)), oldestEvent());
  });

  it('deletes whole segments, and the search no longer knows their events', async () => {
    const { body } = await server.call('POST', '/events/search', { limit: 100 });
    const { lastId } = server.server.store.engine;
    assert.equal(body.totalEvents, lastId - oldestEvent() + 1);
    const gone = await server.call('POST', '/events/search', { offset: oldestEvent() - 1 });
    assert.deepEqual(gone.body.events, []);
    assert.equal((await server.call('POST', '/events/search', { query: 'first' })).status, 200);
  });

  it("reads a flag's past from a snapshot where its first events are gone, and says where it is gone too", async () => {
    const { lastId } = server.server.store.engine;
    const was = await server.call('GET', `${FEATURES}/old?at=${lastId - 1}`);
    assert.deepEqual([was.status, was.body.description], [200, 'first']);
    assert.equal((await server.call('GET', `${FEATURES}/old?at=${lastId}`)).body.description, 'second');
    const gone = await server.call('GET', `${FEATURES}/old?at=${madeAt}`);
    assert.equal(gone.status, 404);
    assert.match(gone.body.message, /no longer kept/);
    const back = await server.call('POST', `${FEATURES}/old/rollback`, { eventId: lastId - 1 });
    assert.equal(back.status, 200);
    assert.equal((await server.call('GET', `${FEATURES}/old`)).body.description, 'first');
    assert.equal((await server.call('POST', `${FEATURES}/old/rollback`, { eventId: madeAt })).status, 400);
  });

  it('leaves a folder that starts, verifies, and starts from each of its snapshots', async () => {
    await server.restart();
    const hash = stateHash(server.server.store.engine.world);
    const verified = await outputOf(['verify', '--deep', '-d', server.folder]);
    assert.deepEqual(
      [verified.deep.stateHash, verified.deep.ways],
      [hash, snapshotsIn(server.folder).length],
    );
    const copy = copyOf(server.folder);
    for (const path of snapshotsIn(copy).toReversed().slice(0, 2)) {
      flipByte(path, statSync(path).size - 1);
      await startsOn(copy, async (call) => {
        assert.equal((await call('GET', `${FEATURES}/old`)).body.description, 'first');
      });
    }
  });

  it('lets a restore say what is no longer there', async () => {
    const to = join(copyOf(server.folder), 'restored');
    const { code, err } = await flagstaff(['restore', server.folder, '--to', to, '--at', String(madeAt)]);
    assert.equal(code, 66);
    assert.match(err, /no longer kept.*The oldest state that can be had is that of event \d+/);
    const oldest = Number(/of event (\d+)\.$/.exec(err)?.[1]);
    const restored = await outputOf(['restore', server.folder, '--to', to, '--at', String(oldest)]);
    assert.equal(restored.lastId, oldest);
  });

  it('has each deletion on disk before the next, oldest first, so that a crash leaves no hole', async () => {
    for (const name of ['more', 'still-more', 'most']) {
      await day(name);
      await take();
    }
    now += 100 * DAY_MS;
    for (const name of ['much-later', 'a-day-later']) {
      await day(name);
    }
    const { eventLog, durableId } = server.server.store.engine;
    const steps: string[] = [];
    const fs = {
      ...realFileSystem,
      remove: async (path: string) => {
        if (path.endsWith('.journal')) steps.push(String(firstIdOf(path)));
        await realFileSystem.remove(path);
      },
      rename: async (from: string, to: string) => {
        assert.equal(to, join(server.folder, 'log.beginning'));
        steps.push('begins');
        await realFileSystem.rename(from, to);
      },
      syncFolder: async (folder: string) => {
        steps.push('sync');
        await realFileSystem.syncFolder(folder);
      },
    };
    const before = segmentsIn(server.folder).map(firstIdOf);
    const { folder } = server;
    for (const path of snapshotsIn(folder).slice(0, -1)) rmSync(path);
    const options = { fs, folder: dataFolder(folder), eventLog };
    const dropped = await dropOldEvents(options, { keptMs: DAYS_KEPT * DAY_MS, now, durableId });
    assert(dropped !== null && dropped.segments > 1, 'several segments go');
    const gone = before.filter((id) => id <= dropped.to);
    assert.deepEqual(steps, ['begins', 'sync', ...gone.flatMap((id) => [String(id), 'sync'])]);
    assert.deepEqual([dropped.from, eventLog.firstId], [gone[0], dropped.to + 1]);
    assert.equal(await dropOldEvents(options, { keptMs: DAYS_KEPT * DAY_MS, now, durableId }), null);
  });
});

describe('the states of the days that are kept', () => {
  it('can be gone back to, each of them, while journal and snapshots stay bounded', async (t) => {
    let now = Date.UTC(2030, 0, 1);
    const clock = { now: () => now, defer: setImmediate, monotonic: () => performance.now() };
    const server = await serverFor(t, {
      env: { EVENT_RETENTION_DAYS: String(DAYS_KEPT) },
      store: { clock, segmentBytes: 1_024, ...UNSIGNED },
    });
    await server.call('POST', FEATURES, { name: 'changing' });
    const moments: { readonly day: number; readonly eventId: number }[] = [];
    for (let day = 1; day <= 4 * DAYS_KEPT; day += 1) {
      now += DAY_MS;
      await server.call('PUT', `${FEATURES}/changing`, { description: `day ${day}` });
      const { engine, keeper } = server.server.store;
      moments.push({ day, eventId: engine.lastId });
      await keeper.take();
      assert(snapshotsIn(server.folder).length <= 9, `${snapshotsIn(server.folder).length} snapshots`);
    }
    // The newest event confirms those of the day before.
    const kept = moments.filter(({ day }) => day >= 3 * DAYS_KEPT - 1);
    const oldestKept = moments.find(({ eventId }) => eventId >= server.server.store.engine.eventLog.firstId);
    assert((oldestKept?.day ?? 0) >= 3 * DAYS_KEPT - 1 - DAYS_KEPT / 2, 'the journal is cut off');
    for (const { day, eventId } of kept) {
      const was = await server.call('GET', `${FEATURES}/changing?at=${eventId}`);
      assert.deepEqual([was.status, was.body.description], [200, `day ${day}`]);
    }
    const [first] = kept;
    const to = join(copyOf(server.folder), 'restored');
    const restored = await outputOf(['restore', server.folder, '--to', to, '--at', String(first?.eventId)]);
    assert.equal(restored.lastId, first?.eventId);
  });
});

describe('a clock that is wrong by ten years', () => {
  it('deletes nothing by one reading, nor after a restart, and all that is old a day later', async (t) => {
    let now = Date.UTC(2030, 0, 1);
    const clock = { now: () => now, defer: setImmediate, monotonic: () => performance.now() };
    const server = await serverFor(t, {
      env: { EVENT_RETENTION_DAYS: String(DAYS_KEPT) },
      store: { clock, segmentBytes: 1_024, ...UNSIGNED },
    });
    const change = async (name: string): Promise<number> => {
      for (let index = 0; index < 6; index += 1)
        assert.equal((await server.call('POST', FEATURES, { name: `${name}-${index}` })).status, 201);
      await server.server.store.keeper.take();
      return server.server.store.engine.eventLog.firstId;
    };
    for (const name of ['first', 'second', 'third']) {
      now += DAY_MS;
      assert.equal(await change(name), 1);
    }
    now += 3_650 * DAY_MS;
    assert.equal(await change('wrong'), 1);
    await server.restart();
    assert.equal(await change('still-wrong'), 1);
    assert.equal(await change('wrong-for-an-hour'), 1);
    now += DAY_MS;
    assert((await change('right-after-all')) > 1, 'a second day confirms the first one');
  });
});
