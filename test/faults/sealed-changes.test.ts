/** The short form of changes to content under right checksums. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changeSealed } from './sealed-changes.ts';

it('takes or refuses content that was changed under right checksums, and never fails by itself', async () => {
  const { taken, refused, otherState, ...kinds } = await changeSealed({ first: 1, count: 120 });
  assert(
    Object.values(kinds).every((count) => count > 0),
    'each kind of content was changed',
  );
  assert(taken > 0 && refused > 0 && otherState > 0);
});
