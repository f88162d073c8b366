/** Writes that cannot be taken now: 503 with Retry-After, while everything else goes on. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import '../../support/check-responses.ts';
import { SPACE_CHECK_INTERVAL_MS } from '../../../src/persistence/journal/free-space.ts';
import { gatedDisk, ManualClock, settle } from '../../support/engine.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { addProject, FEATURES, makeFlag, refused } from '../../support/interface.ts';
import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { type ReceivedResponse, startTestServer, type TestServer } from '../../support/server.ts';

const MAILBOX_LENGTH_MAX = 2;
const RESERVE_BYTES = 100_000;

describe('overload', () => {
  let server: TestServer;
  let disk: MemoryFileSystem;
  let manual: ManualClock;

  before(async () => {
    disk = gatedDisk().disk;
    disk.capacityBytes = 10 * RESERVE_BYTES;
    manual = new ManualClock();
    manual.runFreely();
    server = await startTestServer({
      store: {
        fs: disk,
        clock: manual.clock,
        logReader: inlineLogReader(disk),
        mailboxLengthMax: MAILBOX_LENGTH_MAX,
        reserveBytes: RESERVE_BYTES,
      },
    });
    await addProject(server, 'calm');
    await makeFlag(server.call, 'known');
  });
  after(async () => {
    manual.runFreely();
    await server.stop();
  });

  const describing = (description: string) =>
    ({ method: 'PUT', path: `${FEATURES}/known`, body: { description } }) as const;
  const put = (description: string): Promise<ReceivedResponse> =>
    server.call('PUT', `${FEATURES}/known`, { description });

  it('a full mailbox refuses at once, for its project alone, and takes writes again after a turn', async () => {
    const { engine } = server.server.store;
    manual.holdTurns();
    const waiting = ['one', 'two'].map(put);
    while (engine.queuedCount < MAILBOX_LENGTH_MAX) await settle();
    const { headers } = await refused(server, 503, 'ServiceUnavailableError', describing('three'));
    assert.equal(headers.get('retry-after'), '1');
    const elsewhere = server.call('POST', '/projects/calm/features', { name: 'fine' });
    while (engine.queuedCount < MAILBOX_LENGTH_MAX + 1) await settle();
    assert.equal((await server.call('GET', `${FEATURES}/known`)).status, 200, 'reads go on');
    manual.runFreely();
    assert.deepEqual(
      (await Promise.all(waiting)).map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await elsewhere).status, 201);
    assert.equal((await put('four')).status, 200);
  });

  it('a disk that is almost full refuses writes and answers reads, until there is room again', async () => {
    // Room for a few writes yet, but less than the reserve.
    disk.capacityBytes -= disk.roomLeft() - RESERVE_BYTES / 2;
    manual.monotonicMs += SPACE_CHECK_INTERVAL_MS;
    await put('the write that notices');
    await settle();
    const { body } = await refused(server, 503, 'ServiceUnavailableError', describing('too late'));
    assert.match(body.message, /almost full/);
    assert.equal((await server.call('GET', `${FEATURES}/known`)).body.description, 'the write that notices');
    assert.equal((await server.call('POST', '/events/search', {})).status, 200);
    disk.capacityBytes = 10 * RESERVE_BYTES;
    manual.monotonicMs += SPACE_CHECK_INTERVAL_MS;
    await refused(server, 503, 'ServiceUnavailableError', describing('the one that asks again'));
    await settle();
    assert.equal((await put('in time')).status, 200);
  });
});
