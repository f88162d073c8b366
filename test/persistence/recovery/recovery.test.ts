/**
 * The decision table of recovery, every label of it, and folders that somebody has moved files in, out and about.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr/pack';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import {
  FRAME_HEADER_BYTES,
  type FrameLinks,
  frameEnd,
  OWN_STAMP,
  sealFrame,
} from '../../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../../src/persistence/journal/frame-payload.ts';
import { readLogBeginning, writeLogBeginning } from '../../../src/persistence/journal/log-beginning.ts';
import { encodeSegmentHeader } from '../../../src/persistence/journal/segment.ts';
import { type JournalSurvey, surveyJournal } from '../../../src/persistence/recovery/journal-survey.ts';
import { recover } from '../../../src/persistence/recovery/recovery.ts';
import {
  decideRecovery,
  RECOVERY_CASES,
  type RecoveryFacts,
  type RecoveryLabel,
} from '../../../src/persistence/recovery/recovery-cases.ts';
import {
  appendFrames,
  BEGINNING,
  diskWithJournal,
  FIRST_SEGMENT,
  FOLDER,
  frameOf,
  idsUpTo,
  JOURNAL,
  MARK,
  type Recovered,
  recoverFrom,
  replayedIds,
  SNAPSHOTS,
  snapshotOf,
} from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { framesIn } from '../../support/segment-bytes.ts';

/** A disk with snapshots of events 10 and 20 and a journal of 25 events, three segments. */
async function fullDisk(): Promise<{ disk: MemoryFileSystem; older: string; newer: string }> {
  const disk = await diskWithJournal({ frames: 10 });
  const segmentBytes = 200;
  const ten = await recoverFrom(disk);
  const older = await snapshotOf(disk, ten.report.tail);
  await appendFrames(disk, { frames: 10, batch: 10, tail: ten.report.tail, segmentBytes });
  const twenty = await recoverFrom(disk);
  const newer = await snapshotOf(disk, twenty.report.tail);
  await appendFrames(disk, { frames: 5, batch: 5, tail: twenty.report.tail, segmentBytes });
  return { disk, older, newer };
}

function damage(disk: MemoryFileSystem, path: string, at = 100): void {
  const bytes = disk.bytesOf(path);
  bytes[at]! ^= 0x10;
  disk.put(path, bytes);
}

const SEGMENTS = [1, 11, 21].map((id) => `${JOURNAL}/${String(id).padStart(20, '0')}.journal`);

const surveyOf = (disk: MemoryFileSystem): Promise<JournalSurvey> =>
  surveyJournal({ fs: disk, folder: JOURNAL, wantedIds: new Set([20]) });

/** All ids of the recovered state: those the snapshot held, then those replayed. */
const stateOf = (recovered: Recovered): unknown[] => [
  ...recovered.loaded.map(([, record]) => record),
  ...replayedIds(recovered),
];

interface Folder {
  readonly disk: MemoryFileSystem;
  readonly older: string;
  readonly newer: string;
}

/** How to bring a full folder into each case, and what must come of it. */
const CASES: Record<
  RecoveryLabel,
  | { arrange: (folder: Folder) => void; state: number[] }
  | { arrange: (folder: Folder) => void; refusal: RegExp; file: string }
