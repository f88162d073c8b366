/** Blocks that a snapshot takes over from an older one: the same bytes where nothing has changed, and fresh ones otherwise. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KnownBlocks } from '../../../src/persistence/snapshots/known-blocks.ts';
import { readSnapshot } from '../../../src/persistence/snapshots/snapshot-reader.ts';
import { type RecordBatch, writeSnapshot } from '../../../src/persistence/snapshots/snapshot-writer.ts';
import { SNAPSHOTS } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';

interface Note {
  readonly name: string;
  readonly version: number;
  readonly text: string;
}

const note = (name: string, version = 1, text = `${name} as of ${version}`): Note => ({
  name,
  version,
  text,
});

const batchOf = (...records: Note[]): RecordBatch => ({ parts: records, records });

interface Folder {
  readonly fs: MemoryFileSystem;
  readonly known: KnownBlocks;
  /** Records that the last snapshot encoded. */
  encoded: number;
}

async function emptyFolder(): Promise<Folder> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(SNAPSHOTS);
  return { fs, known: new KnownBlocks(), encoded: 0 };
}

const pathOf = (id: number): string => `${SNAPSHOTS}/${String(id).padStart(20, '0')}.snapshot`;

async function write(
  folder: Folder,
  id: number,
  batches: readonly RecordBatch[],
  audited = false,
): Promise<void> {
  const { fs, known } = folder;
  const section = { name: 'notes', records: batches.flatMap(({ records }) => [...records]), batches };
  const { records, recordsTakenOver } = await writeSnapshot({
    ...{ fs, folder: SNAPSHOTS, id, at: id, chain: id, known, audited },
    sections: [section],
    durable: async () => undefined,
  });
  folder.encoded = records - recordsTakenOver;
}

async function notesOf({ fs }: Folder, id: number): Promise<unknown[]> {
  const notes: unknown[] = [];
  const onRecord = (_: string, record: unknown): number => notes.push(record);
  const reading = await readSnapshot({ fs, path: pathOf(id), onRecord });
  assert.equal(reading.problem, null);
  return notes;
}

const first = batchOf(note('a'), note('b'));
const second = batchOf(note('c'));
const third = batchOf(note('d'), note('e'), note('f'));
const changed = batchOf(note('c', 2));

describe('a snapshot behind another', () => {
  it('encodes the batches that have changed, and no others', async () => {
    const folder = await emptyFolder();
    await write(folder, 1, [first, second, third]);
    assert.equal(folder.encoded, 6);
    await write(folder, 2, [first, changed, third]);
    assert.equal(folder.encoded, 1);
    assert.deepEqual(await notesOf(folder, 2), [...first.records, ...changed.records, ...third.records]);
  });

  it('has the same bytes as one that is written anew', async () => {
    const folder = await emptyFolder();
    await write(folder, 1, [first, second, third]);
    const batches = [third, changed, first];
    await write(folder, 2, batches);
    const anew = await emptyFolder();
    await write(anew, 2, batches);
    assert.deepEqual(folder.fs.bytesOf(pathOf(2)), anew.fs.bytesOf(pathOf(2)));
  });

  it('takes over what the one before it had taken over', async () => {
    const folder = await emptyFolder();
    for (let id = 1; id <= 6; id += 1) {
      await write(folder, id, [first, batchOf(note('c', id)), third]);
      assert.equal(folder.encoded, id === 1 ? 6 : 1);
    }
    assert(!(await folder.fs.exists(pathOf(1))), 'the one that was encoded is gone');
    assert.deepEqual(await notesOf(folder, 6), [...first.records, note('c', 6), ...third.records]);
  });

  it('encodes records that come, go, or trade places', async () => {
    for (const records of [
      [note('a')],
      [note('b'), note('a')],
      [note('a'), note('b'), note('g')],
      [note('a'), note('b', 2)],
    ]) {
      const folder = await emptyFolder();
      await write(folder, 1, [first, second]);
      await write(folder, 2, [batchOf(...records), second]);
      assert.deepEqual(await notesOf(folder, 2), [...records, ...second.records]);
    }
  });

  it('takes over all blocks of a batch that has several, or none', async () => {
    const folder = await emptyFolder();
    const notes = [0, 1, 2, 3].map((number) => note(`n${number}`, 1, String(number).repeat(200_000)));
    await write(folder, 1, [batchOf(...notes)]);
    assert.equal(folder.known.of(notes).length, 4);
    await write(folder, 2, [batchOf(...notes)]);
    assert.equal(folder.encoded, 0);
    const other = notes.with(2, note('n2', 2));
    await write(folder, 3, [batchOf(...other)]);
    assert.equal(folder.encoded, 4);
    assert.deepEqual(await notesOf(folder, 3), other);
  });
});

describe('a block that is known, and not what it was', () => {
  it('is encoded anew where its file is gone, cut short, or another', async () => {
    for (const spoil of [
      ({ fs }: Folder) => fs.take(pathOf(1)),
      ({ fs }: Folder) => fs.put(pathOf(1), fs.bytesOf(pathOf(1)).subarray(0, 70)),
      ({ fs }: Folder) => fs.put(pathOf(1), Buffer.alloc(fs.bytesOf(pathOf(1)).length, 7)),
    ]) {
      const folder = await emptyFolder();
      await write(folder, 1, [first, second]);
      spoil(folder);
      await write(folder, 2, [first, second]);
      assert.equal(folder.encoded, 3);
      assert.deepEqual(await notesOf(folder, 2), [...first.records, ...second.records]);
    }
  });

  it('is encoded anew whichever of its bits has flipped', async () => {
    const folder = await emptyFolder();
    await write(folder, 1, [first]);
    const [place] = folder.known.of(first.parts);
    assert(place !== undefined);
    const whole = Buffer.from(folder.fs.bytesOf(pathOf(1)));
    const known = [{ parts: first.parts, places: [place] }];
    for (let bit = place.offset * 8; bit < (place.offset + place.bytes) * 8; bit += 1) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      folder.fs.put(pathOf(1), flipped);
      folder.known.replace(known);
      await write(folder, 2, [first]);
      assert.equal(folder.encoded, 2, `bit ${bit}`);
      folder.fs.take(pathOf(2));
    }
  });

  it('fails a snapshot that is audited where a record has changed and its part has not', async () => {
    const folder = await emptyFolder();
    await write(folder, 1, [first], true);
    const silent = { ...first, records: [note('a'), note('b', 1, 'another text')] };
    await assert.rejects(write(folder, 2, [silent], true), /a record decodes to what was written/);
    assert(!(await folder.fs.exists(pathOf(2))));
    assert.deepEqual(await notesOf(folder, 1), first.records);
  });
});

it('what a snapshot that failed had written is not known', async () => {
  const folder = await emptyFolder();
  await write(folder, 1, [first, second]);
  folder.fs.rename = async () => {
    throw new Error('no name');
  };
  await assert.rejects(write(folder, 2, [first, changed]), /no name/);
  assert.deepEqual(folder.known.of(changed.parts), []);
  assert.equal(folder.known.of(second.parts)[0]?.path, pathOf(1));
});
