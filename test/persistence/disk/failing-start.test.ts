/** A start on a disk that fails; the long form, `node --import tsx test/faults/run.ts 'failing start'`, fails each call. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTraceable } from '../../faults/failed-sync.ts';
import { failStart } from './failing-start.ts';

describe('a start on a disk that fails', { skip: isTraceable() ? false : 'strace cannot trace here' }, () => {
  for (const [call, error, when, what] of [
    ['mkdir', 'EROFS', 1, 'the data folder'],
    ['fcntl', 'EIO', 1, 'the lock'],
    ['write', 'ENOSPC', 1, 'the lock file'],
    ['openat', 'EMFILE', 2, 'the lock file'],
    ['close', 'EIO', 1, 'a file that was written'],
    ['pwrite64', 'EIO', 2, 'the first token'],
    ['fsync', 'EIO', 2, 'the folder of the journal'],
    ['pwrite64', 'ENOSPC', 3, 'the first segment'],
  ] as const) {
    it(`ends with 74 and the name of the file when ${call} gives ${error} on ${what}`, async () => {
      assert(await failStart({ call, error, when }), 'the call was made');
    });
  }
});