> = {
  fresh: {
    arrange: ({ disk, older, newer }) => {
      for (const path of [...SEGMENTS, MARK, BEGINNING, older, newer]) disk.take(path);
    },
    state: [],
  },
  'snapshot-only': {
    arrange: ({ disk }) => {
      for (const path of [...SEGMENTS, MARK, BEGINNING]) disk.take(path);
    },
    state: idsUpTo(20),
  },
  'snapshot-only-damaged': {
    arrange: ({ disk, newer }) => {
      for (const path of [...SEGMENTS, MARK, BEGINNING]) disk.take(path);
      damage(disk, newer);
    },
    refusal:
      /There is no journal, and the newest snapshot is damaged.*"flagstaff repair --from <backup>" takes/,
    file: `${SNAPSHOTS}/00000000000000000020.snapshot`,
  },
  'journal-missing': {
    arrange: ({ disk }) => {
      for (const path of SEGMENTS) disk.take(path);
    },
    refusal:
      /The journal is missing, from 0{19}1\.journal on: durable\.mark says that events up to 25 had been written/,
    file: JOURNAL,
  },
  'journal-damaged': {
    arrange: ({ disk }) => damage(disk, SEGMENTS[1]!),
    refusal: /The journal is damaged: a checksum does not match/,
    file: SEGMENTS[1]!,
  },
  'journal-begins-late': {
    arrange: ({ disk }) => disk.take(SEGMENTS[0]!),
    refusal:
      /The journal file with which the log begins is missing, and with it the events from 1 to 10 .*Put the missing files back/,
    file: SEGMENTS[0]!,
  },
  'journal-behind-mark': {
    arrange: ({ disk }) => disk.take(SEGMENTS[2]!),
    refusal: /intact only up to event 20, and events up to 25 had been on disk/,
    file: SEGMENTS[1]!,
  },
  'journal-behind-snapshot': {
    arrange: ({ disk }) => {
      for (const path of [SEGMENTS[1]!, SEGMENTS[2]!, MARK]) disk.take(path);
    },
    refusal: /The journal ends with event 10, before the snapshot of event 20/,
    file: SEGMENTS[0]!,
  },
  'journal-starts-late': {
    arrange: ({ disk, older, newer }) => {
      disk.take(SEGMENTS[0]!);
      disk.take(SEGMENTS[1]!);
      disk.take(BEGINNING);
      disk.take(older);
      damage(disk, newer);
    },
    refusal: /The events from 1 to 20 are in no journal file and no good snapshot.*is damaged/,
    file: SEGMENTS[2]!,
  },
  'snapshot-foreign': {
    arrange: ({ disk, newer }) => {
      const bytes = disk.bytesOf(newer);
      bytes.writeUInt32LE(123, 12);
      bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
      bytes.writeUInt32LE(crc32(bytes.subarray(0, bytes.length - 20)), bytes.length - 4);
      const end = bytes.subarray(bytes.length - 20);
      end.writeUInt32LE(crc32(end.subarray(8), crc32(end.subarray(0, 4))), 4);
      disk.put(newer, bytes);
    },
    refusal: /The snapshot and the journal do not belong together: event 20 differs between them/,
    file: `${SNAPSHOTS}/00000000000000000020.snapshot`,
  },
  'journal-only': {
    arrange: ({ disk, older, newer }) => {
      disk.take(older);
      disk.take(newer);
    },
    state: idsUpTo(25),
  },
  'journal-instead-of-snapshots': {
    arrange: ({ disk, older, newer }) => {
      damage(disk, older);
      disk.put(newer, Buffer.alloc(0));
    },
    state: idsUpTo(25),
  },
  'snapshot-and-journal': { arrange: () => undefined, state: idsUpTo(25) },
  'older-snapshot-and-journal': { arrange: ({ disk, newer }) => damage(disk, newer), state: idsUpTo(25) },
};

const allFiles = (disk: MemoryFileSystem): unknown =>
  [JOURNAL, SNAPSHOTS].flatMap((folder) =>
    disk.namesIn(folder).map((name) => [name, disk.bytesOf(`${folder}/${name}`).toString('hex')]),
  );

for (const [label, expected] of Object.entries(CASES)) {
  test(`recovery knows the case "${label}"`, async () => {
    const folder = await fullDisk();
    expected.arrange(folder);
    if ('state' in expected) {
      const recovered = await recoverFrom(folder.disk);
      assert.equal(recovered.report.label, label);
      assert.deepEqual(stateOf(recovered), expected.state);
      assert.equal(recovered.report.lastId, expected.state.length);
      return;
    }
    const before = allFiles(folder.disk);
    await assert.rejects(recoverFrom(folder.disk), (error) => {
      assert(error instanceof DataFolderError);
      assert.match(error.message, expected.refusal);
      assert.equal(error.file, expected.file);
      return true;
    });
    assert.deepEqual(allFiles(folder.disk), before, 'a refusal changes nothing');
  });
}

