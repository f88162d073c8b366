/** Commands that read while a running server deletes old files: what they give is whole. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { backUp } from '../../src/cli/backup.ts';
import { type FileSystem, realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { writeLogBeginning } from '../../src/persistence/journal/log-beginning.ts';
import { withSegment } from '../../src/persistence/journal/segment-file.ts';
import { fileAt, outputOf, segmentsIn, snapshotsIn } from '../support/operator.ts';
import { startTestServer, type TestServer, temporaryFolder } from '../support/server.ts';

const firstIdOf = (path: string): number => Number(/(\d{20})\.\w+$/.exec(path)?.[1]);

/** The real disk, on which something happens right before a file is opened for the n-th time. */
function disturbed(path: string, time: number, disturb: () => Promise<void>): FileSystem {
  let opened = 0;
  return {
    ...realFileSystem,
    open: async (name, mode) => {
      if (name === path) {
        opened += 1;
        if (opened === time) await disturb();
      }
      return realFileSystem.open(name, mode);
    },
  };
}

describe('while a server deletes its oldest files', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ store: { segmentBytes: 1_024 } });
  });
  after(() => server.stop());

  /** A folder with several segments more, whose state a snapshot has. */
  async function grown(): Promise<string> {
    for (let index = 0; index < 12; index += 1) {
      await server.call('PUT', '/projects/default', {
        name: `Default ${index}`,
        description: 'x'.repeat(200),
      });
    }
    await server.server.store.keeper.take();
    return server.folder;
  }

  /** Deletes the first segment, as retention does. */
  async function deleteFirst(folder: string): Promise<void> {
    const [first, second] = segmentsIn(folder).map(firstIdOf);
    assert(first !== undefined && second !== undefined);
    const source = { fs: realFileSystem, folder: join(folder, 'journal') };
    const beginning = await withSegment(source, second, async ({ header }) => header);
    assert(beginning !== null);
    await writeLogBeginning(realFileSystem, folder, beginning);
    rmSync(fileAt(segmentsIn(folder), 0));
  }

  it('backup copies those that are kept, and the copy starts', async () => {
    const folder = await grown();
    const [first, second] = segmentsIn(folder);
    assert(first !== undefined && second !== undefined);
    const to = join(temporaryFolder(), 'copy');
    const { lastId } = await backUp({
      fs: disturbed(first, 1, () => deleteFirst(folder)),
      folder,
      to,
    });
    assert.equal(lastId, server.server.store.engine.durableId);
    assert.equal(firstIdOf(fileAt(segmentsIn(to), 0)), firstIdOf(second));
    assert.equal((await outputOf(['status', '-d', to])).journal.beginsWith, firstIdOf(second));
  });

  for (const time of [1, 2]) {
    it(`backup does without a snapshot that is gone when it is opened for the ${time}. time`, async () => {
      const folder = await grown();
      await grown();
      const oldest = fileAt(snapshotsIn(folder), 0);
      const to = join(temporaryFolder(), 'copy');
      await backUp({ fs: disturbed(oldest, time, async () => rmSync(oldest)), folder, to });
      assert(!snapshotsIn(to).map(firstIdOf).includes(firstIdOf(oldest)));
      assert.equal((await outputOf(['verify', '-d', to])).damages.length, 0);
    });
  }
});
