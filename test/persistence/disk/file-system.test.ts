/** One suite over both file systems, the real one and the simulated one: what persistence builds on holds in each. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FileSystem, isMissing, realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { writeFully, writeFullyDurably } from '../../../src/persistence/disk/write-fully.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { temporaryFolder } from '../../support/server.ts';

const realFolder = temporaryFolder();

const IMPLEMENTATIONS: readonly [name: string, fs: FileSystem, folder: string][] = [
  ['the real file system', realFileSystem, join(realFolder, 'data')],
  ['the simulated one', new MemoryFileSystem(), '/data'],
];

async function contentOf(fs: FileSystem, path: string): Promise<string> {
  const file = await fs.open(path, 'read');
  const bytes = Buffer.alloc(await file.size());
  await file.read(bytes, 0, bytes.length, 0);
  await file.close();
  return bytes.toString('latin1');
}

for (const [name, fs, folder] of IMPLEMENTATIONS) {
  test(`${name}: what is written at a position is read back, a gap reads as zeros, a read stops at the end`, async () => {
    await fs.makeFolder(folder);
    const file = await fs.open(join(folder, 'a'), 'create');
    await writeFully(file, Buffer.from('a__'), 2);
    await file.datasync();
    await writeFullyDurably(file, Buffer.from('bc'), 3);
    const bytes = Buffer.alloc(8, 0xff);
    assert.equal(await file.read(bytes, 1, 7, 0), 5);
    assert.deepEqual([...bytes], [0xff, 0, 0, 97, 98, 99, 0xff, 0xff]);
    assert.equal(await file.size(), 5);
    await file.truncate(3);
    await file.sync();
    await file.close();
    assert.equal(await contentOf(fs, join(folder, 'a')), '\0\0a');
  });

  test(`${name}: a file is created once, and one that is missing is told apart from any other failure`, async () => {
    await assert.rejects(fs.open(join(folder, 'a'), 'create'), /EEXIST/);
    for (const mode of ['read', 'write'] as const) {
      const error = await fs.open(join(folder, 'none'), mode).catch((cause: unknown) => cause);
      assert(isMissing(error));
    }
    assert(!(await fs.exists(join(folder, 'none'))));
    assert(await fs.exists(join(folder, 'a')));
  });

  test(`${name}: names are listed in order without folders, renamed over others, and removed`, async () => {
    for (const file of ['c', 'b']) await (await fs.open(join(folder, file), 'create')).close();
    await fs.makeFolder(join(folder, 'sub', 'folder'));
    await fs.makeFolder(join(folder, 'sub', 'folder'));
    assert.deepEqual(await fs.list(folder), ['a', 'b', 'c']);
    await fs.rename(join(folder, 'a'), join(folder, 'b'));
    await fs.remove(join(folder, 'c'));
    await fs.syncFolder(folder);
    assert.deepEqual(await fs.list(folder), ['b']);
    assert.equal(await contentOf(fs, join(folder, 'b')), '\0\0a');
  });

  test(`${name}: free space is a number of bytes`, async () => {
    assert((await fs.freeBytes(folder)) > 0);
  });
}

async function unsyncedDisk(): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder('/d');
  const file = await fs.open('/d/f', 'create');
  await writeFully(file, Buffer.from('durable.'), 0);
  await file.sync();
  await fs.syncFolder('/d');
  await writeFully(file, Buffer.alloc(2_000, 'x'), 8);
  await (await fs.open('/d/g', 'create')).close();
  await fs.rename('/d/f', '/d/h');
  return fs;
}

test('a power cut keeps what was synced, and of the rest what the kind of survival says', async () => {
  const random = seededRandom(1);
  const lost = (await unsyncedDisk()).powerCut('lost', random);
  assert.deepEqual(lost.namesIn('/d'), ['f']);
  assert.equal(lost.bytesOf('/d/f').toString(), 'durable.');
  const kept = (await unsyncedDisk()).powerCut('kept', random);
  assert.deepEqual(kept.namesIn('/d'), ['g', 'h']);
  assert.equal(kept.bytesOf('/d/h').length, 2_008);
  const sizes = new Set<number>();
  const names = new Set<string>();
  for (let run = 0; run < 50; run += 1) {
    const torn = (await unsyncedDisk()).powerCut('torn', random);
    const name = torn.namesIn('/d').includes('h') ? 'h' : 'f';
    names.add(torn.namesIn('/d').join());
    assert.equal(torn.bytesOf(`/d/${name}`).toString('latin1', 0, 8), 'durable.');
    sizes.add(torn.bytesOf(`/d/${name}`).length);
  }
  assert(sizes.size > 10, 'writes tear at many places');
  assert.deepEqual([...names].sort(), ['f', 'f,g', 'g,h']);
});

test('a write torn page by page can leave a hole before what survived', async () => {
  const random = seededRandom(2);
  let holes = 0;
  for (let run = 0; run < 50; run += 1) {
    const disk = (await unsyncedDisk()).powerCut('reordered', random);
    const bytes = disk.bytesOf(`/d/${disk.namesIn('/d').includes('h') ? 'h' : 'f'}`);
    if (bytes.subarray(8).includes(0) && bytes.subarray(8).includes('x')) holes += 1;
  }
  assert(holes > 5, `${holes} holes`);
});

test('a crash of the process loses nothing written, and a later power cut still may', async () => {
  const fs = await unsyncedDisk();
  const file = await fs.open('/d/h', 'write');
  const next = fs.crash();
  assert.equal(next.bytesOf('/d/h').length, 2_008);
  await assert.rejects(file.write(Buffer.from('late'), 0, 4, 0), /the power is off/);
  await assert.rejects(file.sync(), /the power is off/);
  assert.equal(next.powerCut('lost', seededRandom(3)).bytesOf('/d/f').toString(), 'durable.');
});

test('a full disk first cuts a write short without an error, and only the next one fails', async () => {
  const fs = new MemoryFileSystem({ capacityBytes: 10 });
  await fs.makeFolder('/d');
  const file = await fs.open('/d/f', 'create');
  assert.equal(await file.write(Buffer.alloc(20), 0, 20, 0), 10);
  await assert.rejects(file.write(Buffer.alloc(5), 0, 5, 10), /ENOSPC/);
  assert.equal(await file.write(Buffer.alloc(5), 0, 5, 0), 5, 'what does not grow still fits');
  assert.equal(await fs.freeBytes('/d'), 0);
});
