import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CourierOptions } from '../../../src/addons/integrations/courier.ts';
import { crashWhileSending, range, sendToFlaky, takeOverWhileSending } from './courier-scenarios.ts';
import { HOUR_MS, integrationTo, MemoryCursors, Scene } from './courier-scene.ts';

test('an integration gets the events behind its cursor that it wants, in order, and new ones as they come', async () => {
  const scene = new Scene();
  scene.integrations = [
    integrationTo(1),
    integrationTo(2, { projects: ['b'] }),
    integrationTo(3, { environments: ['production'] }),
    integrationTo(4, { events: ['feature-archived'], projects: ['*'] }),
    integrationTo(5, { enabled: false }),
  ];
  for (let at = 0; at < 60; at += 1) scene.journal.record({ project: at % 2 === 0 ? 'a' : 'b' });
  scene.start(new MemoryCursors([1, 2, 3, 4, 5].map((id) => [id, 10])));
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1), range(11, 60));
  assert.deepEqual(
    scene.taken(2),
    range(11, 60).filter((id) => id % 2 === 0),
  );
  // An event without an environment is for every environment.
  assert.deepEqual(scene.taken(3), range(11, 60));
  assert.deepEqual(scene.taken(4), []);
  const last = [
    scene.journal.record({ environment: 'development' }),
    scene.journal.record({ type: 'feature-archived' }),
  ];
  scene.journal.record({ type: 'feature-updated' });
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(1), [...range(11, 60), ...last]);
  assert.deepEqual(scene.taken(3), [...range(11, 60), last[1]]);
  assert.deepEqual(scene.taken(4), [last[1]]);
  assert.deepEqual(scene.taken(5), []);
});

test('a new integration begins behind the event that created it, also where a crash came between', async () => {
  const scene = new Scene();
  scene.journal.record();
  scene.journal.record({ type: 'addon-config-created', data: { id: 1 } });
  scene.journal.record();
  scene.integrations = [integrationTo(1, { createdRevision: 2 })];
  const cursors = new MemoryCursors();
  const courier = scene.start(cursors);
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(1), [3]);
  scene.journal.record({ type: 'addon-config-created', data: { id: 2 } });
  scene.journal.record();
  scene.integrations = [...scene.integrations, integrationTo(2, { createdRevision: 4 })];
  assert.equal(courier.status(2)?.eventId, 4, 'its position is known at once');
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(2), [5]);
  scene.integrations = [scene.integrations[1]!];
  scene.journal.record();
  await scene.time.run(1_000);
  assert.deepEqual([...cursors.cursors.keys()], [2]);
});

test('a new integration whose creation is not on disk yet misses nothing', async () => {
  const scene = new Scene();
  scene.journal.record();
  scene.start(new MemoryCursors());
  await scene.time.run(1_000);
  scene.integrations = [integrationTo(1, { createdRevision: 3 })];
  scene.journal.record();
  await scene.time.run(1_000);
  scene.journal.record({ type: 'addon-config-created', data: { id: 1 } });
  scene.journal.record();
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(1), [4]);
});

test('an integration that is created while the server begins to send misses nothing', async () => {
  const scene = new Scene();
  const cursors = new MemoryCursors([], false);
  const { load } = cursors;
  cursors.load = () => {
    scene.integrations = [integrationTo(1, { createdRevision: 1 })];
    scene.journal.record({ type: 'addon-config-created', data: { id: 1 } });
    scene.journal.record();
    return load();
  };
  scene.start(cursors);
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(1), [2]);
});

test('without its file of cursors, a server begins with the next event and says so', async () => {
  const scene = new Scene();
  scene.journal.record({ type: 'addon-config-created', data: { id: 1 } });
  scene.journal.record();
  scene.integrations = [integrationTo(1)];
  scene.start(new MemoryCursors([], false));
  await scene.time.run(1_000);
  scene.journal.record();
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(1), [3]);
  assert.deepEqual(scene.told, ['begun anew 1 at 2']);
});

