import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CursorFile, ROWS_MAX } from '../../../src/addons/integrations/cursors.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const SECTOR_BYTES = 512;
const PLACE_BYTES = (1 + ROWS_MAX) * SECTOR_BYTES;
const START = { eventId: 0, failingSinceMs: null };
const PATH = '/data/integrations.cursors';

async function opened(disk: MemoryFileSystem) {
  await disk.makeFolder('/data');
  const file = new CursorFile(disk, '/data', PATH);
  return { file, ...(await file.load()) };
}

test('cursors are there again after the process died', async () => {
  const disk = new MemoryFileSystem();
  const { file, cursors, isWhole } = await opened(disk);
  assert.deepEqual([cursors.size, isWhole], [0, false]);
  await file.save(7, { eventId: 12, failingSinceMs: null });
  await file.save(9, { eventId: 2 ** 40, failingSinceMs: 1_700_000_000_000 });
  await file.save(7, { eventId: 13, failingSinceMs: null });
  const after = await opened(disk.crash());
  assert.equal(after.isWhole, true);
  assert.deepEqual(
    [...after.cursors],
    [
      [7, { eventId: 13, failingSinceMs: null }],
      [9, { eventId: 2 ** 40, failingSinceMs: 1_700_000_000_000 }],
    ],
  );
});

test('a forgotten cursor makes room for another', async () => {
  const disk = new MemoryFileSystem();
  const { file } = await opened(disk);
  await file.save(1, { eventId: 1, failingSinceMs: null });
  await file.save(2, { eventId: 2, failingSinceMs: null });
  await file.save(1, null);
  await file.save(3, { eventId: 3, failingSinceMs: null });
  await file.close();
  const read = await disk.open(PATH, 'read');
  assert.equal(await read.size(), SECTOR_BYTES + 2 * PLACE_BYTES);
  assert.deepEqual([...(await opened(disk)).cursors.keys()].toSorted(), [2, 3]);
});

test('after a power cut an integration has a cursor that it had at some time, and none that it never had', async () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const disk = new MemoryFileSystem();
    const { file } = await opened(disk);
    const random = seededRandom(seed);
    for (let eventId = 1; eventId <= 20; eventId += 1)
      await file.save(
        1 + (eventId % 3),
        { eventId, failingSinceMs: null },
        eventId % 2 === 0 ? row(eventId) : undefined,
      );
    const { cursors, isWhole } = await opened(disk.powerCut(seed % 2 === 0 ? 'reordered' : 'lost', random));
    assert(isWhole);
    for (const [id, { eventId }] of cursors) assert.equal(1 + (eventId % 3), id);
    assert.equal(cursors.size, 3);
  }
});

test('a damaged slot is told of, and the others are read', async () => {
  const disk = new MemoryFileSystem();
  const { file } = await opened(disk);
  for (const id of [1, 2, 3]) await file.save(id, { eventId: id, failingSinceMs: null });
  await file.close();
  const raw = await disk.open(PATH, 'write');
  await raw.write(Uint8Array.of(255), 0, 1, SECTOR_BYTES + PLACE_BYTES + 8);
  const { cursors, isWhole } = await opened(disk);
  assert.deepEqual([[...cursors.keys()], isWhole], [[1, 3], false]);
});

test('a file of something else is begun anew', async () => {
  const disk = new MemoryFileSystem();
  await disk.makeFolder('/data');
  const raw = await disk.open(PATH, 'create');
  await raw.write(Buffer.alloc(100, 'x'), 0, 100, 0);
  assert.deepEqual((await opened(disk)).cursors.size, 0);
  assert.equal((await opened(disk)).isWhole, true);
});

const row = (eventId: number, reason = '') =>
  ({ atMs: 1_700_000_000_000, state: 'failed', reason, eventId }) as const;

test('the last 100 deliveries of an integration are there again after the process died, newest first', async () => {
  const disk = new MemoryFileSystem();
  const { file } = await opened(disk);
  for (const id of [1, 2]) await file.save(id, START);
  for (let eventId = 1; eventId <= 60; eventId += 1)
    await file.save(1, { eventId, failingSinceMs: null }, row(eventId));
  await file.addRow(2, START, row(7, 'The receiver answered with status 500.'));
  const { file: second, cursors } = await opened(disk.crash());
  assert.deepEqual(
    cursors.get(1),
    { eventId: 60, failingSinceMs: null },
    'the cursor is that of the last one',
  );
  assert.equal((await second.rows(1)).length, 60);
  for (let eventId = 61; eventId <= 130; eventId += 1)
    await second.save(1, { eventId, failingSinceMs: null }, row(eventId));
  const rows = await second.rows(1);
  assert.deepEqual(
    rows.map(({ eventId }) => eventId),
    Array.from({ length: ROWS_MAX }, (_, at) => 130 - at),
  );
  assert.deepEqual(await second.rows(2), [{ ...row(7, 'The receiver answered with status 500.'), id: 1 }]);
});

test('the newest cursor counts, whether or not a delivery came with it', async () => {
  const disk = new MemoryFileSystem();
  const { file } = await opened(disk);
  for (const id of [1, 2]) await file.save(id, START);
  await file.save(1, { eventId: 5, failingSinceMs: null }, row(5));
  await file.save(1, { eventId: 3, failingSinceMs: null });
  await file.save(2, { eventId: 7, failingSinceMs: null });
  await file.addRow(2, { eventId: 7, failingSinceMs: 9 }, row(8));
  assert.deepEqual(
    [...(await opened(disk.crash())).cursors],
    [
      [1, { eventId: 3, failingSinceMs: null }],
      [2, { eventId: 7, failingSinceMs: 9 }],
    ],
  );
});

test('an integration in the place of another has none of its deliveries and no cursor of it, also under the same id', async () => {
  for (const next of [1, 2]) {
    const disk = new MemoryFileSystem();
    const { file } = await opened(disk);
    await file.save(1, START);
    await file.addRow(1, { eventId: 9, failingSinceMs: null }, row(1));
    await file.save(1, null);
    await file.addRow(1, START, row(2));
    assert.deepEqual(await file.rows(1), [], 'one that is gone gets no more');
    await file.save(next, START);
    assert.deepEqual(await file.rows(next), []);
    assert.deepEqual([...(await opened(disk.crash())).cursors], [[next, START]]);
  }
});

test('a reason that is too long for its place is cut, whatever is in it', async () => {
  const { file } = await opened(new MemoryFileSystem());
  await file.save(1, START);
  for (const character of ['x', '"', 'ß', '\0']) {
    await file.addRow(1, START, row(1, character.repeat(10_000)));
    const reason = (await file.rows(1))[0]?.reason ?? '';
    assert(reason.length > 30 && reason === character.repeat(reason.length));
  }
});
