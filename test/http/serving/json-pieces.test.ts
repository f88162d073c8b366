import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutJson } from '../../../src/http/serving/request-body.ts';

const PLACES = [['list'], ['outer', 'fields']] as const;

const cut = (value: unknown) => cutJson(Buffer.from(JSON.stringify(value)), PLACES);
const jsonOf = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());

test('large lists and objects are cut into pieces of some kilobytes, and the rest has none of their items', () => {
  const item = { list: ['"]},{', { outer: { fields: '\\"' } }], text: 'x'.repeat(60) };
  const list = Array.from({ length: 200 }, () => item);
  const fields = Object.fromEntries(list.map((one, at) => [`field ${at}`, one]));
  const found = cut({ before: [list[0]], outer: { fields, more: { fields: {} } }, list, after: 1 });
  assert.ok(found !== null);
  assert.deepEqual(jsonOf(found.rest), {
    before: [item],
    outer: { fields: {}, more: { fields: {} } },
    list: [],
    after: 1,
  });
  for (const { bytes } of found.pieces) assert.ok(bytes.byteLength < 2_300, `${bytes.byteLength} bytes`);
  const piecesAt = (place: readonly string[]): unknown[] =>
    found.pieces.filter((piece) => piece.place === place).map(({ bytes }) => jsonOf(bytes));
  assert.deepEqual(piecesAt(PLACES[0]).flat(), list);
  assert.deepEqual(Object.assign({}, ...piecesAt(PLACES[1])), fields);
});

test('what stands elsewhere under the names of a place is not cut', () => {
  for (const value of [
    { list: 'list' },
    { other: { list: [1] } },
    [{ list: [1] }],
    { outer: ['fields', { a: 1 }] },
  ])
    assert.equal(cut(value), null, JSON.stringify(value));
});
