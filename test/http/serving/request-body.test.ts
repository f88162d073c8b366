import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ISSUES_MAX } from '../../../src/domain/json/issues.ts';
import { ADMIN_ROUTES } from '../../support/surfaces.ts';

/** The schemas of lists in a schema, itself included, but not those that take any item, in which none can be wrong. */
function listsIn(schema: unknown, found = new Set<v.GenericSchema>(), seen = new Set<unknown>()) {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return found;
  seen.add(schema);
  if ('type' in schema && schema.type === 'array' && !('pipe' in schema) && !takesAnything(schema))
    found.add(schema as v.GenericSchema);
  for (const part of Object.values(schema)) listsIn(part, found, seen);
  return found;
}

function takesAnything(schema: object): boolean {
  return 'item' in schema && (schema.item as v.GenericSchema).type === 'unknown';
}

test('no list in any body is looked at further than the first issues that are reported', () => {
  const wrong = Array(1000).fill(undefined);
  let lists = 0;
  for (const { body, operationId } of ADMIN_ROUTES) {
    for (const schema of listsIn(body)) {
      lists += 1;
      const issueCount = v.safeParse(schema, wrong).issues?.length;
      assert.equal(issueCount, ISSUES_MAX, `a list in the body of ${operationId}`);
    }
  }
  assert(lists > 10, `${lists} lists were found`);
});
