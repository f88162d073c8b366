import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { OWN_SCHEDULE, scheduleTimes } from '../../src/process/schedule-times.ts';
import { temporaryFolder } from '../support/server.ts';

describe('what the scheduler says about a thread', () => {
  it('is read again with each call', () => {
    const file = join(temporaryFolder(), 'schedstat');
    writeFileSync(file, '5000000 250000 7\n');
    const times = scheduleTimes(file);
    assert.deepEqual(times?.(), { ranMs: 5, waitedMs: 0.25 });
    writeFileSync(file, '123456000000 9000000 12\n');
    assert.deepEqual(times?.(), { ranMs: 123_456, waitedMs: 9 });
  });

  it('is null where the system does not count', () => {
    assert.equal(scheduleTimes(join(temporaryFolder(), 'schedstat')), null);
  });

  it('can be read for the own thread', { skip: process.platform !== 'linux' }, () => {
    const times = scheduleTimes(OWN_SCHEDULE);
    assert(times !== null && times().ranMs > 0, 'this thread has run');
  });
});
