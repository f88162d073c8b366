/** The keeper of heads, on a whole store: a head for what is on disk, and none over a journal that contradicts the last one. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { HeadKeeper } from '../../src/actors/head-keeper.ts';
import { newHistoryId, writeLogHistory } from '../../src/persistence/journal/log-history.ts';
import { HeadsFile, headsPath } from '../../src/persistence/proof/heads-file.ts';
import { rootOf } from '../../src/persistence/proof/merkle-tree.ts';
import { HeadSigner, parseHead } from '../../src/persistence/proof/signed-head.ts';
import { growTree, type TreePlace } from '../../src/persistence/proof/tree-growth.ts';
import { createFlag, FOLDER, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import { appendFrames, headsOf, JOURNAL } from '../support/journal-fixture.ts';
import { MemoryFileSystem } from '../support/memory-file-system.ts';

const newSigner = (): HeadSigner => new HeadSigner(generateKeyPairSync('ed25519').privateKey);

/** Runs what is due when the test says so. */
class Timers {
  readonly #due: (() => void)[] = [];

  readonly timer = (_delayMs: number, run: () => void) => {
    this.#due.push(run);
    return () => void this.#due.splice(this.#due.indexOf(run), 1);
  };

  async pass(): Promise<void> {
    for (const run of this.#due.splice(0)) run();
    await settle();
  }
}

interface Opened extends TestEngine {
  readonly timers: Timers;
  readonly logged: string[];
}

async function open(signer: HeadSigner, disk = new MemoryFileSystem()): Promise<Opened> {
  const timers = new Timers();
  const logged: string[] = [];
  const log = {
    info: () => undefined,
    warn: (_details: object, message: string) => void logged.push(message),
    error: (_details: object, message: string) => void logged.push(message),
  };
  await disk.makeFolder(FOLDER);
  const engine = await openTestEngine({ disk, signer, log, timer: timers.timer });
  await writeLogHistory(disk, FOLDER, { id: newHistoryId(), decidedBy: 'disk' });
  await timers.pass();
  return { ...engine, timers, logged };
}

async function close({ store, manual }: Opened): Promise<void> {
  manual.runFreely();
  await store.close();
}

test('a head stands for all that is on disk, a second after a change, and at a stop', async () => {
  const signer = newSigner();
  const opened = await open(signer);
  const { store, disk, timers } = opened;
  const seeded = store.engine.durableId;
  assert.equal(store.heads?.newest?.lastId, seeded);
  await opened.execute(createFlag('one'));
  assert.equal(store.heads?.newest?.lastId, seeded, 'a change does not wait for its head');
  await timers.pass();
  const newest = store.heads?.newest;
  assert.equal(newest?.lastId, seeded + 1);
  assert(signer.publicKey.signed(newest?.note ?? ''));
  assert.equal(newest?.key, signer.publicKey.text);
  await opened.execute(createFlag('two'));
  await close(opened);
  const heads = await headsOf(disk, FOLDER);
  assert.equal(heads.at(-1)?.head.lastId, store.engine.durableId, 'a stop signs what is left');
  assert.deepEqual(parseHead(heads.at(-1)?.note ?? ''), heads.at(-1)?.head);
});

test('a start goes on from the last head, and signs all of a folder that has none', async () => {
  const signer = newSigner();
  const first = await open(signer);
  await first.execute(createFlag('one'));
  await close(first);
  const again = await open(signer, first.disk);
  assert.equal(again.store.heads?.newest?.lastId, again.store.engine.durableId);
  assert.deepEqual(again.logged, []);
  await close(again);
});

test('a journal without the last changes that were signed gets no further head, and the server says why', async () => {
  const signer = newSigner();
  const first = await open(signer);
  await close(first);
  const earlier = first.disk.copy();
  const second = await open(signer, first.disk);
  await second.execute(createFlag('one'));
  await close(second);
  for (const name of first.disk.namesIn(FOLDER).filter((name) => name.startsWith('history')))
    earlier.put(`${FOLDER}/${name}`, first.disk.bytesOf(`${FOLDER}/${name}`));
  const third = await open(signer, earlier);
  assert.match(third.store.heads?.problem ?? '', /contradicts its newest signed head: it ends with event/);
  assert.match(third.logged.join(), /not signed any more/);
  await third.execute(createFlag('other'));
  await third.timers.pass();
  assert.equal(third.stops.length, 0, 'it serves all the same');
  await close(third);
});

test('what is recorded while a head is made waits for the next one, so that a busy server is not signing all the time', async () => {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  await appendFrames(disk, { frames: 100 });
  await writeLogHistory(disk, FOLDER, { id: newHistoryId(), decidedBy: 'disk' });
  const timers = new Timers();
  let durableId = 10;
  let growths = 0;
  const keeper = new HeadKeeper({
    ...{ fs: disk, folder: FOLDER, journal: JOURNAL, signer: newSigner(), timer: timers.timer, now: () => 0 },
    history: async () => 'ab'.repeat(16),
    log: { warn: () => assert.fail('nothing is wrong'), error: () => assert.fail('nothing fails') },
    logReader: {
      grow: ({ from, upToId }) => {
        growths += 1;
        durableId += 10;
        return growTree({ fs: disk, folder: JOURNAL }, { from, upToId });
      },
    },
    firstId: () => 1,
    durable: () => ({ id: durableId, chain: 0 }),
  });
  keeper.start();
  await settle();
  assert.deepEqual([growths, keeper.newest?.lastId], [1, 10]);
  await timers.pass();
  assert.deepEqual([growths, keeper.newest?.lastId], [2, 20]);
});

test('the pass over all history holds it against each head, but where an event is declared lost', async () => {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  await appendFrames(disk, { frames: 500, segmentBytes: 4_096 });
  const signer = newSigner();
  const places: TreePlace[] = [];
  for (let more = true; more; ) {
    const found = await growTree({ fs: disk, folder: JOURNAL }, { from: places.at(-1) ?? null, upToId: 500 });
    more = found.length > 0;
    places.push(...found);
  }
  async function problemWith(signed: readonly TreePlace[], lost: readonly number[]): Promise<string | null> {
    const copy = disk.copy();
    const file = await HeadsFile.open(copy, FOLDER);
    for (const place of signed) {
      const { tree, firstId, lastId } = place;
      const head = { history: 'ab'.repeat(16), size: tree.size, root: rootOf(tree), firstId, lastId, at: 0 };
      await file.append(head, signer.sign(head), place);
    }
    await file.close();
    const keeper = new HeadKeeper({
      ...{ fs: copy, folder: FOLDER, journal: JOURNAL, signer, timer: () => () => undefined, now: () => 0 },
      history: async () => 'ab'.repeat(16),
      log: { warn: () => undefined, error: () => undefined },
      logReader: { grow: (request) => growTree({ fs: copy, folder: JOURNAL }, request) },
      firstId: () => 1,
      durable: () => ({ id: 500, chain: 0 }),
    });
    await keeper.check({
      isLost: async (from, to) => lost.some((id) => id >= from && id <= to),
      pause: async () => undefined,
    });
    return keeper.problem;
  }
  assert(places.length > 4);
  assert.equal(await problemWith(places, []), null);
  const [, second, third] = places;
  assert(second !== undefined && third !== undefined);
  const others = third.tree.peaks.map((peak) => Buffer.from(peak.map((byte) => byte ^ 1)));
  const forged = places.map((place) =>
    place === third ? { ...place, tree: { ...place.tree, peaks: others } } : place,
  );
  const problem = `the events from ${second.lastId + 1} to ${third.lastId} are not what was signed`;
  assert.match((await problemWith(forged, [])) ?? '', new RegExp(problem));
  const behind = places[3]!.lastId;
  assert.equal(await problemWith(forged.slice(0, 3), [third.lastId]), null);
  assert.match(
    (await problemWith(forged, [third.lastId])) ?? '',
    new RegExp(`to ${behind} are not what was signed`),
  );
});

test('heads of another key are set aside, and all is signed anew', async () => {
  const first = await open(newSigner());
  await first.execute(createFlag('one'));
  await close(first);
  const signer = newSigner();
  const again = await open(signer, first.disk);
  assert.match(again.logged.join(), /Another key signed the heads/);
  assert(signer.publicKey.signed(again.store.heads?.newest?.note ?? ''));
  assert.equal(again.store.heads?.newest?.lastId, again.store.engine.durableId);
  await close(again);
});

test('a file of heads that ends in nothing but damage is set aside, however long it is, and all is signed anew', async () => {
  const signer = newSigner();
  const first = await open(signer);
  await first.execute(createFlag('one'));
  await close(first);
  const heads = headsPath(FOLDER);
  first.disk.put(heads, Buffer.concat([first.disk.bytesOf(heads), Buffer.alloc(4 * 1024 * 1024)]));
  const again = await open(signer, first.disk);
  assert.match(again.logged.join(), /or they are damaged; they were set aside/);
  assert.equal(again.store.heads?.newest?.lastId, again.store.engine.durableId);
  assert((first.disk.bytesRead.get(heads) ?? 0) < 3 * 1024 * 1024, 'the search is bounded');
  await close(again);
});
