/** The promises of every adapter of the archive (src/addons/replication/file-archive.ts), as one suite. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FileArchive } from '../../../src/addons/replication/file-archive.ts';

export interface ArchiveFactory {
  /** Two links to one new, empty archive. */
  open(): Promise<readonly [FileArchive, FileArchive]>;
  close(): Promise<void>;
}

const sorted = async (archive: FileArchive): Promise<readonly string[]> =>
  (await archive.list()).map(({ name, bytes }) => `${name} ${bytes}`).sort();

/** `skip`: why it cannot run here, or false. */
export function describeFileArchive(
  name: string,
  factory: ArchiveFactory,
  skip: string | false = false,
): void {
  describe(`the archive ${name}`, { skip }, () => {
    let one: FileArchive;
    let other: FileArchive;
    before(async () => {
      [one, other] = await factory.open();
    });
    after(() => factory.close());

    it('begins empty, has no file that nobody put, and deletes none', async () => {
      assert.deepEqual(await one.list(), []);
      assert.equal(await one.get('nothing'), null);
      await one.delete('nothing');
      assert.deepEqual(await one.list(), []);
    });

    it('gives back the bytes of a file on every link, and lists its size', async () => {
      const large = Buffer.alloc(700_001, 'flags');
      await one.put('segment.large', large);
      await one.put('small', Buffer.from([0, 255]));
      assert(large.equals((await other.get('segment.large'))!));
      assert.deepEqual(await other.get('small'), Buffer.from([0, 255]));
      assert.deepEqual(await sorted(other), ['segment.large 700001', 'small 2']);
    });

    it('replaces a file that is put again, and keeps nothing of a deleted one', async () => {
      await other.put('small', Buffer.from('longer'));
      assert.equal(String(await one.get('small')), 'longer');
      await one.delete('segment.large');
      assert.equal(await other.get('segment.large'), null);
      assert.deepEqual(await sorted(one), ['small 6']);
    });
  });
}