test('exactly one case holds for every combination of facts', () => {
  const labels = new Set<RecoveryLabel>();
  const ids = [0, 1, 10, 11, 20, 25];
  for (const journal of ['none', 'good', 'damaged'] as const)
    for (const mark of ['absent', 'unreadable', 'good'] as const)
      for (const [beginning, holdsBeginning] of [
        ['absent', true],
        ['absent', false],
        ['unreadable', true],
        ['good', true],
        ['good', false],
      ] as const)
        for (const reachesMark of [true, false])
          for (const holdsSnapshotFrame of [true, false])
            for (const firstId of ids)
              for (const lastId of ids)
                for (const newestSnapshotId of ids)
                  for (const newestGoodSnapshotId of ids.filter((id) => id <= newestSnapshotId)) {
                    const facts: RecoveryFacts = {
                      journal,
                      mark,
                      beginning,
                      holdsBeginning,
                      reachesMark,
                      holdsSnapshotFrame,
                      firstId,
                      lastId,
                      newestSnapshotId,
                      newestGoodSnapshotId,
                    };
                    labels.add(decideRecovery(facts).label);
                  }
  assert.equal(labels.size, RECOVERY_CASES.length);
});

test('a damaged snapshot is set aside under another name, once the journal has made up for it', async () => {
  const folder = await fullDisk();
  damage(folder.disk, folder.newer);
  const damaged = folder.disk.bytesOf(folder.newer);
  const { report, warnings } = await recoverFrom(folder.disk);
  assert.equal(report.snapshotId, 10);
  assert.deepEqual(report.setAside, [folder.newer]);
  assert(
    warnings.includes('A snapshot is damaged; nothing is lost, because the journal has the same events.'),
  );
  assert.deepEqual(folder.disk.bytesOf(`${folder.newer}.damaged`), damaged);
  assert.equal((await recoverFrom(folder.disk)).report.label, 'snapshot-and-journal');
});

test('starting from a snapshot alone warns loudly, and the journal goes on behind it', async () => {
  const { disk } = await fullDisk();
  for (const path of [...SEGMENTS, MARK, BEGINNING]) disk.take(path);
  const { report, warnings } = await recoverFrom(disk);
  assert.deepEqual(warnings, [
    'There is no journal. The server starts from the snapshot alone, without the events before it.',
  ]);
  await writeLogBeginning(disk, FOLDER, { firstId: 21, chain: report.tail.chain });
  await appendFrames(disk, { frames: 3, tail: report.tail });
  const again = await recoverFrom(disk);
  assert.equal(again.report.label, 'snapshot-and-journal');
  assert.deepEqual(stateOf(again), idsUpTo(23));
  assert.equal(again.report.lastAt, 1_023);
});

test('the journal may have lost its oldest segments to retention, when a snapshot covers them', async () => {
  const { disk } = await fullDisk();
  const chain = (await surveyOf(disk)).chains.get(20)!;
  await writeLogBeginning(disk, FOLDER, { firstId: 21, chain });
  disk.take(SEGMENTS[0]!);
  disk.take(SEGMENTS[1]!);
  const recovered = await recoverFrom(disk);
  assert.equal(recovered.report.label, 'snapshot-and-journal');
  assert.deepEqual(stateOf(recovered), idsUpTo(25));
});

test('segments older than the recorded beginning, whose deletion a crash kept from happening, are no fault', async () => {
  const { disk } = await fullDisk();
  const chain = (await surveyOf(disk)).chains.get(20)!;
  await writeLogBeginning(disk, FOLDER, { firstId: 21, chain });
  assert.deepEqual(stateOf(await recoverFrom(disk)), idsUpTo(25));
  disk.take(SEGMENTS[0]!);
  assert.deepEqual(stateOf(await recoverFrom(disk)), idsUpTo(25));
});

test('a folder without a record of where its log begins starts and gets one, from which a deleted segment shows', async () => {
  const { disk } = await fullDisk();
  disk.take(BEGINNING);
  await recoverFrom(disk);
  assert.deepEqual(await readLogBeginning(disk, FOLDER), {
    state: 'good',
    beginning: { firstId: 1, chain: 0 },
  });
  disk.take(SEGMENTS[0]!);
  await assert.rejects(recoverFrom(disk), /The journal file with which the log begins is missing/);
});

