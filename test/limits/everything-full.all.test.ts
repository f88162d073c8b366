/** The short form of everything-full.ts, with a small heap; the long fault tests run it with one of 512 MiB. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { fillEverything, YOUNG_MIB } from '../faults/limits/everything-full.ts';
import { processBytes } from './rows.ts';

const skip = existsSync('/proc/self/status') ? false : 'memory is read from /proc';

it('a state that fills its budget, read by everybody at once and by most never to the end, fits in the process', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const heapMib = 192;
  const result = await fillEverything({
    heapMib,
    filters: 80,
    streams: 50,
    unread: 4,
    rounds: 1,
    reads: 40,
  });
  t.diagnostic(JSON.stringify(result));
  assert(result.flags > 2_000, `${result.flags} flags fill the budget`);
  const promised = processBytes((heapMib + YOUNG_MIB) * 2 ** 20);
  assert(
    result.mostBytes <= promised,
    `${result.mostBytes} bytes, where docs/limits.md promises ${promised}`,
  );
  assert.equal(result.opened, 130, 'each stream is opened');
  assert.equal(result.refused, 0);
});
