/** Snapshots: what goes in comes out, any damage shows, and an interrupted one leaves the old ones in place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { Background, TURN_MS } from '../../../src/actors/turn.ts';
import { CONTENT_VERSION } from '../../../src/domain/state/upgrade.ts';
import { VALUES_MAX } from '../../../src/persistence/codec/message-pack.ts';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import {
  BLOCK_HEADER_BYTES,
  BLOCK_KINDS,
  encodeSnapshotHeader,
  sealBlock,
} from '../../../src/persistence/snapshots/snapshot-format.ts';
import { readSnapshot, verifySnapshotFile } from '../../../src/persistence/snapshots/snapshot-reader.ts';
import {
  type WriteSnapshotOptions,
  writeSnapshot,
} from '../../../src/persistence/snapshots/snapshot-writer.ts';
import { SNAPSHOTS } from '../../support/journal-fixture.ts';
import { ioError, MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const PATH = `${SNAPSHOTS}/00000000000000000007.snapshot`;

async function emptyDisk(): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(SNAPSHOTS);
  return fs;
}

const SECTIONS = [
  { name: 'projects', records: [{ id: 'default', name: 'Défaut' }] },
  {
    name: 'flags',
    records: Array.from({ length: 50 }, (_, index) => ({ name: `flag-${index}`, on: index % 2 === 0 })),
  },
  { name: 'empty', records: [] },
];

async function write(fs: MemoryFileSystem, options: Partial<WriteSnapshotOptions> = {}): Promise<void> {
  const durable = (): Promise<void> => Promise.resolve();
  const about = { id: 7, at: 1_234.5, chain: 0xfeedface };
  await writeSnapshot({ fs, folder: SNAPSHOTS, ...about, sections: SECTIONS, durable, ...options });
}

type Loaded = Record<string, unknown[]>;

async function read(fs: MemoryFileSystem, path = PATH): Promise<{ problem: string | null; loaded: Loaded }> {
  const loaded: Loaded = {};
  const onRecord = (section: string, record: unknown): void => {
    loaded[section] ??= [];
    loaded[section].push(record);
  };
  const { problem } = await readSnapshot({ fs, path, onRecord });
  return { problem, loaded };
}

test('a snapshot comes out as it went in, section by section, with its place in the journal', async () => {
  const fs = await emptyDisk();
  await write(fs);
  const { problem, loaded } = await read(fs);
  assert.equal(problem, null);
  assert.deepStrictEqual(loaded, { projects: SECTIONS[0]!.records, flags: SECTIONS[1]!.records });
  const verified = await verifySnapshotFile({ fs, path: PATH });
  const stamp = { id: 7, at: 1_234.5, chain: 0xfeedface };
  const header = { ...stamp, contentVersion: CONTENT_VERSION };
  assert.deepEqual(verified, { problem: null, header, records: 51, bytes: fs.bytesOf(PATH).length });
});

test('any records that the edge lets in come out deep-equal', async () => {
  const record = fc
    .jsonValue({ stringUnit: 'grapheme' })
    .filter((value) => !JSON.stringify(value).includes('__proto__'))
    .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 20 }), async (records) => {
      const fs = await emptyDisk();
      await write(fs, { sections: [{ name: 's', records }] });
      const { problem, loaded } = await read(fs);
      assert.equal(problem, null);
      assert.deepStrictEqual(loaded.s ?? [], records);
    }),
    { numRuns: 50 },
  );
});

test('records larger than a block, and more than fit into one, come out as they went in', async () => {
  const records = [
    'x'.repeat(1_000_000),
    ...Array.from({ length: 50_000 }, (_, index) => ({ index })),
    'end',
  ];
  const fs = await emptyDisk();
  await write(fs, { sections: [{ name: 's', records }] });
  assert.deepStrictEqual((await read(fs)).loaded.s, records);
});

test('a record that could not be read back fails the snapshot and leaves no file behind', async () => {
  const fs = await emptyDisk();
  const records = [JSON.parse('{"__proto__":1}') as unknown];
  await assert.rejects(
    write(fs, { sections: [{ name: 's', records }] }),
    /section "s" could not be read back/,
  );
  assert.deepEqual(fs.namesIn(SNAPSHOTS), []);
});

test('every flipped bit of a snapshot shows', async () => {
  const fs = await emptyDisk();
  await write(fs, {
    sections: [
      { name: 's', records: [1, 'two', { three: 3 }] },
      { name: 't', records: [] },
    ],
  });
  const bytes = fs.bytesOf(PATH);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    fs.put(PATH, flipped);
    assert.notEqual((await verifySnapshotFile({ fs, path: PATH })).problem, null, `bit ${bit}`);
  }
});

test('a snapshot gets its name only when every record in it decodes to what was written', async () => {
  // UTF-8 has no bytes for half of a surrogate pair, so it comes back as another character.
  const lost = '\ud800';
  const sections = [
    { name: 's', records: [{ title: lost }] },
    { name: 's', records: [], batches: [{ parts: [{}], records: [{ title: lost }] }] },
  ];
  for (const section of sections) {
    const fs = await emptyDisk();
    await assert.rejects(write(fs, { sections: [section] }), /decode to/);
    assert.deepEqual(fs.namesIn(SNAPSHOTS), []);
  }
});

test('10,000 random flips in a larger snapshot show, header bits among them', async () => {
  const seed = 7_001;
  const random = seededRandom(seed);
  const fs = await emptyDisk();
  await write(fs);
  const bytes = fs.bytesOf(PATH);
  for (let run = 0; run < 10_000; run += 1) {
    const bit = random.below(bytes.length * 8);
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    fs.put(PATH, flipped);
    assert.notEqual((await verifySnapshotFile({ fs, path: PATH })).problem, null, `seed ${seed}, bit ${bit}`);
  }
});

test('a snapshot cut at any length shows, and so do bytes behind its end', async () => {
  const fs = await emptyDisk();
  await write(fs);
  const bytes = fs.bytesOf(PATH);
  for (let length = 0; length < bytes.length; length += 1) {
    fs.put(PATH, bytes.subarray(0, length));
    assert.notEqual((await verifySnapshotFile({ fs, path: PATH })).problem, null, `cut to ${length}`);
  }
  fs.put(PATH, Buffer.concat([bytes, Buffer.alloc(1)]));
  assert.equal((await verifySnapshotFile({ fs, path: PATH })).problem, 'bytes after the end');
});

test('blocks dropped, doubled or swapped show, though the checksum of each holds', async () => {
  const fs = await emptyDisk();
  await write(fs);
  const bytes = fs.bytesOf(PATH);
  const blocks: Buffer[] = [];
  for (let at = 64; at < bytes.length; ) {
    const end = at + 16 + bytes.readUInt32LE(at);
    blocks.push(bytes.subarray(at, end));
    at = end;
  }
  assert.equal(blocks.length, 9);
  for (let k = 0; k < blocks.length; k += 1) {
    const changes = [blocks.toSpliced(k, 1), blocks.toSpliced(k, 0, blocks[k]!)];
    if (k > 0) changes.push(blocks.toSpliced(k - 1, 2, blocks[k]!, blocks[k - 1]!));
    for (const changed of changes) {
      fs.put(PATH, Buffer.concat([bytes.subarray(0, 64), ...changed]));
      assert.notEqual((await verifySnapshotFile({ fs, path: PATH })).problem, null, `block ${k}`);
    }
  }
});

test('a snapshot of a newer format is refused by name', async () => {
  const fs = await emptyDisk();
  await write(fs);
  const bytes = fs.bytesOf(PATH);
  bytes.writeUInt32LE(4, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
  fs.put(PATH, bytes);
  await assert.rejects(verifySnapshotFile({ fs, path: PATH }), (error) => {
    assert(error instanceof DataFolderError);
    assert.match(error.message, /format 4, this server knows 3/);
    return true;
  });
});

test('a snapshot gets its name only once the event it ends with is on disk', async () => {
  const fs = await emptyDisk();
  const seen: (readonly string[])[] = [];
  await write(fs, {
    durable: () => {
      seen.push(fs.namesIn(SNAPSHOTS));
      return Promise.resolve();
    },
  });
  assert.deepEqual(seen, [['00000000000000000007.snapshot.tmp']]);
  assert.deepEqual(fs.namesIn(SNAPSHOTS), ['00000000000000000007.snapshot']);
  const refused = await emptyDisk();
  const durable = (): Promise<void> => Promise.reject(new Error('the journal has failed'));
  await assert.rejects(write(refused, { durable }), /the journal has failed/);
  assert(!(await refused.exists(PATH)));
});

test('the three newest snapshots are kept', async () => {
  const fs = await emptyDisk();
  for (const id of [1, 2, 3, 4, 5]) await write(fs, { id });
  const names = [3, 4, 5].map((id) => `0000000000000000000${id}.snapshot`);
  assert.deepEqual(fs.namesIn(SNAPSHOTS), names);
});

test('a snapshot that cannot be read back is set aside, and costs none of the older ones', async () => {
  const fs = await emptyDisk();
  for (const id of [1, 2, 3]) await write(fs, { id });
  fs.beforeCall = ({ kind, path }) => {
    if (kind !== 'syncFolder' || path !== SNAPSHOTS) return;
    const bytes = fs.bytesOf(PATH);
    bytes[100]! ^= 1;
    fs.put(PATH, bytes);
  };
  await assert.rejects(write(fs), /could not be read back/);
  const older = [1, 2, 3].map((id) => `0000000000000000000${id}.snapshot`);
  assert.deepEqual(fs.namesIn(SNAPSHOTS), [...older, '00000000000000000007.snapshot.damaged']);
});

test('a snapshot interrupted at any call leaves the old ones good, and the next one succeeds', async () => {
  const before = await emptyDisk();
  for (const id of [1, 2, 3]) await write(before, { id });
  const counting = before.copy();
  await write(counting);
  const calls = counting.calls;
  assert(calls > 20);
  for (let n = 1; n <= calls; n += 1) {
    const fs = before.copy();
    fs.beforeCall = ({ number }) => {
      if (number === n) throw ioError('EIO', `call ${n}`);
    };
    await write(fs).catch((error: Error) => assert.match(error.message, /EIO|the disk cannot read it/));
    fs.beforeCall = null;
    const good = fs.namesIn(SNAPSHOTS).filter((name) => name.endsWith('.snapshot'));
    assert(good.length >= 3, `call ${n}`);
    for (const name of good) {
      const { problem } = await verifySnapshotFile({ fs, path: `${SNAPSHOTS}/${name}` });
      assert.equal(problem, null, `call ${n}, ${name}`);
    }
    await write(fs, { id: 8 });
    assert(await fs.exists(`${SNAPSHOTS}/00000000000000000008.snapshot`), `call ${n}`);
  }
});

test('the power cut at any call of a snapshot leaves three whole ones or more', async () => {
  const seed = 8_002;
  const random = seededRandom(seed);
  const before = await emptyDisk();
  for (const id of [1, 2, 3]) await write(before, { id });
  const counting = before.copy();
  await write(counting);
  for (let n = 1; n <= counting.calls; n += 1) {
    const fs = before.copy();
    let after: MemoryFileSystem | null = null;
    fs.beforeCall = ({ number }) => {
      if (number === n) after = fs.powerCut('any', random);
    };
    await assert.rejects(write(fs), /the power is off/);
    assert(after !== null);
    const disk: MemoryFileSystem = after;
    const names = disk.namesIn(SNAPSHOTS).filter((name) => name.endsWith('.snapshot'));
    assert(names.length >= 3, `seed ${seed}, call ${n}`);
    for (const name of names) {
      const { problem } = await verifySnapshotFile({ fs: disk, path: `${SNAPSHOTS}/${name}` });
      assert.equal(problem, null, `seed ${seed}, call ${n}, ${name}`);
    }
  }
});

test('writing rests whenever a turn is used up', async () => {
  const fs = await emptyDisk();
  let now = 0;
  let rests = 0;
  let longest = 0;
  let startedAt = 0;
  const records = (function* (): Generator<number> {
    for (let index = 0; index < 1_000; index += 1) {
      now += 0.1;
      yield index;
    }
  })();
  const background = new Background({
    monotonicMs: () => now,
    yieldToEventLoop: () => Promise.resolve(),
    pause: async () => {
      rests += 1;
      longest = Math.max(longest, now - startedAt);
      startedAt = now;
      return 1;
    },
  });
  background.begin();
  await write(fs, { sections: [{ name: 's', records }], rest: () => background.rest() });
  assert(rests >= 14, `${rests} rests in 100 ms of work`);
  assert(longest <= TURN_MS + 1.7, `the longest turn took ${longest} ms`);
});

/** A snapshot with one block of records, every checksum right, whatever the records are. */
function forgedSnapshot(payload: Buffer, count: number, kind: number = BLOCK_KINDS.records): Buffer {
  const parts = [encodeSnapshotHeader({ id: 7, at: 1, chain: 1 })];
  const add = (blockKind: number, content: Buffer, number: number): void => {
    const block = Buffer.concat([Buffer.alloc(BLOCK_HEADER_BYTES), content]);
    sealBlock(block, blockKind, number);
    parts.push(block);
  };
  add(BLOCK_KINDS.sectionBegins, Buffer.from('s'), 0);
  add(kind, payload, count);
  add(BLOCK_KINDS.sectionEnds, Buffer.alloc(0), count);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(Buffer.concat(parts)));
  add(BLOCK_KINDS.end, checksum, 1);
  return Buffer.concat(parts);
}

