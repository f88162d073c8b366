/** The keeper of heads, on a whole store: a head for what is on disk, and none over a journal that contradicts the last one. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { ObservedJournal } from '../../../src/actors/journal-observer.ts';
import { HeadKeeper } from '../../../src/addons/audit/head-keeper.ts';
import { HeadsFile, headsPath } from '../../../src/addons/audit/heads-file.ts';
import { HeadSigner, parseHead } from '../../../src/addons/audit/signed-head.ts';
import type { DurableFrames } from '../../../src/persistence/journal/batch.ts';
import { readDurableMark } from '../../../src/persistence/journal/durable-mark.ts';
import { newHistoryId, writeLogHistory } from '../../../src/persistence/journal/log-history.ts';
import { SEGMENT_HEADER_BYTES, segmentFileName } from '../../../src/persistence/journal/segment.ts';
import { createFlag, FOLDER, openTestEngine, settle, type TestEngine } from '../../support/engine.ts';
import { appendFrames, JOURNAL } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { chainAt, headsOf } from './audit-fixture.ts';

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
  readonly keeper: HeadKeeper;
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
  let keeper: HeadKeeper | null = null;
  const observe = async (journal: ObservedJournal): Promise<HeadKeeper> => {
    keeper = new HeadKeeper(journal, signer);
    return keeper;
  };
  const engine = await openTestEngine({ disk, observe, log, timer: timers.timer });
  assert(keeper !== null);
  await writeLogHistory(disk, FOLDER, { id: newHistoryId(), decidedBy: 'disk' });
  await timers.pass();
  return { ...engine, keeper, timers, logged };
}

async function close({ store, manual }: Opened): Promise<void> {
  manual.runFreely();
  await store.close();
}

test('a head stands for all that is on disk, a second after a change, and at a stop', async () => {
  const signer = newSigner();
  const opened = await open(signer);
  const { store, disk, timers, keeper } = opened;
  const seeded = store.engine.durableId;
  assert.equal(keeper.newest?.lastId, seeded);
  await opened.execute(createFlag('one'));
  assert.equal(keeper.newest?.lastId, seeded, 'a change does not wait for its head');
  await timers.pass();
  const { newest } = keeper;
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
  assert.equal(again.keeper.newest?.lastId, again.store.engine.durableId);
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
  assert.match(third.keeper.problem ?? '', /contradicts its newest signed head: it ends with event/);
  assert.match(third.logged.join(), /not signed any more/);
  await third.execute(createFlag('other'));
  await third.timers.pass();
  assert.equal(third.stops.length, 0, 'it serves all the same');
  await close(third);
});

/** Frames as the journal hands them over. */
async function framesOf(disk: MemoryFileSystem, firstId: number, lastId: number): Promise<DurableFrames> {
  const [begin, end] = [await chainAt(disk, firstId - 1), await chainAt(disk, lastId)];
  const { segment, offset } = end.boundary!;
  const from =
    begin.boundary?.segment === segment ? begin.boundary : { ...end.boundary!, offset: SEGMENT_HEADER_BYTES };
  const bytes = disk.bytesOf(`${JOURNAL}/${segmentFileName(segment)}`).subarray(from.offset, offset);
  return { firstId, lastId, bytes, begin: from, end: end.boundary! };
}

/** A keeper of heads on a journal of events from 1 on. */
async function keeperOn(
  disk: MemoryFileSystem,
  { signer = newSigner(), ...options }: Partial<ObservedJournal> & { readonly signer?: HeadSigner } = {},
): Promise<{ readonly keeper: HeadKeeper; readonly timers: Timers; readonly problems: string[] }> {
  const timers = new Timers();
  const problems: string[] = [];
  const reading = await readDurableMark(disk, JOURNAL);
  assert(reading.state === 'good');
  const ignore = (): void => undefined;
  const journal: ObservedJournal = {
    ...{ fs: disk, folder: FOLDER, timer: timers.timer, now: () => 0, pause: async () => undefined },
    log: { info: ignore, warn: ignore, error: (_details, message) => void problems.push(message) },
    notify: ignore,
    firstId: () =>
      Number(
        disk
          .namesIn(JOURNAL)
          .find((name) => name.endsWith('.journal'))
          ?.slice(0, 20),
      ),
    durable: () => ({ id: reading.mark.lastId, chain: reading.mark.chain }),
    ...options,
  };
  const keeper = new HeadKeeper(journal, signer);
  keeper.start();
  await settle();
  return { keeper, timers, problems };
}

async function diskWith(frames: number, segmentBytes = 16 * 1024): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  await appendFrames(disk, { frames, segmentBytes });
  await writeLogHistory(disk, FOLDER, { id: newHistoryId(), decidedBy: 'disk' });
  return disk;
}

test('frames that become durable while a start reads the journal are in the chain once, and so are those behind it', async () => {
  const disk = await diskWith(3_000, 64 * 1024 * 1024);
  let durableId = 2_500;
  const pause = async (): Promise<void> => {
    durableId = Math.min(durableId + 100, 2_900);
    keeper.durable(await framesOf(disk, durableId - 99, durableId));
  };
  const durable = () => ({ id: durableId, chain: 0 });
  const opened = await keeperOn(disk, { durable, pause });
  const { keeper } = opened;
  await opened.timers.pass();
  assert.equal(keeper.newest?.lastId, durableId);
  durableId += 50;
  keeper.durable(await framesOf(disk, durableId - 49, durableId));
  await opened.timers.pass();
  const head = parseHead(keeper.newest?.note ?? '');
  assert.equal(head?.lastId, durableId);
  assert(head?.link.equals((await chainAt(disk, durableId)).link));
});