test('a cursor that lies behind the newest event is brought back to it, which is said', async () => {
  const scene = new Scene();
  scene.journal.record();
  scene.integrations = [integrationTo(1)];
  scene.start(new MemoryCursors([[1, 50]]));
  await scene.time.run(1_000);
  scene.journal.record();
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(1), [2]);
  assert.deepEqual(scene.told, ['brought back 1: 50 to 1']);
});

test('where retention has passed the cursor, sending goes on with the oldest event, and says so', async () => {
  const scene = new Scene();
  for (let at = 0; at < 100; at += 1) scene.journal.record();
  scene.journal.oldest = 71;
  scene.integrations = [integrationTo(1)];
  const courier = scene.start(new MemoryCursors([[1, 10]]));
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1), range(71, 100));
  assert.deepEqual(scene.told, ['removed 1: 11-70']);
  assert.equal(
    (await courier.rows(1)).at(-1)?.reason,
    'Events 11 to 70 were removed from the history before they were sent.',
  );
});

test('a start that still reads its journal waits for it', async () => {
  const scene = new Scene();
  for (let at = 0; at < 50; at += 1) scene.journal.record();
  scene.journal.isWhole = false;
  scene.integrations = [integrationTo(1)];
  scene.start(new MemoryCursors([[1, 10]]));
  await scene.time.run(5_000);
  assert.deepEqual(scene.arrivals, []);
  scene.journal.isWhole = true;
  await scene.time.run(5_000);
  assert.deepEqual(scene.taken(1), range(11, 50));
});

test('events reach receivers that fail half the time, hang, redirect or are away for a day, in order and without loss', () =>
  sendToFlaky({ events: 1_000, seed: 11 }));

test('over crashes each event arrives, in order, and only what was under way is repeated', () =>
  crashWhileSending({ crashes: 20, seed: 1 }));

test('over take-overs each event arrives, in order, and only what was under way is repeated', () =>
  takeOverWhileSending({ takeOvers: 10, seed: 1 }));

test('integrations that fail do not hold up the others, and use few connections', async () => {
  const scene = new Scene();
  const ids = range(1, 100);
  scene.integrations = ids.map((id) => integrationTo(id));
  for (const id of range(1, 50)) scene.receivers.set(id, () => ({ status: null, tookMs: 10_000 }));
  scene.start(new MemoryCursors(ids.map((id) => [id, 0])));
  scene.journal.record();
  await scene.time.run(20_000);
  scene.underWayMax = 0;
  const begunMs = scene.time.nowMs;
  const eventId = scene.journal.record();
  await scene.time.run(1_000);
  for (const id of range(51, 100)) {
    const arrival = scene.arrivals.find((one) => one.integration === id && one.eventId === eventId);
    assert(arrival !== undefined && arrival.atMs - begunMs <= 100, `integration ${id}`);
  }
  await scene.time.run(HOUR_MS);
  assert(scene.underWayMax <= 50 + 16, `${scene.underWayMax} attempts under way`);
});

test('a receiver that is dead for a week is parked after three days and goes on from its cursor', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  let status: number | null = null;
  scene.receivers.set(1, () => ({ status, tookMs: 10 }));
  const cursors = new MemoryCursors([[1, 0]]);
  const courier = scene.start(cursors);
  for (let hour = 0; hour < 7 * 24; hour += 1) {
    scene.journal.record();
    await scene.time.run(HOUR_MS);
  }
  assert.equal(courier.parkedCount, 1);
  assert.equal(courier.status(1)?.state, 'parked');
  assert.deepEqual(scene.told, ['parked 1']);
  assert.equal(cursors.cursors.get(1)?.eventId, 0);
  const attempts = scene.arrivals.length;
  assert(attempts < 200, `${attempts} attempts`);
  status = 200;
  assert(courier.sendAgain(1));
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1), range(1, 168));
  assert.equal(courier.parkedCount, 0);
  assert.equal((await courier.rows(1))[0]?.eventId, 168);
});

