/** Records of the log, byte by byte. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { crc32 } from 'node:zlib';
import {
  decodeBatch,
  decodeRecord,
  encodeBatch,
  encodeRecord,
  type FramesRecord,
  LogDamageError,
  NewerRecordError,
  PART_BYTES_MAX,
  partsOf,
} from '../../../src/addons/replication/record-format.ts';
import { RECORD_BYTES_MAX } from '../../../src/addons/replication/replicated-log.ts';
import { chainAfter, sealFrame } from '../../../src/persistence/journal/frame-format.ts';

const BY = { node: 'n', run: '00000001', address: 'http://n:4242' };

const record = (content: Buffer): FramesRecord => ({
  kind: 'frames',
  cluster: 'c',
  history: '0123456789abcdef0123456789abcdef',
  epoch: 3,
  by: BY,
  previousId: 41,
  previousChain: 0xfe_dc_ba_98,
  lastId: 43,
  part: 0,
  parts: 1,
  content,
});

it('a record of each kind is read as it was written', () => {
  const frames = record(Buffer.from('content'));
  assert.deepEqual(decodeRecord(encodeRecord(frames)), frames);
  const { cluster, history, epoch, by, previousId, previousChain } = frames;
  const takeOver = { kind: 'take-over', cluster, history, epoch, by, previousId, previousChain } as const;
  assert.deepEqual(decodeRecord(encodeRecord(takeOver)), takeOver);
});

it('a record with any bit flipped, or cut at any length, is not read', () => {
  const good = encodeRecord(record(Buffer.from('content')));
  for (let bit = 0; bit < good.length * 8; bit += 1) {
    const bad = Buffer.from(good);
    bad[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => decodeRecord(bad), LogDamageError, `bit ${bit}`);
  }
  for (let length = 0; length < good.length; length += 1)
    assert.throws(() => decodeRecord(good.subarray(0, length)), LogDamageError);
});

it('a record of a newer format is told from a damaged one', () => {
  const newer = encodeRecord(record(Buffer.alloc(1)));
  newer.writeUInt16LE(2, 4);
  newer.writeUInt32LE(crc32(newer.subarray(12), crc32(newer.subarray(0, 8))), 8);
  assert.throws(() => decodeRecord(newer), NewerRecordError);
});

it('a batch is cut into parts that fit, and is whole again', () => {
  const bodies = [1, 700_000, 3].map((length) => ({
    payload: Buffer.alloc(length, length),
    contentVersion: 2,
    rules: 1,
  }));
  const batch = encodeBatch(bodies);
  const parts = partsOf(batch);
  assert.equal(parts.length, Math.ceil(batch.length / PART_BYTES_MAX));
  for (const part of parts) assert(encodeRecord(record(part)).length <= RECORD_BYTES_MAX);
  assert.deepEqual(decodeBatch(Buffer.concat(parts)), bodies);
  assert.throws(() => decodeBatch(batch.subarray(1)), LogDamageError);
});

it('the checksum of a frame in the log is that of the frame in a journal', () => {
  const body = { payload: Buffer.from('payload'), contentVersion: 2, rules: 3 };
  const bytes = Buffer.alloc(24 + body.payload.length);
  bytes.set(body.payload, 24);
  const sealed = sealFrame(bytes, 0, {
    payloadBytes: 7,
    previous: 99,
    batchStart: 64,
    contentVersion: 2,
    rules: 3,
  });
  assert.equal(chainAfter(99, body), sealed);
});
