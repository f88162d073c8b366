/** The short form of slow-readers.ts, which the long fault tests run with 1,000 of them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { stallReaders } from './slow-readers.ts';

const skip = existsSync('/proc/self/status') ? false : 'memory is read from /proc';

it('readers who never read cost no copy of the response each, and others are served', { skip }, async (t) => {
  const result = await stallReaders({ readers: 150 });
  t.diagnostic(JSON.stringify(result));
  assert(result.responseBytes > 800_000, 'the response is large enough to tell');
});
