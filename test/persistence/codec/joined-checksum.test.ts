/** Checksums of parts that are joined are those of the whole. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { joinedChecksum, shiftPast } from '../../../src/persistence/codec/joined-checksum.ts';
import {
  BLOCK_HEADER_BYTES,
  BLOCK_KINDS,
  blockChecksum,
  checksumWithBlock,
  sealBlock,
} from '../../../src/persistence/snapshots/snapshot-format.ts';

const LENGTHS = [0, 1, 2, 3, 4, 7, 8, 31, 64, 255, 256, 1_000, 65_537, 1_000_003];

test('joined checksums of two parts are the checksum of both, whatever their lengths', () => {
  const bytes = randomFillSync(Buffer.alloc(1_100_000));
  for (const first of [0, 1, 5, 90_000]) {
    for (const second of LENGTHS) {
      const parts = [bytes.subarray(0, first), bytes.subarray(first, first + second)] as const;
      const joined = joinedChecksum(crc32(parts[0]), crc32(parts[1]), shiftPast(second));
      assert.equal(joined, crc32(bytes.subarray(0, first + second)), `${first} and ${second} bytes`);
    }
  }
});

test('the checksum of a file goes on over a block by the checksum of the block', () => {
  let checksum = crc32(Buffer.from('what lies before'));
  for (const length of LENGTHS) {
    const block = randomFillSync(Buffer.alloc(BLOCK_HEADER_BYTES + length));
    sealBlock(block, BLOCK_KINDS.records, length);
    const next = checksumWithBlock(checksum, block, blockChecksum(block));
    assert.equal(next, crc32(block, checksum), `${length} bytes`);
    checksum = next;
  }
});
