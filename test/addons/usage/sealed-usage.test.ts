/** Rows of usage files that nobody has written, under right checksums: a start takes a file or sets it aside. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changeSealedUsage } from './sealed-usage.ts';

it('takes or sets aside reports that were changed under right checksums, and never fails by itself', async () => {
  const { rowsTaken, rowsRefused } = await changeSealedUsage({ first: 1, count: 40 });
  assert(rowsTaken > 0 && rowsRefused > 0);
});
