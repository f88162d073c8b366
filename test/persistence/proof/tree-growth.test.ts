/** The tree of a journal on disk, grown in steps of any length, and the list of its heads. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { copyHeads, forgetHeads, HeadsFile, headsPath } from '../../../src/persistence/proof/heads-file.ts';
import { HASH_BYTES, PEAKS_MAX, rootOf } from '../../../src/persistence/proof/merkle-tree.ts';
import { HeadSigner, handoverOf } from '../../../src/persistence/proof/signed-head.ts';
import { growTree, STRIDE_FRAMES, type TreePlace } from '../../../src/persistence/proof/tree-growth.ts';
import { appendFrames, FOLDER, headsOf, JOURNAL } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';

const FRAMES = 2500;

async function writtenJournal(segmentBytes = 64 * 1024): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  await appendFrames(disk, { frames: FRAMES, batch: 7, segmentBytes });
  return disk;
}

/** Grows to each of these events, one after the other. */
async function grownTo(disk: MemoryFileSystem, ...upTo: readonly number[]): Promise<TreePlace[]> {
  const places: TreePlace[] = [];
  for (const upToId of upTo)
    for (let more = true; more; ) {
      const found = await growTree({ fs: disk, folder: JOURNAL }, { from: places.at(-1) ?? null, upToId });
      more = found.length > 0;
      places.push(...found);
    }
  return places;
}

test('a tree is the same in whatever steps it was grown', async () => {
  const disk = await writtenJournal();
  const [whole, inSteps] = [await grownTo(disk, FRAMES), await grownTo(disk, 1, 2, 999, 1000, 1733, FRAMES)];
  assert.equal(whole.at(-1)?.tree.size, FRAMES, 'each frame is a leaf');
  assert.deepEqual(inSteps.at(-1), whole.at(-1));
  for (const { lastId, tree, boundary } of [...whole, ...inSteps]) {
    assert.equal(tree.size, lastId, 'frames of one event have a leaf for each event');
    assert(
      boundary.segment <= lastId + 1,
      'a place lies in the segment of its last event, or at the beginning of the next one',
    );
  }
});

test('a place stands at the beginning of each segment, and after each thousand frames', async () => {
  const small = await grownTo(await writtenJournal(), FRAMES);
  const sizes = small.map(({ tree }) => tree.size);
  assert(sizes.length > 2 && sizes.every((size, index) => size - (sizes[index - 1] ?? 0) <= STRIDE_FRAMES));
  const large = await grownTo(await writtenJournal(64 * 1024 * 1024), FRAMES);
  assert.deepEqual(
    large.map(({ tree }) => tree.size),
    [STRIDE_FRAMES, 2 * STRIDE_FRAMES, FRAMES],
  );
});

test('a journal that ends early, or has another frame at the place, is refused', async () => {
  const disk = await writtenJournal();
  const [place] = await grownTo(disk, 100);
  assert(place !== undefined);
  const source = { fs: disk, folder: JOURNAL };
  await assert.rejects(
    growTree(source, { from: null, upToId: FRAMES + 1 }).then(() => grownTo(disk, FRAMES + 1)),
    /missing/,
  );
  const other = { ...place, boundary: { ...place.boundary, chain: 1 } };
  await assert.rejects(growTree(source, { from: other, upToId: 200 }), /does not follow/);
});

const signer = new HeadSigner(generateKeyPairSync('ed25519').privateKey);

async function sign(file: HeadsFile, place: TreePlace): Promise<void> {
  const { tree, firstId, lastId } = place;
  const head = { history: 'ab'.repeat(16), size: tree.size, root: rootOf(tree), firstId, lastId, at: 0 };
  await file.append(head, signer.sign(head), place);
}

test('a head is written over by the next one, until a thousand frames lie between', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  let file = await HeadsFile.open(disk, FOLDER);
  assert.equal(file.newest, null);
  const steps = [10, 500, 1000, 1700, 2200, FRAMES];
  for (const place of await grownTo(disk, ...steps)) {
    await sign(file, place);
    await file.close();
    file = await HeadsFile.open(disk, FOLDER);
    assert.deepEqual(file.newest?.place, place, 'a start goes on where the last head stands');
  }
  const heads = await headsOf(disk, FOLDER);
  assert.deepEqual(
    heads.map(({ head }) => head.size),
    [1000, 2200, FRAMES],
  );
  await disk.makeFolder('/copy');
  await copyHeads(disk, { from: FOLDER, to: '/copy', lastId: 2200 });
  assert.deepEqual(await headsOf(disk, '/copy'), heads.slice(0, 2));
});