test('a head has the link of its event, though the chain goes on while it is written', async () => {
  const disk = await diskWith(3_000, 64 * 1024 * 1024);
  let durableId = 2_000;
  const opened = await keeperOn(disk, { durable: () => ({ id: durableId, chain: 0 }) });
  const [first, second] = [await framesOf(disk, 2_001, 2_900), await framesOf(disk, 2_901, 3_000)];
  durableId = 2_900;
  opened.keeper.durable(first);
  disk.beforeCall = ({ path }) => {
    if (path !== headsPath(FOLDER) || durableId === 3_000) return;
    durableId = 3_000;
    opened.keeper.durable(second);
  };
  await opened.timers.pass();
  for (const { head } of await headsOf(disk, FOLDER))
    assert(head.link.equals((await chainAt(disk, head.lastId)).link), `event ${head.lastId}`);
  assert.equal(durableId, 3_000);
});

test('what retention deletes is said by a signed head before it goes, from which the next start goes on', async () => {
  const disk = await diskWith(3_000);
  const signer = newSigner();
  const { keeper } = await keeperOn(disk, { signer });
  const segments = disk.namesIn(JOURNAL).filter((name) => name.endsWith('.journal'));
  const oldest = Number(segments[2]?.slice(0, 20));
  await keeper.beforeDeletion(oldest);
  const [cut] = await headsOf(disk, FOLDER);
  assert(cut?.head.isCut && signer.publicKey.signed(cut.note));
  assert(cut.head.lastId >= oldest - 1 && cut.head.lastId < oldest + 64 && cut.head.lastId % 64 === 0);
  assert(cut.head.link.equals((await chainAt(disk, cut.head.lastId)).link));
  await keeper.close();
  for (const name of segments.slice(0, 2)) await disk.remove(`${JOURNAL}/${name}`);
  const again = await keeperOn(disk, { signer });
  assert.deepEqual([again.keeper.newest?.lastId, again.problems], [3_000, []]);
});

test('a start on a journal whose beginning is gone, without a head that says so, signs nothing more and deletes nothing more', async () => {
  const disk = await diskWith(3_000);
  const signer = newSigner();
  await (await keeperOn(disk, { signer })).keeper.close();
  const segments = disk.namesIn(JOURNAL).filter((name) => name.endsWith('.journal'));
  const oldest = Number(segments[2]?.slice(0, 20));
  for (const name of segments.slice(0, 2)) await disk.remove(`${JOURNAL}/${name}`);
  const { keeper, problems } = await keeperOn(disk, { signer });
  const told = new RegExp(
    `not signed any more: the events from 1 to ${oldest - 1} are missing, and no signed`,
  );
  assert.match(problems.join(), told);
  await assert.rejects(keeper.beforeDeletion(oldest + 100), told);
});

test('a journal whose beginning was deleted before any head was signed is signed from there on', async () => {
  const disk = await diskWith(3_000);
  const segments = disk.namesIn(JOURNAL).filter((name) => name.endsWith('.journal'));
  for (const name of segments.slice(0, 2)) await disk.remove(`${JOURNAL}/${name}`);
  const { keeper, problems } = await keeperOn(disk);
  assert.deepEqual([keeper.newest?.lastId, problems], [3_000, []]);
  await keeper.check();
  assert.equal(keeper.problem, null);
});

test('the pass over all history holds it against each head, and leaves what is damaged to others', async () => {
  const disk = await diskWith(3_000);
  const signer = newSigner();
  const { keeper } = await keeperOn(disk, { signer });
  await keeper.check();
  const path = `${JOURNAL}/${disk.namesIn(JOURNAL).find((name) => name.endsWith('.journal'))}`;
  const bytes = disk.bytesOf(path);
  bytes[bytes.length - 100]! ^= 1;
  disk.put(path, bytes);
  await keeper.check();
  assert.equal(keeper.problem, null);
  const heads = await headsOf(disk, FOLDER);
  await disk.remove(headsPath(FOLDER));
  const file = await HeadsFile.open(disk, FOLDER);
  const [first, second] = heads.map(({ head }) => head.lastId);
  for (const one of heads) {
    const head = one.head.lastId === second ? { ...one.head, link: Buffer.alloc(32) } : one.head;
    await file.append({ ...one, note: signer.sign(head), head });
  }
  await keeper.check();
  const told = `the events from ${first! + 1} to 3000 are not what was signed`;
  assert.match(String(keeper.problem), new RegExp(told));
});

test('heads of another key are set aside, and all is signed anew', async () => {
  const first = await open(newSigner());
  await first.execute(createFlag('one'));
  await close(first);
  const signer = newSigner();
  const again = await open(signer, first.disk);
  assert.match(again.logged.join(), /Another key signed the heads/);
  assert(signer.publicKey.signed(again.keeper.newest?.note ?? ''));
  assert.equal(again.keeper.newest?.lastId, again.store.engine.durableId);
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
  assert.equal(again.keeper.newest?.lastId, again.store.engine.durableId);
  assert((first.disk.bytesRead.get(heads) ?? 0) < 3 * 1024 * 1024, 'the search is bounded');
  await close(again);
});
