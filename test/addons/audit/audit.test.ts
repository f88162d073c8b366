/** An auditor with a public key and one signed head: every forgery of history is named, though all checksums are made anew. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { auditFolder, type Difference } from '../../../src/addons/audit/audit.ts';
import type { ChainPlace } from '../../../src/addons/audit/chain-reading.ts';
import { HeadsFile, headsPath, type RecordedHead } from '../../../src/addons/audit/heads-file.ts';
import { FIRST_LINK } from '../../../src/addons/audit/history-chain.ts';
import { type Head, HeadSigner } from '../../../src/addons/audit/signed-head.ts';
import { readDurableMark } from '../../../src/persistence/journal/durable-mark.ts';
import type { Frame } from '../../../src/persistence/journal/frame.ts';
import { OWN_STAMP } from '../../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../../src/persistence/journal/frame-payload.ts';
import { writeLogBeginning } from '../../../src/persistence/journal/log-beginning.ts';
import { segmentFileName } from '../../../src/persistence/journal/segment.ts';
import { listSegments, withSegment } from '../../../src/persistence/journal/segment-file.ts';
import { FOLDER, frameOf, idsUpTo, JOURNAL, openJournal } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { chainAt, headsOf } from './audit-fixture.ts';

const EVENTS = 3_600;
/** The last event of the head that the auditor has kept; heads of the folder stand at the ends of three blocks, and at the end. */
const KEPT = 3_500;

const newSigner = (): HeadSigner => new HeadSigner(generateKeyPairSync('ed25519').privateKey);
const [server, stranger] = [newSigner(), newSigner()];

interface Written extends Frame {
  readonly contentVersion?: number;
}

async function write(frames: readonly Written[]): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  const { journal } = await openJournal(disk, { segmentBytes: 32 * 1024 });
  for (const [at, { contentVersion = OWN_STAMP.contentVersion, ...frame }] of frames.entries()) {
    const renumbered = { ...frame, id: journal.appendedId + 1 };
    journal.append(renumbered, { ...OWN_STAMP, payload: encodePayload(renumbered), contentVersion });
    if (at % 50 === 0) await journal.flush();
  }
  await journal.close();
  return disk;
}

function record({ lastId, link, boundary }: ChainPlace, signer: HeadSigner, isCut = false): RecordedHead {
  const head = { history: 'ab'.repeat(16), lastId, link, isCut, at: 0 };
  return { note: signer.sign(head), head, boundary, endsBlock: isCut || lastId % 64 === 0 };
}

/** The end of the block of an event. */
const blockEnd = (id: number): number => Math.ceil(id / 64) * 64;

/** Writes the heads of the folder anew. */
async function signAt(disk: MemoryFileSystem, ids: readonly number[], signer = server): Promise<void> {
  if (await disk.exists(headsPath(FOLDER))) await disk.remove(headsPath(FOLDER));
  const file = await HeadsFile.open(disk, FOLDER);
  for (const id of ids) await file.append(record(await chainAt(disk, id), signer));
  await file.close();
}

async function cutAt(disk: MemoryFileSystem, place: ChainPlace, signer: HeadSigner): Promise<void> {
  const file = await HeadsFile.open(disk, FOLDER);
  await file.cut(record(place, signer, true));
  await file.close();
}

/** Deletes the oldest segments and moves the record of the beginning; returns the first event that is left. */
async function deleteOldest(disk: MemoryFileSystem, count = 2): Promise<number> {
  const source = { fs: disk, folder: JOURNAL };
  const segments = await listSegments(source);
  for (const segment of segments.slice(0, count)) await disk.remove(`${JOURNAL}/${segmentFileName(segment)}`);
  const oldest = segments[count]!;
  const header = await withSegment(source, oldest, async (segment) => segment.header);
  await writeLogBeginning(disk, FOLDER, header!);
  return oldest;
}

