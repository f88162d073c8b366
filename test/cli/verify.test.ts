/** Verifying: a good folder is called good, and every damage is named with its place. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { snapshotSections } from '../../src/actors/state/world-snapshot.ts';
import { loadSnapshotFile, recordOldest } from '../../src/operations/copy-folder.ts';
import { readJournal } from '../../src/operations/journal-reading.ts';
import { dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { FRAME_HEADER_BYTES, frameEnd } from '../../src/persistence/journal/frame-format.ts';
import { idInFileName, SEGMENT_HEADER_BYTES, SEGMENT_SUFFIX } from '../../src/persistence/journal/segment.ts';
import { writeSnapshot } from '../../src/persistence/snapshots/snapshot-writer.ts';
import { forge } from '../support/forged-folder.ts';
import {
  contentOf,
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  outputOf,
  type PastFolder,
  pastFolder,
  segmentsIn,
  snapshotsIn,
} from '../support/operator.ts';
import { framesIn } from '../support/segment-bytes.ts';
import { temporaryFolder } from '../support/server.ts';

/** Offsets of a segment's frames, and its end. */
function frameOffsets(segment: string): number[] {
  return [SEGMENT_HEADER_BYTES, ...framesIn(readFileSync(segment)).map(frameEnd)];
}

describe('flagstaff verify', () => {
  let past: PastFolder;
  before(async () => {
    past = await pastFolder();
  });

  /** Harms a copy, which must then be reported, and nothing of it changed. */
  async function damagesOf(harm: (folder: string) => void) {
    const folder = copyOf(past.folder);
    harm(folder);
    const content = contentOf(folder);
    const { code, json, err } = await flagstaff(['verify', '--json', '-d', folder]);
    assert.deepEqual([code, err], [65, '']);
    assert.equal(json.sound, false);
    assert.deepEqual(contentOf(folder), content, 'verifying changes nothing');
    return { folder, json };
  }

  it('calls a good folder good, with what it read', async () => {
    const output = await outputOf(['verify', '-d', past.folder]);
    const newest = past.moments.at(-1)?.id;
    assert.deepEqual([output.sound, output.damages, output.lastGoodEventId], [true, [], newest]);
    assert.equal(output.journal.files, segmentsIn(past.folder).length);
    assert.equal(output.journal.events, newest);
    assert.deepEqual(output.journal.intact, [{ from: 1, to: newest }]);
    assert.equal(output.snapshots.length, 3);
    assert.equal(output.deep, null);
  });

  it('calls a folder good whose server was killed before it overwrote the zeros ahead of its journal', async () => {
    const folder = copyOf(past.folder);
    const last = fileAt(segmentsIn(folder));
    appendFileSync(last, Buffer.alloc(100_000));
    const verified = await flagstaff(['verify', '-d', folder]);
    assert.equal(verified.code, 0);
    assert.doesNotMatch(verified.out, /note:/);
    const status = await outputOf(['status', '-d', folder]);
    assert.equal(status.journal.lastEvent.id, past.moments.at(-1)?.id);
    const to = join(temporaryFolder(), 'copy');
    await outputOf(['backup', '-d', folder, '--to', to]);
    assert.deepEqual(readFileSync(fileAt(segmentsIn(to))), readFileSync(fileAt(segmentsIn(past.folder))));
    appendFileSync(last, 'x');
    assert.match(
      (await flagstaff(['verify', '-d', folder])).out,
      /note: 100001 bytes at offset \d+ of .* cut off/,
    );
  });

  it('comes with --deep from nothing and from each snapshot to the state that was running', async () => {
    const { deep, sound } = await outputOf(['verify', '--deep', '-d', past.folder]);
    assert.equal(sound, true);
    assert.deepEqual(
      [deep.eventId, deep.stateHash],
      [past.moments.at(-1)?.id, past.moments.at(-1)?.stateHash],
    );
    assert.equal(deep.ways, 4);
  });

  it('finds with --deep a snapshot whose state is not the one that the journal gives', async () => {
    const folder = copyOf(past.folder);
    const [first, second] = past.moments.slice(5, 7);
    assert(first !== undefined && second !== undefined);
    const to = join(temporaryFolder(), 'state');
    await outputOf(['restore', folder, '--to', to, '--at', String(first.id), '--state-only']);
    const stranger = fileAt(snapshotsIn(to));
    await outputOf(['verify', '--deep', '-d', to]);
    // The state of one event under the header of another: sound byte by byte, and wrong.
    const target = fileAt(snapshotsIn(folder));
    const { world } = await loadSnapshotFile({ fs: realFileSystem, from: stranger });
    const { header } = await loadSnapshotFile({ fs: realFileSystem, from: target });
    rmSync(target);
    await writeSnapshot({
      fs: realFileSystem,
      folder: join(folder, 'snapshots'),
      ...header,
      sections: snapshotSections(world),
      durable: () => Promise.resolve(),
    });
    assert.equal((await flagstaff(['verify', '-d', folder])).code, 0);
    const { code, json } = await flagstaff(['verify', '--deep', '--json', '-d', folder]);
    assert.equal(code, 65);
    assert.deepEqual(
      json.damages.map(({ file }: { file: string }) => file),
      [target],
    );
  });

  it('finds with --deep an event that does not fit, from behind which a snapshot keeps the server starting', async () => {
    let createdId = 0;
    const folder = await forge(past.folder, (frames) => {
      const at = frames.findIndex(({ events }) => events.some(({ type }) => type === 'feature-created'));
      const [created] = frames.splice(at, 1);
      assert(created !== undefined, 'a flag was created');
      createdId = created.id;
      return [...frames, { ...created, at: frames.at(-1)?.at ?? created.at }];
    });
    const { world } = await loadSnapshotFile({ fs: realFileSystem, from: fileAt(snapshotsIn(past.folder)) });
    const journal = { fs: realFileSystem, folder: join(folder, 'journal') };
    const { lastId, boundary } = await readJournal(journal, { afterId: 0, visit: () => true });
    const header = { id: lastId, at: Date.now(), chain: boundary?.chain ?? 0 };
    await writeSnapshot({
      ...{ fs: realFileSystem, folder: join(folder, 'snapshots'), ...header },
      sections: snapshotSections(world),
      durable: () => Promise.resolve(),
    });
    const shallow = await flagstaff(['verify', '-d', folder]);
    assert.equal(shallow.code, 0, shallow.out);
    const { code, json } = await flagstaff(['verify', '--deep', '--json', '-d', folder]);
    const [damage] = json.damages;
    assert.deepEqual([code, json.damages.length], [65, 1]);
    assert.match(damage.what, /does not fit/);
    assert(damage.file.endsWith('.journal') && damage.lastGoodEventId >= createdId - 1);
  });

  it('names file, offset and last good event of a flipped bit, and goes on behind it', async () => {
    const { folder, json } = await damagesOf((copy) => {
      const segment = fileAt(segmentsIn(copy), 1);
      flipByte(segment, (frameOffsets(segment)[1] ?? 0) + FRAME_HEADER_BYTES + 20);
    });
    const segment = fileAt(segmentsIn(folder), 1);
    const first = Number(/(\d{20})\.journal$/.exec(segment)?.[1]);
    const [damage, ...more] = json.damages;
    assert.deepEqual(more, []);
    assert.equal(damage.file, segment);
    assert.equal(damage.offset, frameOffsets(segment)[1]);
    const [before, behind] = json.journal.intact;
    assert.equal(damage.lastGoodEventId, before.to);
    assert(before.to >= first && behind.from > before.to + 1);
    assert.equal(behind.to, past.moments.at(-1)?.id);
  });

  it('reports each of several damages, in journal and snapshots', async () => {
    const { folder, json } = await damagesOf((copy) => {
      for (const index of [0, 1]) {
        const segment = fileAt(segmentsIn(copy), index);
        flipByte(segment, (frameOffsets(segment)[1] ?? 0) + 40);
      }
      flipByte(fileAt(snapshotsIn(copy), 0), 100);
      truncateSync(fileAt(snapshotsIn(copy), 1), 200);
    });
    assert.deepEqual(
      new Set(json.damages.map(({ file }: { file: string }) => file)),
      new Set([...segmentsIn(folder).slice(0, 2), ...snapshotsIn(folder).slice(0, 2)]),
    );
    assert.deepEqual(
      json.snapshots.map(({ good }: { good: boolean }) => good),
      [false, false, true],
    );
  });

  it('finds every flipped byte of the journal', async () => {
    const segment = fileAt(segmentsIn(past.folder), 1);
    const { size } = statSync(segment);
    const folder = copyOf(past.folder);
    const copy = fileAt(segmentsIn(folder), 1);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: size - 1 }), async (offset) => {
        flipByte(copy, offset);
        const { code } = await flagstaff(['verify', '-d', folder]);
        copyFileSync(segment, copy);
        assert.equal(code, 65, `byte ${offset}`);
      }),
      { numRuns: 60 },
    );
    assert.equal((await flagstaff(['verify', '-d', folder])).code, 0, 'without harm there is no alarm');
  });

  const harms: readonly (readonly [string, (folder: string) => void, RegExp])[] = [
    ['a damaged header', (folder) => flipByte(fileAt(segmentsIn(folder), 1), 3), /header/],
    [
      'a missing file',
      (folder) => rmSync(fileAt(segmentsIn(folder), 1)),
      /events from \d+ to \d+ are missing/,
    ],
    [
      'a file of another place',
      (folder) => swap(fileAt(segmentsIn(folder), 0), fileAt(segmentsIn(folder), 1)),
      /begins with event/,
    ],
    ['a frame that is gone', (folder) => cutFrame(fileAt(segmentsIn(folder), 1)), /does not follow/],
    [
      'a journal cut before the mark',
      (folder) =>
        truncateSync(fileAt(segmentsIn(folder)), frameOffsets(fileAt(segmentsIn(folder))).at(-2) ?? 0),
      /had been on disk/,
    ],
    [
      'a snapshot ahead of the journal',
      (folder) => rmSync(fileAt(segmentsIn(folder))),
      /before this snapshot/,
    ],
    [
      'a snapshot by another name',
      (folder) =>
        renameSync(
          fileAt(snapshotsIn(folder), 0),
          join(folder, 'snapshots', '00000000000000000002.snapshot'),
        ),
      /ends with event/,
    ],
    [
      'a deleted first file, though the snapshots have its state',
      (folder) => rmSync(fileAt(segmentsIn(folder), 0)),
      /with which the log begins is missing, and with it the events from 1 to \d+/,
    ],
    [
      'no journal at all',
      (folder) => {
        for (const path of segmentsIn(folder)) rmSync(path);
      },
      /journal is missing/,
    ],
  ];
  for (const [what, harm, words] of harms) {
    it(`finds ${what}`, async () => {
      const { json } = await damagesOf(harm);
      const whats: string[] = json.damages.map((damage: { what: string }) => damage.what);
      assert(
        whats.some((one) => words.test(one)),
        whats.join('; '),
      );
    });
  }

  it('misses nothing where the first files are gone and the snapshots contain them, as retention leaves it', async () => {
    const folder = copyOf(past.folder);
    rmSync(fileAt(segmentsIn(folder), 0));
    rmSync(join(folder, 'log.beginning'));
    const missing = await flagstaff(['verify', '-d', folder]);
    assert.equal(missing.code, 65);
    assert.match(missing.out, /log\.beginning is missing, and the journal begins with event/);
    const oldest = idInFileName(basename(fileAt(segmentsIn(folder), 0)), SEGMENT_SUFFIX)!;
    await recordOldest(realFileSystem, dataFolder(folder), oldest);
    assert.equal((await outputOf(['verify', '--deep', '-d', folder])).sound, true);
    for (const path of snapshotsIn(folder)) rmSync(path);
    const { code, out } = await flagstaff(['verify', '-d', folder]);
    assert.equal(code, 65);
    assert.match(out, /in no journal file and no good snapshot/);
  });

  it('does not take the torn end that a crash leaves for damage, and says that it is there', async () => {
    const folder = copyOf(past.folder);
    const segment = fileAt(segmentsIn(folder));
    writeFileSync(segment, Buffer.concat([readFileSync(segment), Buffer.alloc(30, 7)]));
    const output = await outputOf(['verify', '-d', folder]);
    assert.equal(output.sound, true);
    assert.match(output.notes.join(), /30 bytes at offset/);
  });

  it('says all that on the terminal too, one line a damage', async () => {
    const folder = copyOf(past.folder);
    const snapshot = fileAt(snapshotsIn(folder));
    flipByte(snapshot, 100);
    const { code, out } = await flagstaff(['verify', '-d', folder]);
    assert.equal(code, 65);
    assert.equal(out.split('\n').filter((line) => line.startsWith(`DAMAGE ${snapshot}, offset `)).length, 1);
    assert.match((await flagstaff(['verify', '-d', past.folder])).out, /All is well\.$/);
  });
});

function swap(a: string, b: string): void {
  renameSync(a, `${a}.x`);
  renameSync(b, a);
  renameSync(`${a}.x`, b);
}

/** Takes a whole frame out of the middle. */
function cutFrame(segment: string): void {
  const [from = 0, to = 0] = frameOffsets(segment).slice(1, 3);
  const bytes = readFileSync(segment);
  writeFileSync(segment, Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
}