test('a receiver that asks for a pause gets it, and one that is gone is parked with the reason', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1), integrationTo(2)];
  scene.receivers.set(1, () => ({ status: 503, tookMs: 10, retryAfterMs: 20 * 60_000 }));
  scene.receivers.set(2, () => ({ status: 410, tookMs: 10 }));
  const courier = scene.start(
    new MemoryCursors([
      [1, 0],
      [2, 0],
    ]),
  );
  scene.journal.record();
  await scene.time.run(HOUR_MS - 60_000);
  assert.equal(scene.arrivals.filter(({ integration }) => integration === 1).length, 3);
  assert.equal(scene.arrivals.filter(({ integration }) => integration === 2).length, 1);
  assert.equal(courier.status(2)?.state, 'parked');
  assert.equal((await courier.rows(2))[0]?.reason, 'The receiver is gone (status 410).');
});

test('the three days of failures go on over a restart', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  scene.receivers.set(1, () => ({ status: 500, tookMs: 10 }));
  const cursors = new MemoryCursors([[1, 0]]);
  scene.journal.record();
  const first = scene.start(cursors);
  await scene.time.run(2 * 24 * HOUR_MS);
  await Promise.all([first.close(), scene.time.run(3_000)]);
  const second = scene.start(cursors);
  await scene.time.run(23 * HOUR_MS);
  assert.equal(second.parkedCount, 0);
  await scene.time.run(3 * HOUR_MS);
  assert.equal(second.parkedCount, 1);
});

test('a changed integration is tried again at once, and a disabled one misses what happens meanwhile', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  scene.receivers.set(1, () => ({ status: 500, tookMs: 10 }));
  scene.start(new MemoryCursors([[1, 0]]));
  scene.journal.record();
  await scene.time.run(12 * HOUR_MS);
  scene.integrations = [integrationTo(1, { parameters: { url: 'http://receiver-2/' } })];
  scene.journal.record({ type: 'addon-config-updated' });
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(2), [1]);
  scene.integrations = [{ ...scene.integrations[0]!, enabled: false }];
  scene.journal.record({ type: 'addon-config-updated' });
  scene.journal.record();
  await scene.time.run(1_000);
  scene.integrations = [{ ...scene.integrations[0]!, enabled: true }];
  scene.journal.record({ type: 'addon-config-updated' });
  const wanted = scene.journal.record();
  await scene.time.run(1_000);
  assert.deepEqual(scene.taken(2), [1, wanted]);
});

test('an integration that was disabled during an attempt misses what happened until it is enabled', async () => {
  const scene = new Scene();
  const enabled = integrationTo(1);
  scene.integrations = [enabled];
  scene.receivers.set(1, () => ({ status: 500, tookMs: 1_000 }));
  scene.start(new MemoryCursors([[1, 0]]));
  scene.journal.record();
  await scene.time.run(100);
  scene.integrations = [{ ...enabled, enabled: false }];
  scene.journal.record({ type: 'addon-config-updated' });
  await scene.time.run(1_500);
  scene.receivers.delete(1);
  scene.journal.record();
  await scene.time.run(100);
  scene.integrations = [enabled];
  scene.journal.record({ type: 'addon-config-updated' });
  const wanted = scene.journal.record();
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1), [wanted]);
});

test('an integration goes on from an event that it is told, back and forth, also with an attempt under way', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  const courier = scene.start(new MemoryCursors([[1, 0]]));
  for (let at = 0; at < 50; at += 1) scene.journal.record();
  await scene.time.run(10_000);
  assert(await courier.goOn(1, 48));
  await scene.time.run(10_000);
  assert.deepEqual(scene.taken(1), [...range(1, 50), 48, 49, 50]);
  scene.receivers.set(1, () => ({ status: 200, tookMs: 1_000 }));
  scene.journal.record();
  await scene.time.run(100);
  assert(await courier.goOn(1, 3));
  scene.receivers.delete(1);
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1).slice(53), [51, ...range(3, 51)]);
  assert.equal(await courier.goOn(9, 3), false);
});

