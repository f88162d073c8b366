/**
 * Every command that reads a stopped folder refuses what a start refuses: exit code 0 means that nothing was missing.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { importMarker, readyFile, repairFolder } from '../../src/persistence/recovery/unfinished-work.ts';
import {
  contentOf,
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  type PastFolder,
  pastFolder,
  segmentsIn,
  snapshotsIn,
  startsOn,
} from '../support/operator.ts';
import { temporaryFolder } from '../support/server.ts';

/** Damages that lose acknowledged events, or leave open whether any are lost. */
const DAMAGES: Readonly<Record<string, (folder: string) => void>> = {
  'the last frame is cut off': (folder) => {
    const segment = fileAt(segmentsIn(folder));
    truncateSync(segment, readFileSync(segment).length - 10);
  },
  'the last frame is damaged': (folder) => flipByte(fileAt(segmentsIn(folder)), -10),
  'the first file is gone, whose state the snapshots have': (folder) => rmSync(fileAt(segmentsIn(folder), 0)),
  'the journal and its mark are gone, and the snapshots': (folder) => {
    for (const name of ['journal', 'snapshots']) rmSync(join(folder, name), { recursive: true });
  },
  'the last file is gone': (folder) => rmSync(fileAt(segmentsIn(folder))),
  'a file in the middle is gone': (folder) => rmSync(fileAt(segmentsIn(folder), 1)),
  'an early frame is damaged, and every snapshot': (folder) => {
    flipByte(fileAt(segmentsIn(folder), 0), 200);
    for (const snapshot of snapshotsIn(folder)) flipByte(snapshot, 100);
  },
  'all journal files are gone': (folder) => {
    for (const segment of segmentsIn(folder)) rmSync(segment);
  },
  'a file has a name that no event has': (folder) =>
    writeFileSync(join(folder, 'journal', 'old.journal'), ''),
  'an import was interrupted': (folder) => writeFileSync(importMarker(folder), ''),
  'a repair was interrupted': (folder) => {
    mkdirSync(repairFolder(folder), { recursive: true });
    writeFileSync(readyFile(folder), 'damaged-then');
  },
};

/** Arguments of every reading command that shows or copies the newest state. */
const COMMANDS: Readonly<Record<string, (folder: string) => readonly string[]>> = {
  backup: (folder) => ['backup', '-d', folder, '--to', join(temporaryFolder(), 'copy')],
  restore: (folder) => ['restore', folder, '--to', join(temporaryFolder(), 'restored')],
  'restore to a time still to come': (folder) => [
    ...['restore', folder, '--to', join(temporaryFolder(), 'restored')],
    ...['--before', '2999-01-01'],
  ],
  export: (folder) => ['export', '-d', folder],
  status: (folder) => ['status', '-d', folder],
  verify: (folder) => ['verify', '-d', folder],
};

describe('a stopped folder that no server starts on', () => {
  let past: PastFolder;
  before(async () => {
    past = await pastFolder();
  });

  for (const [damage, harm] of Object.entries(DAMAGES)) {
    it(`is refused by every reading command when ${damage}`, async () => {
      const folder = copyOf(past.folder);
      harm(folder);
      const content = contentOf(folder);
      await assert.rejects(startsOn(folder, () => Promise.resolve()));
      // The lock file is all that an attempt to start may leave.
      for (const [name, argsOf] of Object.entries(COMMANDS)) {
        const { code, out, err } = await flagstaff(argsOf(folder));
        assert.equal(code, 65, `${name}: ${out}${err}`);
      }
      const lock = join(folder, 'flagstaff.lock');
      assert.deepEqual(
        [...contentOf(folder)].filter(([path]) => path !== lock),
        [...content].filter(([path]) => path !== lock),
      );
    });
  }

  it('is not one with a torn tail, which a start cuts off: every command goes on with the rest', async () => {
    const folder = copyOf(past.folder);
    appendFileSync(fileAt(segmentsIn(folder)), Buffer.alloc(20, 7));
    for (const [name, argsOf] of Object.entries(COMMANDS)) {
      const { code, err } = await flagstaff(argsOf(folder));
      assert.equal(code, 0, `${name}: ${err}`);
    }
  });

  it('is read up to an event that comes before the damage, when that is asked for', async () => {
    const folder = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(folder)), -10);
    const early = past.moments[3];
    assert(early !== undefined);
    const at = String(early.id);
    const to = join(temporaryFolder(), 'restored');
    const runs = [
      ['restore', folder, '--to', to, '--at', at],
      ['export', '-d', folder, '--at', at],
    ];
    for (const args of runs) assert.equal((await flagstaff(args)).code, 0, args.join(' '));
  });
});

describe('a folder that holds nothing', () => {
  it('is not called well: there is nothing to verify', async () => {
    const { code, err } = await flagstaff(['verify', '-d', temporaryFolder()]);
    assert.equal(code, 66);
    assert.match(err, /holds neither events nor snapshots/);
  });
});
