import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { shown } from '../../../src/http/admin/shown.ts';

const Schema = v.object({ id: v.number(), note: v.nullable(v.string()), email: v.exactOptional(v.string()) });

test('A response shows the fields of its schema alone, in the order of the schema', () => {
  const record = { digest: 'secret', email: 'ada@example.com', note: null, id: 1 };
  assert.equal(JSON.stringify(shown(Schema, record)), '{"id":1,"note":null,"email":"ada@example.com"}');
});

test('A response leaves out what may be left out and is null', () => {
  assert.deepEqual(shown(Schema, { id: 1, note: null, email: null }), { id: 1, note: null });
});
