/** The figures about what is on disk, and the response that shows them. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readDiskUsage } from '../../src/actors/disk-usage.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import '../support/check-responses.ts';
import { makeFlag } from '../support/interface.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('the figures of a running server', () => {
  let server: TestServer;
  before(async () => {
    // Segments of the smallest size, so that a few flags fill several.
    server = await startTestServer({ store: { segmentBytes: 4096 } });
  });
  after(() => server.stop());

  const bytesIn = (folder: string, suffix: string): number[] =>
    readdirSync(join(server.folder, folder))
      .filter((name) => name.endsWith(suffix))
      .map((name) => statSync(join(server.folder, folder, name)).size);
  const figures = async () => (await server.call('GET', '/instance-stats')).body;

  it('count what the server holds, and every byte of the journal', async () => {
    const before = await figures();
    for (let index = 0; index < 30; index += 1) await makeFlag(server.call, `figure-${index}`);
    const now = await figures();
    assert.equal(now.flags - before.flags, 30);
    assert.equal(now.events - before.events, 30);
    assert.equal(now.durableEventId, now.lastEventId);
    const sizes = bytesIn('journal', '.journal');
    assert(sizes.length > 1, 'more than one segment is counted');
    assert.deepEqual(now.journal, {
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      segments: sizes.length,
    });
    assert.equal(now.writable, true);
  });

  it('tell the newest snapshot by the event that it ends with', async () => {
    assert.equal((await figures()).snapshots.newest, null);
    await server.server.store.keeper.take();
    const { snapshots, lastEventId } = await figures();
    assert.equal(snapshots.count, 1);
    assert.equal(snapshots.newest.eventId, lastEventId);
    assert.deepEqual([snapshots.newest.bytes], bytesIn('snapshots', '.snapshot'));
    assert(snapshots.newest.ageSeconds >= 0);
  });

  it('leave out a segment that retention has removed since it was listed', async () => {
    const { folder } = server;
    const { journalBytes, journalSegments } = await readDiskUsage({ fs: vanishing, folder });
    const sizes = bytesIn('journal', '.journal');
    assert.equal(journalSegments, sizes.length + 1);
    assert.equal(
      journalBytes,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  });
});

/** Lists a segment that is not there any more. */
const vanishing = {
  ...realFileSystem,
  list: async (folder: string) => {
    const names = await realFileSystem.list(folder);
    return folder.endsWith('journal') ? ['00000000000000000000.journal', ...names] : names;
  },
};
