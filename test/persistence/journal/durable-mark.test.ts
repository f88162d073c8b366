import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import {
  type DurableMark,
  DurableMarkFile,
  readDurableMark,
} from '../../../src/persistence/journal/durable-mark.ts';
import { JOURNAL, MARK } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';

const markOf = (lastId: number): DurableMark => ({
  lastId,
  segment: 1,
  offset: 64 + lastId,
  chain: 0xdeadbeef,
});

async function diskWithMarks(count: number): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(JOURNAL);
  const file = new DurableMarkFile(fs, JOURNAL);
  for (let id = 1; id <= count; id += 1) await file.write(markOf(id));
  await file.close();
  return fs;
}

test('the mark read is the last one written, also by a file that is opened again', async () => {
  const fs = await diskWithMarks(3);
  assert.deepEqual(await readDurableMark(fs, JOURNAL), { state: 'good', mark: markOf(3) });
  const again = new DurableMarkFile(fs, JOURNAL);
  await again.write(markOf(4));
  assert.deepEqual(await readDurableMark(fs, JOURNAL), { state: 'good', mark: markOf(4) });
  await again.write(markOf(5));
  assert.deepEqual(await readDurableMark(fs, JOURNAL), { state: 'good', mark: markOf(5) });
});

test('a folder without a mark says so, and a file without a statement is told apart from it', async () => {
  const fs = await diskWithMarks(0);
  assert.deepEqual(await readDurableMark(fs, JOURNAL), { state: 'absent' });
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(5_000), Buffer.alloc(5_000, 0xff)]) {
    fs.put(MARK, bytes);
    assert.deepEqual(await readDurableMark(fs, JOURNAL), { state: 'unreadable' });
  }
});

test('any flipped bit costs at most the newer statement, and never makes up another one', async () => {
  const fs = await diskWithMarks(7);
  const bytes = fs.bytesOf(MARK);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    fs.put(MARK, flipped);
    const reading = await readDurableMark(fs, JOURNAL);
    assert(reading.state === 'good' && [6, 7].includes(reading.mark.lastId), `bit ${bit}`);
    assert.deepEqual(reading.mark, markOf(reading.mark.lastId));
  }
});

test('a mark of a newer format is refused by name', async () => {
  const fs = await diskWithMarks(1);
  const bytes = fs.bytesOf(MARK);
  const slot = bytes.subarray(4096, 4096 + 52);
  slot.writeUInt32LE(2, 8);
  slot.writeUInt32LE(crc32(slot.subarray(0, 48)), 48);
  fs.put(MARK, bytes);
  await assert.rejects(readDurableMark(fs, JOURNAL), (error) => {
    assert(error instanceof DataFolderError);
    assert.match(error.message, /format 2, this server knows 1/);
    assert.equal(error.file, MARK);
    return true;
  });
});