test('the record of where the log begins deleted together with the oldest segments is refused', async () => {
  const { disk } = await fullDisk();
  disk.take(BEGINNING);
  for (const [segment, nextId] of [
    [SEGMENTS[0]!, 11],
    [SEGMENTS[1]!, 21],
  ] as const) {
    disk.take(segment);
    const before = allFiles(disk);
    await assert.rejects(recoverFrom(disk), (error) => {
      assert(error instanceof DataFolderError);
      const words = new RegExp(`^log\\.beginning is missing, and the journal begins with event ${nextId}: `);
      assert.match(error.message, words);
      assert.equal(error.file, BEGINNING);
      return true;
    });
    assert.deepEqual(allFiles(disk), before, 'a refusal changes nothing');
  }
});

test('a segment begun behind a snapshot, with a crash before the record of where the log begins, is no fault', async () => {
  const { disk } = await fullDisk();
  const chain = (await surveyOf(disk)).chains.get(20)!;
  for (const path of [...SEGMENTS, MARK, BEGINNING]) disk.take(path);
  disk.put(SEGMENTS[2]!, encodeSegmentHeader({ firstId: 21, chain }));
  const { report, warnings } = await recoverFrom(disk);
  assert.equal(report.lastId, 20);
  assert.match(warnings.join(), /log\.beginning is missing and is rewritten; the journal begins with/);
});

test('the whole journal gone, its mark included, is no fresh start', async () => {
  for (const snapshotsToo of [false, true]) {
    const { disk, older, newer } = await fullDisk();
    for (const path of [...SEGMENTS, MARK, ...(snapshotsToo ? [older, newer] : [])]) disk.take(path);
    await assert.rejects(recoverFrom(disk), (error) => {
      assert(error instanceof DataFolderError);
      assert.match(error.message, /The journal is missing, from 0{19}1\.journal on: log\.beginning says/);
      return true;
    });
  }
});

test('every bit flip in the record of where the log begins is noticed, said, and mended from the journal', async () => {
  const { disk } = await fullDisk();
  const good = disk.bytesOf(BEGINNING);
  for (let at = 0; at < good.length; at += 1) {
    damage(disk, BEGINNING, at);
    const { warnings } = await recoverFrom(disk);
    assert(
      warnings.some((warning) => warning.startsWith('log.beginning cannot be read')),
      `byte ${at}`,
    );
    assert.deepEqual(disk.bytesOf(BEGINNING), good, `byte ${at}`);
  }
});

test('a record of where another log begins is refused', async () => {
  const { disk } = await fullDisk();
  for (const beginning of [
    { firstId: 11, chain: 7 },
    { firstId: 30, chain: 0 },
  ]) {
    await writeLogBeginning(disk, FOLDER, beginning);
    await assert.rejects(recoverFrom(disk), /The journal and log\.beginning do not belong together/);
  }
});

test('a snapshot under the name of another event is no good snapshot', async () => {
  const { disk, older, newer } = await fullDisk();
  disk.put(newer, disk.bytesOf(older));
  const recovered = await recoverFrom(disk);
  assert.equal(recovered.report.label, 'older-snapshot-and-journal');
  assert.deepEqual(stateOf(recovered), idsUpTo(25));
});

test('any bit flipped in the newest snapshot is noticed, and the older one and the journal give the same state', async () => {
  const { disk, newer } = await fullDisk();
  const size = disk.bytesOf(newer).length;
  for (let at = 0; at < size; at += 1) {
    const damaged = disk.copy();
    damage(damaged, newer, at);
    const recovered = await recoverFrom(damaged);
    assert.equal(recovered.report.label, 'older-snapshot-and-journal', `byte ${at}`);
    assert.deepEqual(stateOf(recovered), idsUpTo(25), `byte ${at}`);
  }
});

test('unfinished files are removed, index files of older releases ignored, and unknown ones reported and left alone', async () => {
  const { disk } = await fullDisk();
  const leftover = `${SNAPSHOTS}/00000000000000000024.snapshot.tmp`;
  const index = `${JOURNAL}/00000000000000000001.index`;
  const note = `${JOURNAL}/notes.txt`;
  for (const path of [leftover, index, note]) disk.put(path, Buffer.from('x'));
  const { warnings } = await recoverFrom(disk);
  assert.deepEqual(warnings, ['Ignoring an unknown file in the data folder.']);
  assert(!(await disk.exists(leftover)));
  assert(await disk.exists(index));
  assert(await disk.exists(note));
});