test('heads from before the oldest event are left out, but for the one right before it', async () => {
  const disk = await writtenJournal();
  const file = await HeadsFile.open(disk, FOLDER);
  const places = await grownTo(disk, FRAMES);
  for (const place of places) await sign(file, place);
  const before = await headsOf(disk, FOLDER);
  const [, second] = before;
  assert(second !== undefined && before.length > 2);
  await forgetHeads(disk, FOLDER, 1);
  assert.deepEqual(await headsOf(disk, FOLDER), before, 'nothing was deleted');
  await forgetHeads(disk, FOLDER, second.head.lastId + 1);
  assert.deepEqual(await headsOf(disk, FOLDER), before.slice(1));
  const reopened = await HeadsFile.open(disk, FOLDER);
  assert.deepEqual(reopened.newest, before.at(-1));
});

test('a head in which one key hands over to another outlasts the events before it', async () => {
  const disk = await writtenJournal();
  const file = await HeadsFile.open(disk, FOLDER);
  const [first, ...later] = await grownTo(disk, 10, FRAMES);
  assert(first !== undefined && later.length > 1);
  await sign(file, first);
  const { head } = file.newest!;
  const next = new HeadSigner(generateKeyPairSync('ed25519').privateKey);
  await file.append(head, signer.handOver(head, next), first);
  for (const place of later) await sign(file, place);
  const before = await headsOf(disk, FOLDER);
  await forgetHeads(disk, FOLDER, before.at(-1)!.head.lastId + 1);
  assert.deepEqual(await headsOf(disk, FOLDER), [before[0], before.at(-1)]);
  assert(handoverOf(before[0]!.note) !== null, 'the handover is the first of them');
});

test('the largest tree has room in its slot, beside the largest event ids and the handover of a key', async () => {
  const disk = await writtenJournal();
  const file = await HeadsFile.open(disk, FOLDER);
  const peaks = Array.from({ length: PEAKS_MAX }, (_, at) => Buffer.alloc(HASH_BYTES, 0xff - at));
  const tree = { size: 2 ** PEAKS_MAX - 1, peaks };
  const lastId = 99_999_999_999_999;
  const boundary = { segment: lastId, offset: 4_294_967_295, chain: 4_294_967_295 };
  const head = {
    history: 'ff'.repeat(16),
    size: tree.size,
    root: rootOf(tree),
    firstId: lastId,
    lastId,
    at: 0,
  };
  const place = { firstId: lastId, lastId, boundary, tree };
  const next = new HeadSigner(generateKeyPairSync('ed25519').privateKey);
  const notes = [signer.sign(head), signer.handOver(head, next)];
  for (const note of notes) await file.append(head, note, place);
  const read = await headsOf(disk, FOLDER);
  assert.deepEqual(
    read.map(({ note }) => note),
    notes,
  );
  assert(read.every((one) => isDeepStrictEqual(one.place, place)));
});

test('a slot that a crash tore is passed over, and used again', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  const file = await HeadsFile.open(disk, FOLDER);
  const places = await grownTo(disk, 1000, FRAMES);
  for (const place of places) await sign(file, place);
  const bytes = disk.bytesOf(headsPath(FOLDER));
  bytes.fill(0, bytes.length - 1000);
  disk.put(headsPath(FOLDER), bytes);
  const torn = await HeadsFile.open(disk, FOLDER);
  const before = torn.newest?.place;
  assert(before !== undefined && before.lastId < FRAMES);
  await sign(torn, places.at(-1)!);
  assert.equal((await headsOf(disk, FOLDER)).at(-1)?.head.size, FRAMES);
});

test('heads are set aside as often as it takes, and none of them is lost', async () => {
  const disk = await writtenJournal(64 * 1024 * 1024);
  const file = await HeadsFile.open(disk, FOLDER);
  const aside: Buffer[] = [];
  for (const place of await grownTo(disk, 10, 20, 30)) {
    await sign(file, place);
    aside.push(disk.bytesOf(headsPath(FOLDER)));
    await file.setAside();
    assert.deepEqual(await headsOf(disk, FOLDER), []);
  }
  for (const [index, name] of ['.damaged', '.2.damaged', '.3.damaged'].entries())
    assert.deepEqual(disk.bytesOf(`${headsPath(FOLDER)}${name}`), aside[index]);
});

test('a tree grows no further than to the size that is asked for', async () => {
  const disk = await writtenJournal();
  const source = { fs: disk, folder: JOURNAL };
  for (const upToSize of [1, 700, 1000, FRAMES, FRAMES + 1]) {
    let place: TreePlace | null = null;
    for (let more = true; more; ) {
      const places: readonly TreePlace[] = await growTree(source, { from: place, upToId: FRAMES, upToSize });
      more = places.length > 0;
      place = places.at(-1) ?? place;
    }
    assert.equal(place?.tree.size, Math.min(upToSize, FRAMES));
  }
});

test('a root does not depend on which frames lie in which segment', async () => {
  const roots = await Promise.all(
    [16 * 1024, 64 * 1024, 64 * 1024 * 1024].map(async (segmentBytes) => {
      const place = (await grownTo(await writtenJournal(segmentBytes), FRAMES)).at(-1);
      return rootOf(place!.tree).toString('hex');
    }),
  );
  assert.equal(new Set(roots).size, 1);
});
