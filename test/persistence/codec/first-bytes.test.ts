/** The table of first bytes against what the encoder writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_OF, KINDS, lengthAt, numberAt } from '../../../src/persistence/codec/first-bytes.ts';
import { guard, pack } from '../../../src/persistence/codec/message-pack.ts';
import { MessagePackCursor } from '../../../src/persistence/codec/message-pack-cursor.ts';

const packed = (value: unknown): Buffer => Buffer.from(pack(value));

test('numbers are read as they were written, and not where they are cut short', () => {
  const edges = [0, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0xffffffff, 2 ** 40, 0.5, -0.5, 1e300];
  const negative = [-1, -0x20, -0x21, -0x80, -0x81, -0x8000, -0x8001, -0x80000000];
  for (const value of [...edges, ...negative]) {
    const bytes = packed(value);
    assert.equal(KIND_OF[bytes[0]!], KINDS.number, `kind of ${value}`);
    assert.equal(numberAt(bytes, 0), value);
    if (bytes.length > 1) assert.equal(numberAt(bytes.subarray(0, -1), 0), null, `${value}, cut short`);
  }
  for (const other of [null, true, '1', [1], { a: 1 }]) assert.equal(numberAt(packed(other), 0), null);
});

test('lengths are read as they were written, up to each limit of their form', () => {
  for (const length of [0, 1, 15, 16, 31, 32, 0xff, 0x100, 0xffff, 0x10000]) {
    const list = Array.from({ length }, () => 0);
    const map = Object.fromEntries(list.map((zero, index) => [`k${index}`, zero]));
    const string = packed('a'.repeat(length));
    assert.equal(lengthAt(string, 0, string[0]!), length);
    assert.equal(KIND_OF[string[0]!], KINDS.string);
    assert.equal(new MessagePackCursor(packed(list)).readArray(), length);
    assert.equal(new MessagePackCursor(packed(map)).readMap(), length);
  }
});

test('the cursor moves over every kind of value that the guard accepts, and over no other', () => {
  for (let first = 0; first < 256; first += 1) {
    // Zeros are the content, an empty length, or values of one byte.
    const bytes = Buffer.alloc(40);
    bytes[0] = first;
    const cursor = new MessagePackCursor(bytes);
    cursor.skip();
    const skipped = cursor.failed ? 0 : cursor.at;
    const isMapWithEntries = first > 0x80 && first <= 0x8f;
    const accepted = guard(bytes.subarray(0, Math.max(skipped, 1))).problem === null;
    // The guard also refuses keys that are no strings.
    assert.equal(accepted, !cursor.failed && !isMapWithEntries, `first byte ${first}`);
  }
});