test('a journal file or snapshot that was renamed is refused, since it would be missed otherwise', async () => {
  for (const path of [
    `${JOURNAL}/old.journal`,
    `${SNAPSHOTS}/20.snapshot`,
    `${JOURNAL}/${'0'.repeat(20)}.journal`,
  ]) {
    const { disk } = await fullDisk();
    disk.put(path, Buffer.from('x'));
    await assert.rejects(recoverFrom(disk), (error) => {
      assert(error instanceof DataFolderError);
      assert.equal(error.file, path);
      assert.match(error.message, /has no event id of 20 digits/);
      return true;
    });
  }
});

test('files of a newer format are refused, saying so', async () => {
  const { disk } = await fullDisk();
  const bytes = disk.bytesOf(SEGMENTS[2]!);
  bytes.writeUInt32LE(9, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
  disk.put(SEGMENTS[2]!, bytes);
  await assert.rejects(
    recoverFrom(disk),
    /format 9, this server knows 2.*Start the version of the server that wrote it/,
  );
});

test('an unreadable mark is no reason to refuse, but is said', async () => {
  const { disk } = await fullDisk();
  disk.put(MARK, Buffer.alloc(10));
  const recovered = await recoverFrom(disk);
  assert.deepEqual(stateOf(recovered), idsUpTo(25));
  assert(recovered.warnings.some((warning) => warning.startsWith('The durable mark cannot be read')));
});

test('the mark of another journal is refused', async () => {
  const { disk } = await fullDisk();
  const other = await diskWithJournal({ frames: 25, by: 'b' });
  disk.put(MARK, other.bytesOf(MARK));
  await assert.rejects(recoverFrom(disk), /The journal and durable\.mark do not belong together/);
});

/** A journal of one segment with these payloads, every checksum right. */
function forgedJournal(payloads: readonly Buffer[]): MemoryFileSystem {
  const parts = [encodeSegmentHeader({ firstId: 1, chain: 0 })];
  let offset = 64;
  let previous = 0;
  for (const payload of payloads) {
    const frame = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), payload]);
    const links: FrameLinks = { ...OWN_STAMP, payloadBytes: payload.length, previous, batchStart: offset };
    previous = sealFrame(frame, 0, links);
    parts.push(frame);
    offset += frame.length;
  }
  const disk = new MemoryFileSystem();
  disk.put(FIRST_SEGMENT, Buffer.concat(parts));
  return disk;
}

const payloadOf = (id: number, events = 1): Buffer => Buffer.from(encodePayload(frameOf(id, events)));

