/** The chain of hashes along a journal on disk, followed in steps of any length, and the list of its heads. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import {
  type ChainPlace,
  followChain,
  NOWHERE,
  type Place,
} from '../../../src/addons/audit/chain-reading.ts';
import { headFiles } from '../../../src/addons/audit/head-files.ts';
import { HeadsFile, headsPath, type RecordedHead } from '../../../src/addons/audit/heads-file.ts';
import { FIRST_LINK, HistoryChain } from '../../../src/addons/audit/history-chain.ts';
import { HeadSigner } from '../../../src/addons/audit/signed-head.ts';
import type { DurableFrames } from '../../../src/persistence/journal/batch.ts';
import { appendFrames, FOLDER, frameOf, JOURNAL, openJournal } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { chainAt, headsOf } from './audit-fixture.ts';

const FRAMES = 2500;

async function writtenJournal(segmentBytes = 64 * 1024): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  await appendFrames(disk, { frames: FRAMES, batch: 7, segmentBytes });
  return disk;
}

const placesAt = (disk: MemoryFileSystem, ...ids: readonly number[]): Promise<ChainPlace[]> =>
  Promise.all(ids.map((id) => chainAt(disk, id)));

test('a link is the SHA-256 of the link of the block before, and of what frames of the block say', () => {
  const chain = new HistoryChain(FIRST_LINK);
  let before: Buffer = Buffer.alloc(32);
  let block: Buffer[] = [];
  for (const id of [1, 2, 63, 64, 65, 128, 200, 201]) {
    const body = { contentVersion: 1 + (id % 3), rules: 258, payload: Buffer.alloc(20_000 / id, String(id)) };
    if (chain.isBlockEndBefore(id)) {
      before = chain.link;
      block = [];
    }
    chain.add(id, body);
    block.push(Buffer.from([body.contentVersion, 0, 2, 1]), body.payload);
    assert(chain.link.equals(createHash('sha256').update(before).update(Buffer.concat(block)).digest()));
  }
  assert.deepEqual([chain.isBlockEndBefore(256), chain.isBlockEndBefore(257)], [false, true]);
});

test('frames as the journal writes them give the links that reading them gives, and each end of a block', async () => {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  const chain = new HistoryChain(FIRST_LINK);
  const ends: ChainPlace[] = [];
  const onFrames = ({ bytes, lastId, begin }: DurableFrames): void =>
    chain.addAll(bytes, lastId, (id, offset) =>
      ends.push({ lastId: id, link: chain.link, boundary: { ...begin, offset: begin.offset + offset } }),
    );
  const { journal } = await openJournal(disk, { onFrames, segmentBytes: 16 * 1024 });
  for (let id = 1, size = 1; id < 1_000; id += size, size = 1 + (id % 5)) {
    journal.append(frameOf(id, size));
    if (id % 7 === 0) await journal.flush();
  }
  await journal.close();
  assert(chain.link.equals((await chainAt(disk, journal.durableId)).link));
  assert.equal(ends.length, 15);
  for (const { lastId, link, boundary } of ends) {
    const place = await chainAt(disk, lastId);
    assert(link.equals(place.link));
    // The end of a segment is the beginning of the next one.
    if (boundary?.segment === place.boundary?.segment) assert.equal(boundary?.offset, place.boundary?.offset);
    const behind = await chainAt(disk, journal.durableId, { lastId, link, boundary: null });
    assert(behind.link.equals(chain.link), 'the chain goes on from the end of a block');
  }
});

test('the chain is the same in whatever steps it was followed, and wherever its frames lie', async () => {
  const links = await Promise.all(
    [16 * 1024, 64 * 1024, 64 * 1024 * 1024].map(async (segmentBytes) => {
      const disk = await writtenJournal(segmentBytes);
      const chain = new HistoryChain(FIRST_LINK);
      const steps: string[] = [];
      for (let from: Place = NOWHERE; from.lastId < FRAMES; ) {
        from = await followChain(
          { fs: disk, folder: JOURNAL },
          { chain, from, upToId: FRAMES, framesMax: 10 },
        );
        assert(chain.link.equals((await chainAt(disk, from.lastId)).link));
        if (from.lastId % 500 === 0) steps.push(chain.link.toString('hex'));
      }
      return steps.at(-1);
    }),
  );
  assert(links[0] !== undefined && links[1] === links[0] && links[2] === links[0]);
});

test('the chain is followed over so many frames as are asked for, and calls each place between two of them', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  const places: number[] = [];
  const following = {
    ...{ chain: new HistoryChain(FIRST_LINK), from: NOWHERE, upToId: FRAMES, framesMax: 700 },
    onPlace: (id: number) => void places.push(id),
  };
  const place = await followChain({ fs: disk, folder: JOURNAL }, following);
  assert.equal(place.lastId, 700);
  assert.deepEqual(
    places,
    Array.from({ length: 701 }, (_, at) => at),
  );
});

test('a journal that ends early, or has another frame at the place, is refused', async () => {
  const disk = await writtenJournal();
  await assert.rejects(placesAt(disk, FRAMES + 1), /missing/);
  const [place] = await placesAt(disk, 100);
  assert(place?.boundary != null);
  const other = { ...place, boundary: { ...place.boundary, chain: 1 } };
  await assert.rejects(chainAt(disk, 200, other), /does not follow/);
  await assert.rejects(chainAt(disk, 200, { ...place, lastId: 99 }), /event 101 is where event 100/);
});

const signer = new HeadSigner(generateKeyPairSync('ed25519').privateKey);
const HISTORY = 'ab'.repeat(16);

const headAt = ({ lastId, link }: ChainPlace, isCut = false) => ({
  ...{ history: HISTORY, lastId, link, isCut, at: 0 },
});

function recordAt(place: ChainPlace, { isCut = false, endsBlock = false } = {}): RecordedHead {
  const head = headAt(place, isCut);
  return { note: signer.sign(head), head, boundary: place.boundary, endsBlock: isCut || endsBlock };
}

const idsOf = async (disk: MemoryFileSystem, folder = FOLDER): Promise<readonly number[]> =>
  (await headsOf(disk, folder)).map(({ head }) => head.lastId);

test('a head is written over by the next one, but for those at the ends of blocks', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  let file = await HeadsFile.open(disk, FOLDER);
  assert.equal(file.newest, null);
  for (const place of await placesAt(disk, 10, 500, 1024, 1700, 2048, FRAMES)) {
    const record = recordAt(place, { endsBlock: place.lastId % 64 === 0 });
    await file.append(record);
    await file.close();
    file = await HeadsFile.open(disk, FOLDER);
    assert.deepEqual(file.newest, record);
  }
  assert.deepEqual(await idsOf(disk), [1024, 2048, FRAMES]);
  await disk.makeFolder('/copy');
  await headFiles({ fs: disk, env: {} }).copy({ from: FOLDER, to: '/copy', lastId: 2200 });
  assert.deepEqual(await idsOf(disk, '/copy'), [1024, 2048]);
});

test('a cut leaves out what lies before it, and takes the place of the one before', async () => {
  const disk = await writtenJournal();
  const file = await HeadsFile.open(disk, FOLDER);
  const [first, second, ...later] = await placesAt(disk, 1024, 1536, 2048, FRAMES);
  assert(first !== undefined && second !== undefined);
  for (const place of [first, ...later]) await file.append(recordAt(place, { endsBlock: true }));
  assert.deepEqual(await idsOf(disk), [1024, 2048, FRAMES]);
  for (const _ of ['the first time', 'again']) {
    await file.cut(recordAt(second, { isCut: true }));
    assert.deepEqual(await idsOf(disk), [1536, 2048, FRAMES]);
  }
  assert.equal(file.newest?.head.lastId, FRAMES);
  await file.cut(recordAt(later.at(-1)!, { isCut: true }));
  const [cut, ...others] = await headsOf(disk, FOLDER);
  assert.deepEqual([cut?.head.isCut, cut?.head.lastId, others], [true, FRAMES, []]);
});

test('the largest event ids and two signatures have room in a slot', async () => {
  const disk = await writtenJournal();
  const file = await HeadsFile.open(disk, FOLDER);
  const lastId = 99_999_999_999_999;
  const boundary = { segment: lastId, offset: 4_294_967_295, chain: 4_294_967_295 };
  const head = headAt({ lastId, link: Buffer.alloc(32, 0xff), boundary }, true);
  const next = new HeadSigner(generateKeyPairSync('ed25519').privateKey);
  const record = { note: signer.sign(head, next), head, boundary, endsBlock: false };
  await file.append(record);
  assert.deepEqual(await headsOf(disk, FOLDER), [record]);
});

test('a slot that a crash tore is passed over, and used again', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  const file = await HeadsFile.open(disk, FOLDER);
  const records = (await placesAt(disk, 1024, FRAMES)).map((place) => recordAt(place, { endsBlock: true }));
  for (const record of records) await file.append(record);
  const bytes = disk.bytesOf(headsPath(FOLDER));
  bytes.fill(0, bytes.length - 1000);
  disk.put(headsPath(FOLDER), bytes);
  const torn = await HeadsFile.open(disk, FOLDER);
  assert.equal(torn.newest?.head.lastId, 1024);
  await torn.append(records.at(-1)!);
  assert.deepEqual(await idsOf(disk), [1024, FRAMES]);
});

test('heads are set aside as often as it takes, and none of them is lost', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  const file = await HeadsFile.open(disk, FOLDER);
  const aside: Buffer[] = [];
  for (const place of await placesAt(disk, 10, 20, 30)) {
    await file.append(recordAt(place));
    aside.push(disk.bytesOf(headsPath(FOLDER)));
    await file.setAside();
    assert.deepEqual(await headsOf(disk, FOLDER), []);
  }
  for (const [index, name] of ['.damaged', '.2.damaged', '.3.damaged'].entries())
    assert.deepEqual(disk.bytesOf(`${headsPath(FOLDER)}${name}`), aside[index]);
});