test('nothing is sent before the cursor behind the last delivery is kept', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  const cursors = new MemoryCursors([[1, 0]]);
  const { save } = cursors;
  let fails = true;
  cursors.save = (id, cursor) => (fails ? Promise.reject(new Error('the disk is full')) : save(id, cursor));
  scene.start(cursors);
  scene.journal.record();
  scene.journal.record();
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1), [1]);
  assert.deepEqual(scene.told, ['Error: the disk is full']);
  fails = false;
  await scene.time.run(60_000);
  assert.deepEqual(scene.taken(1), [1, 2]);
});

test('a stop keeps the cursors of what was delivered', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  const cursors = new MemoryCursors([[1, 0]]);
  const courier = scene.start(cursors);
  for (let at = 0; at < 10; at += 1) scene.journal.record({ type: 'feature-updated' });
  scene.journal.record();
  scene.journal.record({ type: 'feature-updated' });
  await scene.time.run(27);
  await Promise.all([courier.close(), scene.time.run(3_000)]);
  assert.equal(cursors.cursors.get(1)?.eventId, 11);
});

test('a test is sent at once, out of order, and shown', async () => {
  const scene = new Scene();
  scene.integrations = [integrationTo(1)];
  scene.receivers.set(1, () => ({ status: 404, tookMs: 1 }));
  const courier = scene.start(new MemoryCursors([[1, 0]]));
  await scene.time.run(100);
  const event = {
    ...{ id: 0, createdAt: '', type: 'feature-created', createdBy: 'ada', createdByUserId: 1 },
    ...{ environment: null, project: 'default', featureName: 'test', data: {}, preData: null, tags: [] },
  };
  const sent = courier.sendTest(1, event);
  await scene.time.run(100);
  assert.equal((await sent)?.state, 'failed');
  assert.equal((await courier.rows(1))[0]?.eventId, 0);
  assert.equal(courier.status(1)?.state, 'sending');
});

type Check = <T>(value: T) => T;

/** Each place at which a courier leaves its own code, broken while `check` throws. */
const PLACES: Readonly<
  Record<string, (scene: Scene, cursors: MemoryCursors, check: Check) => Partial<CourierOptions>>
> = {
  'the state': (scene, _, check) => ({ integrations: () => check(scene.integrations) }),
  'the leadership': (_, __, check) => ({ isLeading: () => check(true) }),
  'the share of users': (_, __, check) => ({ shareOf: () => check(null) }),
  'the pace': (_, __, check) => ({ pace: async () => check(undefined) }),
  'the ring of changes': ({ journal: { feed } }, _, check) => {
    const since = feed.since.bind(feed);
    feed.since = (id) => check(since(id));
    return {};
  },
  'the journal': ({ journal }, _, check) => {
    journal.onWalk = () => check(undefined);
    return {};
  },
  'a read of cursors': (_, cursors, check) => {
    const { load } = cursors;
    cursors.load = async () => check(await load());
    return {};
  },
  'a write of cursors': (_, cursors, check) => {
    const { save } = cursors;
    cursors.save = async (...of) => check(await save(...of));
    return {};
  },
};

for (const [place, broken] of Object.entries(PLACES)) {
  test(`a fault of ${place} is reported, ends no process, and loses nothing`, async () => {
    const scene = new Scene();
    scene.integrations = [integrationTo(1)];
    for (let at = 0; at < 50; at += 1) scene.journal.record();
    const cursors = new MemoryCursors([[1, 0]]);
    let isBroken = true;
    const check: Check = (value) => {
      if (isBroken) throw new Error('broken');
      return value;
    };
    const courier = scene.start(cursors, broken(scene, cursors, check));
    await scene.time.run(5_000);
    assert(scene.told.includes('Error: broken'), 'it is reported');
    isBroken = false;
    await scene.time.run(60_000);
    assert.deepEqual([...new Set(scene.taken(1))], range(1, 50));
    assert.equal(courier.status(1)?.state, 'sending');
  });
}

test('a stop goes on where the cursors cannot be closed', async () => {
  const scene = new Scene();
  const cursors = new MemoryCursors();
  cursors.close = () => Promise.reject(new Error('broken'));
  const courier = scene.start(cursors);
  await scene.time.run(100);
  await Promise.all([courier.close(), scene.time.run(3_000)]);
  assert.deepEqual(scene.told, ['Error: broken']);
});