describe('an audit', () => {
  let frames: readonly Written[];
  let original: MemoryFileSystem;
  let kept: Head;
  let oldest: number;

  before(async () => {
    frames = idsUpTo(EVENTS).map((id) => frameOf(id));
    original = await write(frames);
    await signAt(original, [1_024, 2_048, 3_072, EVENTS]);
    kept = record(await chainAt(original, KEPT), server).head;
    oldest = await deleteOldest(original.copy());
  });

  async function differences(
    disk: MemoryFileSystem,
    { head = kept as Head | null } = {},
  ): Promise<readonly Difference[]> {
    const reading = await readDurableMark(disk, JOURNAL);
    assert(reading.state === 'good');
    const audit = {
      fs: disk,
      folder: FOLDER,
      key: server.publicKey,
      kept: head,
      newestId: async () => reading.mark.lastId,
    };
    return (await auditFolder(audit)).differences;
  }

  const shown = (found: readonly Difference[]) => found.map(({ kind, from, to }) => [kind, from, to]);

  /** The folder with other frames, and with the heads of the true one. */
  async function forged(
    change: (frames: readonly Written[]) => readonly Written[],
  ): Promise<MemoryFileSystem> {
    const disk = await write(change(frames));
    disk.put(headsPath(FOLDER), original.bytesOf(headsPath(FOLDER)));
    return disk;
  }

  const changed = (ids: readonly [from: number, to: number], change: (frame: Frame) => Partial<Written>) =>
    forged((all) =>
      all.map((frame) => (frame.id >= ids[0] && frame.id <= ids[1] ? { ...frame, ...change(frame) } : frame)),
    );

  const byAnother = { by: 'somebody-else', userId: 99 };
  const swapped = (a: number, b: number, count: number) =>
    forged((all) => [
      ...all.slice(0, a),
      ...all.slice(b, b + count),
      ...all.slice(a + count, b),
      ...all.slice(a, a + count),
      ...all.slice(b + count),
    ]);

  /** A forgery, and the differences that an audit names. */
  type Row = readonly [
    forge: () => Promise<MemoryFileSystem>,
    expected: () => readonly (readonly [Difference['kind'], number, number])[],
  ];

  const FORGERIES: Readonly<Record<string, Row>> = {
    'the beginning cut off, and the record of it made anew': [
      async () => {
        const disk = original.copy();
        await deleteOldest(disk);
        return disk;
      },
      () => [
        ['missing', 1, oldest - 1],
        ['changed', oldest, 1_024],
      ],
    ],
    'the beginning cut off, with a cut by a stranger': [
      async () => {
        const disk = original.copy();
        await deleteOldest(disk);
        await cutAt(disk, await chainAt(original, blockEnd(oldest - 1)), stranger);
        return disk;
      },
      () => [
        ['missing', 1, oldest - 1],
        ['changed', oldest, 1_024],
        ['unsigned', blockEnd(oldest - 1), blockEnd(oldest - 1)],
      ],
    ],
    'the beginning cut off, and signed anew by a server that was misled': [
      async () => {
        const disk = original.copy();
        await deleteOldest(disk);
        await disk.remove(headsPath(FOLDER));
        const misled = { lastId: oldest - 1, link: FIRST_LINK, boundary: null };
        await cutAt(disk, misled, server);
        const file = await HeadsFile.open(disk, FOLDER);
        await file.append(record(await chainAt(disk, EVENTS, misled), server));
        return disk;
      },
      () => [['changed', oldest, KEPT]],
    ],
    'the folder of last week put back': [
      async () => {
        const disk = await write(frames.slice(0, 2_500));
        await signAt(disk, [1_024, 2_048, 2_500]);
        return disk;
      },
      () => [['missing', 2_501, KEPT]],
    ],
    'the key replaced': [
      async () => {
        const disk = original.copy();
        await signAt(disk, [1_024, 2_048, 3_072, EVENTS], stranger);
        return disk;
      },
      () => [['unsigned', KEPT + 1, EVENTS]],
    ],
    'the tail cut off, with its heads': [
      async () => {
        const disk = await write(frames.slice(0, 3_400));
        await signAt(disk, [1_024, 2_048, 3_072]);
        return disk;
      },
      () => [
        ['changed', 3_073, 3_400],
        ['missing', 3_401, KEPT],
      ],
    ],
    'a fork from before the head, without heads of its own': [
      async () => {
        const disk = await changed([3_201, EVENTS], () => byAnother);
        await signAt(disk, [1_024, 2_048, 3_072]);
        return disk;
      },
      () => [
        ['changed', 3_073, KEPT],
        ['unsigned', KEPT + 1, EVENTS],
      ],
    ],
    'a fork from before the head, signed by a stranger': [
      async () => {
        const disk = await changed([3_201, EVENTS], () => byAnother);
        await signAt(disk, [1_024, 2_048, 3_072, EVENTS], stranger);
        return disk;
      },
      () => [
        ['changed', 1, KEPT],
        ['unsigned', KEPT + 1, EVENTS],
      ],
    ],
    'a fork behind the head, without its heads': [
      async () => {
        const disk = await changed([KEPT + 1, EVENTS], () => byAnother);
        await signAt(disk, [1_024, 2_048, 3_072]);
        return disk;
      },
      () => [['unsigned', KEPT + 1, EVENTS]],
    ],
    'an older head in the place of the newest one': [
      async () => {
        const disk = original.copy();
        const bytes = disk.bytesOf(headsPath(FOLDER));
        disk.put(headsPath(FOLDER), Buffer.concat([bytes.subarray(0, -1024), bytes.subarray(0, 1024)]));
        return disk;
      },
      () => [['unsigned', KEPT + 1, EVENTS]],
    ],
    'eighteen hundred events by another author, and the end cut off to hide them': [
      () =>
        forged((all) =>
          all
            .slice(0, 3_540)
            .map((frame) => (frame.id > 1_740 && frame.id <= 3_540 ? { ...frame, ...byAnother } : frame)),
        ),
      () => [
        ['changed', 1_025, 3_540],
        ['missing', 3_541, EVENTS],
      ],
    ],
    'another author': [() => changed([2_500, 2_500], () => byAnother), () => [['changed', 2_049, 3_072]]],
    'another time': [
      () => changed([2_500, 2_500], ({ at }) => ({ at: at - 1 })),
      () => [['changed', 2_049, 3_072]],
    ],
    'another content': [
      () =>
        changed([2_500, 2_500], ({ events }) => ({
          events: events.map((event) => ({ ...event, data: 'forged' })),
        })),
      () => [['changed', 2_049, 3_072]],
    ],
    'another type of the event': [
      () =>
        changed([2_500, 2_500], ({ events }) => ({
          events: events.map((event) => ({ ...event, type: 'u' })),
        })),
      () => [['changed', 2_049, 3_072]],
    ],
    'another version of the content': [
      () => changed([2_500, 2_500], () => ({ contentVersion: 1 })),
      () => [['changed', 2_049, 3_072]],
    ],
    'another order': [() => swapped(2_500, 2_501, 1), () => [['changed', 2_049, 3_072]]],
    'swapped parts': [
      () => swapped(500, 2_500, 300),
      () => [
        ['changed', 1, 1_024],
        ['changed', 2_049, 3_072],
      ],
    ],
    'a change left out': [
      () => forged((all) => all.filter(({ id }) => id !== 2_500)),
      () => [
        ['changed', 2_049, EVENTS - 1],
        ['missing', EVENTS, EVENTS],
      ],
    ],
    'a change added': [
      () => forged((all) => [...all.slice(0, 2_500), all[2_499]!, ...all.slice(2_500)]),
      () => [['changed', 2_049, EVENTS]],
    ],
    'two changes made one frame': [
      () => forged((all) => [...all.slice(0, 1_023), frameOf(1_024, 2), ...all.slice(1_025)]),
      () => [['changed', 1, 2_048]],
    ],
  };

  for (const [name, [forge, expected]] of Object.entries(FORGERIES)) {
    it(`names ${name}, with the heads of the folder and without them`, async () => {
      const disk = await forge();
      const found = await differences(disk);
      assert.deepEqual(shown(found), expected());
      await disk.remove(headsPath(FOLDER));
      const alone = await differences(disk);
      assert(alone.length > 0);
      for (const { from, to } of found.filter((one) => one.from <= KEPT))
        for (const id of [from, Math.min(to, KEPT)])
          assert(
            alone.some((one) => one.from <= id && id <= one.to),
            `event ${id}`,
          );
    });
  }

  it('proves a history to its end, also without the newest head of the folder where one was kept', async () => {
    assert.deepEqual(await differences(original), []);
    assert.deepEqual(await differences(original, { head: null }), []);
    const disk = original.copy();
    await signAt(disk, [1_024]);
    const { head } = record(await chainAt(disk, EVENTS), server);
    assert.deepEqual(await differences(disk, { head }), []);
  });

  it('proves what is left where retention has signed what it deletes, against a head from before it too', async () => {
    const disk = original.copy();
    await cutAt(disk, await chainAt(disk, blockEnd(oldest - 1)), server);
    await deleteOldest(disk);
    assert.deepEqual(await differences(disk), []);
    assert.deepEqual(await differences(disk, { head: record(await chainAt(original, 10), server).head }), []);
  });

  it('names what is damaged, and proves what lies before and behind it', async () => {
    const disk = original.copy();
    const segments = await listSegments({ fs: disk, folder: JOURNAL });
    const path = `${JOURNAL}/${segmentFileName(segments.findLast((id) => id <= 1_500)!)}`;
    const bytes = disk.bytesOf(path);
    bytes[bytes.length - 100]! ^= 1;
    disk.put(path, bytes);
    assert.deepEqual(shown(await differences(disk)), [['damaged', 1_025, 2_048]]);
  });

  it('believes no place that the file of heads gives, only what was signed', async () => {
    const disk = original.copy();
    const file = await HeadsFile.open(disk, FOLDER);
    const heads = await headsOf(disk, FOLDER);
    await disk.remove(headsPath(FOLDER));
    const other = await HeadsFile.open(disk, FOLDER);
    for (const one of heads)
      await other.append({ ...one, boundary: { segment: 1, offset: 99_999_999, chain: 7 } });
    await file.close();
    assert.deepEqual(await differences(disk), []);
  });
});
