/** The commands on a folder with a sector that the disk cannot read: they go past it, or say where it is. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { backUp } from '../../src/cli/backup.ts';
import { restore } from '../../src/cli/restore.ts';
import { DataFolderError } from '../../src/persistence/disk/data-folder.ts';
import { type FileSystem, realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { withBadSectors } from '../persistence/recovery/bad-sectors.ts';
import { copyOf, fileAt, type PastFolder, pastFolder, segmentsIn, snapshotsIn } from '../support/operator.ts';
import { temporaryFolder } from '../support/server.ts';

const monotonicMs = (): number => performance.now();

/** Has a sector in the middle of the file go bad. */
function badIn(path: string): { readonly fs: FileSystem; readonly offset: number } {
  const offset = Math.floor(statSync(path).size / 2);
  return { fs: withBadSectors(realFileSystem, [{ path, offset, bytes: 8 }]), offset };
}

function namesPlace(error: unknown, file: string, offset: number): boolean {
  assert(error instanceof Error);
  const cause = error instanceof DataFolderError ? error : error.cause;
  assert(cause instanceof DataFolderError, `${error.name}: ${error.message}`);
  assert.match(cause.message, /the disk cannot read it/);
  assert.equal(cause.file, file);
  assert(cause.offset !== null && cause.offset <= offset, cause.message);
  return true;
}

describe('a sector that cannot be read', () => {
  let past: PastFolder;
  let newest: PastFolder['moments'][number];
  before(async () => {
    past = await pastFolder();
    newest = past.moments.at(-1)!;
  });

  it('in a journal file: restore and backup refuse with file, offset and last good event', async () => {
    const folder = copyOf(past.folder);
    const file = fileAt(segmentsIn(folder), 1);
    const { fs, offset } = badIn(file);
    const to = (): string => join(temporaryFolder(), 'to');
    const runs = {
      restore: () => restore({ fs, from: folder, to: to(), moment: null, monotonicMs }),
      backup: () => backUp({ fs, folder, to: to() }),
    };
    for (const run of Object.values(runs)) {
      await assert.rejects(run(), (error) => {
        namesPlace(error, file, offset);
        assert.match((error as Error).message, /The last event known to be good is \d+/);
        return true;
      });
    }
  });

  it('in an old journal file of a running server: backup says which file it could not copy, and where', async () => {
    const folder = copyOf(past.folder);
    const file = fileAt(segmentsIn(folder), 0);
    const { fs, offset } = badIn(file);
    const ask: NonNullable<Parameters<typeof backUp>[0]['ask']> = async () =>
      ({ durableId: newest.id, pid: 1, lastId: newest.id }) as never;
    const to = join(temporaryFolder(), 'to');
    await assert.rejects(backUp({ fs, folder, to, ask }), (error) => namesPlace(error, file, offset));
  });

  it('in a journal file: restore goes past it to the newest state, without the events', async () => {
    const folder = copyOf(past.folder);
    const { fs } = badIn(fileAt(segmentsIn(folder), 1));
    const to = join(temporaryFolder(), 'to');
    const restored = await restore({ fs, from: folder, to, moment: null, stateOnly: true, monotonicMs });
    assert.deepEqual([restored.lastId, restored.stateHash], [newest.id, newest.stateHash]);
  });

  it('in the newest snapshot: restore uses an older one, and comes to the same state', async () => {
    const folder = copyOf(past.folder);
    const { fs } = badIn(fileAt(snapshotsIn(folder)));
    const to = join(temporaryFolder(), 'to');
    const restored = await restore({ fs, from: folder, to, moment: null, monotonicMs });
    assert.deepEqual([restored.lastId, restored.stateHash], [newest.id, newest.stateHash]);
    assert((restored.snapshotId ?? 0) < newest.id);
  });

  it('in a snapshot that is restored by itself: refused with file and offset', async () => {
    const folder = copyOf(past.folder);
    const file = fileAt(snapshotsIn(folder));
    const { fs, offset } = badIn(file);
    const to = join(temporaryFolder(), 'to');
    const run = restore({ fs, from: file, to, moment: null, monotonicMs });
    await assert.rejects(run, (error) => namesPlace(error, file, offset));
  });
});