test('a snapshot whose checksums are right and whose records cannot be decoded is not a good one', async () => {
  const fs = await emptyDisk();
  const forged = async (payload: Buffer, count: number): Promise<string | null> => {
    fs.put(PATH, forgedSnapshot(payload, count));
    return (await verifySnapshotFile({ fs, path: PATH })).problem;
  };
  assert.equal(await forged(Buffer.from([0xdd, 0, 0, 0, 1, 1]), 1), null);
  assert.equal(await forged(Buffer.from([0xdd, 0, 0, 0, 1, 1]), 2), 'a wrong count of records');
  assert.match((await forged(Buffer.from([0xdd, 0, 0, 0, 1, 0xc1]), 1)) ?? '', /not a kind of value/);
});

test('a block with an outline whose checksums are right and whose parts do not fit is not a good one', async () => {
  const fs = await emptyDisk();
  const forged = async (payload: readonly number[], count: number): Promise<string | null> => {
    fs.put(PATH, forgedSnapshot(Buffer.from(payload), count, BLOCK_KINDS.outlined));
    return (await verifySnapshotFile({ fs, path: PATH })).problem;
  };
  const outline = [1, 0, 0, 0, 0xc0];
  assert.equal(await forged([...outline, 1, 0, 0, 0, 7], 1), null);
  const misfit = 'a record of section "s" does not fit: the ends of records do not fit their block';
  assert.equal(await forged([...outline, 2, 0, 0, 0, 7], 1), misfit, 'an end behind the block');
  assert.equal(await forged([...outline, 1, 0, 0, 0, 7, 7], 1), misfit, 'bytes behind the last record');
  assert.equal(await forged([...outline, 1, 0, 0, 0, 1, 0, 0, 0, 7], 2), misfit, 'a record of no bytes');
  assert.equal(await forged([...outline, 1, 0, 0, 0, 7], 2), misfit, 'fewer records than counted');
  assert.equal(await forged([9, 0, 0, 0, 0xc0], 1), misfit, 'an outline behind the block');
  assert.match((await forged([...outline, 1, 0, 0, 0, 0xc1], 1)) ?? '', /not a kind of value/);
});

test('records that the reader would refuse in one block are written in two', async () => {
  const fs = await emptyDisk();
  const half = Array.from({ length: VALUES_MAX / 2 }, () => 0);
  const sections = [{ name: 's', records: ['small', half, half, 'small'] }];
  await write(fs, { sections });
  const { problem, loaded } = await read(fs);
  assert.equal(problem, null);
  assert.deepEqual(
    loaded.s?.map((record) => (Array.isArray(record) ? record.length : record)),
    ['small', half.length, half.length, 'small'],
  );
});