test('hostile content with valid checksums is refused with its place, whatever it is', async () => {
  const nested = JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`) as unknown;
  // The server's own writer would refuse it.
  const deep = new Packr({ useRecords: false, variableMapSize: true }).pack({
    ...frameOf(2),
    answer: nested,
  });
  const hostile: [string, Buffer[], RegExp][] = [
    ['a forged journal as such is fine', [payloadOf(1), payloadOf(2)], /^$/],
    ['a gap', [payloadOf(1), payloadOf(3), payloadOf(4)], /has event 3 where event 2 should be/],
    ['an event twice', [payloadOf(1), payloadOf(1), payloadOf(2)], /event 1 is out of order/],
    [
      'overlapping events',
      [payloadOf(1, 3), payloadOf(2), payloadOf(3)],
      /has event 2 where event 4 should be/,
    ],
    ['another first event', [payloadOf(2)], /event 2 is out of order/],
    ['deep nesting', [payloadOf(1), deep, payloadOf(3)], /nesting deeper than/],
    ['no map', [payloadOf(1), Buffer.from([0xc0]), payloadOf(2)], /a frame holds no event id/],
    [
      'a huge length',
      [Buffer.from([0x82, 0xa2, 0x69, 0x64, 1, 0xa1, 0x61, 0xdd, 255, 255, 255, 255])],
      /beyond the end/,
    ],
  ];
  for (const [name, payloads, reason] of hostile) {
    const recovering = recoverFrom(forgedJournal(payloads));
    if (reason.test('')) {
      assert.equal((await recovering).report.lastId, 2, name);
      continue;
    }
    await assert.rejects(recovering, (error) => {
      assert(error instanceof DataFolderError, `${name}: ${error}`);
      assert.match(error.message, reason, name);
      assert.equal(error.file, FIRST_SEGMENT);
      assert(error.offset !== null && error.lastGoodEventId !== null, name);
      return true;
    });
  }
});

test('a frame that claims a write which cannot have been is damage, though its checksum holds', async () => {
  const good = forgedJournal([payloadOf(1), payloadOf(2), payloadOf(3)]);
  const bytes = good.bytesOf(FIRST_SEGMENT);
  const links = framesIn(bytes).at(-1)!;
  const last = links.offset;
  for (const [batchStart, damaged] of [
    [last, false],
    [64, false],
    [63, true],
    [last + 1, true],
  ] as const) {
    const forged = Buffer.from(bytes);
    sealFrame(forged, last, { ...links, batchStart });
    good.put(FIRST_SEGMENT, forged);
    const recovering = recoverFrom(good);
    if (damaged) await assert.rejects(recovering, /a frame claims a write that cannot have been/);
    else assert.equal((await recovering).report.lastId, 3);
  }
});

test('an event that does not fit the state is refused with its place and cause, and nothing on disk is changed', async () => {
  const { disk, newer } = await fullDisk();
  // All that a start would mend: a torn tail, a damaged snapshot, and a file that was never finished.
  disk.put(SEGMENTS[2]!, Buffer.concat([disk.bytesOf(SEGMENTS[2]!), Buffer.alloc(10, 1)]));
  damage(disk, newer);
  disk.put(`${newer}.tmp`, Buffer.alloc(1));
  const before = allFiles(disk);
  const cause = new Error('no such flag');
  const loader = {
    reset: () => undefined,
    load: () => undefined,
    replay: ({ id }: { id: number }) => {
      if (id === 22) throw cause;
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  await assert.rejects(recover({ fs: disk, folder: FOLDER, loader, log }), (error) => {
    assert(error instanceof DataFolderError);
    assert.match(error.message, /event 22 does not fit: no such flag/);
    assert.equal(error.lastGoodEventId, 21);
    assert.equal(error.cause, cause);
    return true;
  });
  assert.deepEqual(allFiles(disk), before);
});

test('a part that is left unread is told once, also where its segment was read again for damage behind it', async () => {
  const { disk } = await fullDisk();
  const path = SEGMENTS[0]!;
  const frame = framesIn(disk.bytesOf(path))[4]!;
  const { checksum: chain } = frame;
  const end = frameEnd(frame);
  damage(disk, path, end + FRAME_HEADER_BYTES);
  const survey = await surveyJournal({
    fs: disk,
    folder: JOURNAL,
    wantedIds: new Set(),
    deferral: { bytesMin: 0, snapshot: { id: 5, chain } },
  });
  assert.equal(survey.damage?.file, path);
  assert.deepEqual(survey.deferred, [{ segment: 1, end, chain, lastId: 5 }]);
});

test('a snapshot that verifies and cannot be loaded leads to the older one, and to the whole journal in the end', async () => {
  for (const [broken, label, state] of [
    [[20], 'older-snapshot-and-journal', idsUpTo(25)],
    [[20, 10], 'journal-instead-of-snapshots', idsUpTo(25)],
  ] as const) {
    const { disk, newer } = await fullDisk();
    let held: unknown[] = [];
    const loader = {
      reset: () => {
        held = [];
      },
      load: (_: string, record: unknown) => {
        if (broken.some((id) => id === record)) throw new Error(`no place for ${record}`);
        held.push(record);
      },
      replay: ({ id }: { id: number }) => held.push(id),
    };
    const warnings: object[] = [];
    const log = { info: () => undefined, warn: (details: object) => warnings.push(details) };
    const report = await recover({ fs: disk, folder: FOLDER, loader, log });
    assert.equal(report.label, label);
    assert.deepEqual(held, state);
    assert.equal(report.setAside[0], newer);
    assert.match(JSON.stringify(warnings), /a record of section \\"ids\\" does not fit: no place for \d+/);
  }
});
