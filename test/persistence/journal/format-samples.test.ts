/** The samples in the comments of the formats, byte for byte: a change of any of them is a change of format. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FRAME_HEADER_BYTES, sealFrame } from '../../../src/persistence/journal/frame-format.ts';
import { writeLogBeginning } from '../../../src/persistence/journal/log-beginning.ts';
import { decodeSegmentHeader, encodeSegmentHeader } from '../../../src/persistence/journal/segment.ts';
import { outlinedRecords } from '../../../src/persistence/snapshots/outlined-records.ts';
import {
  BLOCK_HEADER_BYTES,
  BLOCK_KINDS,
  blockChecksum,
  readBlockHeader,
} from '../../../src/persistence/snapshots/snapshot-format.ts';
import { writeSnapshot } from '../../../src/persistence/snapshots/snapshot-writer.ts';
import { BEGINNING, FOLDER, SNAPSHOTS } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';

/** The hexadecimal bytes of the lines of a file's first comment that match. */
function sampleIn(name: string, lines: RegExp): string {
  const source = readFileSync(new URL(`../../../src/persistence/${name}`, import.meta.url), 'utf8');
  const comment = source.slice(0, source.indexOf('*/'));
  const found = comment.split('\n').filter((line) => lines.test(line));
  assert(found.length > 0, `${name} has a sample`);
  return found
    .join(' ')
    .replaceAll('36 zeros', '00 '.repeat(36))
    .replaceAll(/[^0-9a-f]/g, '');
}

test('the sample of a frame is what is written', () => {
  const frame = Buffer.concat([
    Buffer.alloc(FRAME_HEADER_BYTES),
    Buffer.from([0x81, 0xa2, 0x69, 0x64, 0x01]),
  ]);
  sealFrame(frame, 0, { payloadBytes: 5, previous: 0, batchStart: 64, contentVersion: 1, rules: 1 });
  assert.equal(frame.toString('hex'), sampleIn('journal/frame-format.ts', /^ \* {3}40 00 00 00 \|/));
});

test('the sample of a segment header is what is written', () => {
  const header = encodeSegmentHeader({ firstId: 1, chain: 0 });
  assert.equal(header.toString('hex'), sampleIn('journal/segment.ts', /^ \* {3}46 4c 41 47 4a 52 4e 4c 02/));
});

test('the sample of the record of where the log begins is what is written', async () => {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(FOLDER);
  await writeLogBeginning(fs, FOLDER, { firstId: 1, chain: 0 });
  const sample = sampleIn('journal/log-beginning.ts', /^ \* {3}(?:46 4c 41 47 42|8f d4 d8 d9)/);
  assert.equal(fs.bytesOf(BEGINNING).toString('hex'), sample);
});

test('the samples of format 1 are what is read', () => {
  const frame = Buffer.from(sampleIn('journal/frame-format.ts', /^ \* {3}05 00 00 00 \|/), 'hex');
  const segment = Buffer.from(sampleIn('journal/segment.ts', /^ \* {3}46 4c 41 47 4a 52 4e 4c 01/), 'hex');
  const header = decodeSegmentHeader(segment, 'a segment');
  assert.deepEqual([header?.firstId, header?.chain, header?.format.version], [1, 0, 1]);
  const raw = header?.format.readHeader(frame, 0);
  assert(raw != null);
  const { payloadBytes, previous, batchStart, contentVersion, rules, checksum } = raw;
  assert.deepEqual([payloadBytes, previous, batchStart, contentVersion, rules], [5, 0, 64, 1, 1]);
  assert.equal(header?.format.checksum(frame, 0, payloadBytes), checksum);
});

test('the sample of a snapshot is what is written', async () => {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(SNAPSHOTS);
  const sections = [{ name: 'a', records: [1] }];
  const about = { id: 5, at: 1_000, chain: 7, durable: () => Promise.resolve() };
  const { path } = await writeSnapshot({ fs, folder: SNAPSHOTS, sections, ...about });
  const blocks = fs.bytesOf(path).subarray(64).toString('hex');
  assert.equal(blocks, sampleIn('snapshots/snapshot-format.ts', /^ \* {3}0[0-9a-f] 00 00 00 \|/));
});

test('the sample of outlined records, which older releases wrote, is read', () => {
  const sample = sampleIn('snapshots/snapshot-format.ts', /^ \* {3}10 00 00 00 \|/);
  const block = Buffer.from(sample, 'hex');
  const { kind, count, checksum } = readBlockHeader(block);
  assert.deepEqual([kind, checksum], [BLOCK_KINDS.outlined, blockChecksum(block)]);
  assert.deepEqual([...outlinedRecords(block.subarray(BLOCK_HEADER_BYTES), count)], [1, 2]);
});
