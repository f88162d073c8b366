/** Mending from a copy: exactly what is lost is taken, every change that was acknowledged is kept, and nothing foreign gets in. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { before, describe, it } from 'node:test';
import { repair } from '../../../src/addons/repair/repair.ts';
import { waysToRepair } from '../../../src/addons/repair/ways.ts';
import { archivedHistoryName, archivedSegmentName } from '../../../src/addons/replication/archive-index.ts';
import { ArchiveDamageError } from '../../../src/addons/replication/archived-frames.ts';
import type { FileArchive } from '../../../src/addons/replication/file-archive.ts';
import { JournalGatherer } from '../../../src/addons/replication/journal-gatherer.ts';
import { archiveSource } from '../../../src/addons/replication/mend.ts';
import { verifyFolder } from '../../../src/operations/verify-folder.ts';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import type { FrameSource } from '../../../src/persistence/journal/mended-segment.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import { assertMended, mendSingleDamages, type Whole, wholeFolder } from '../../faults/single-damages.ts';
import { forge } from '../../support/forged-folder.ts';
import { freePort } from '../../support/free-port.ts';
import {
  contentOf,
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  outputOf,
  pastFolder,
  segmentsIn,
  snapshotsIn,
} from '../../support/operator.ts';
import { serverFor, startTestServer } from '../../support/server.ts';
import { headsOf } from '../audit/audit-fixture.ts';
import { MemoryArchive } from '../replication/memory-archive.ts';

/** The archive of a leader with this folder: files that are cut otherwise. */
async function archiveOf(folder: string): Promise<FileArchive> {
  const archive = new MemoryArchive((_delayMs, run) => {
    const due = setImmediate(run);
    return () => clearImmediate(due);
  }).connect();
  await archive.put(archivedHistoryName('cd'.repeat(16)), new Uint8Array());
  await archiveInto(archive, folder);
  return archive;
}

/** Returns the names of the files. */
async function archiveInto(
  archive: FileArchive,
  folder: string,
  fileBytes = 500,
): Promise<readonly string[]> {
  const source = { fs: realFileSystem, folder: join(folder, 'journal') };
  const gatherer = await JournalGatherer.at(source, fileBytes, { id: 0, chain: 0 });
  assert(gatherer !== null);
  const { lastGoodEventId: lastId } = await outputOf(['verify', '-d', folder]);
  const names: string[] = [];
  for (let file = await gatherer.next(lastId); file !== null; file = await gatherer.next(lastId)) {
    names.push(archivedSegmentName(file));
    await archive.put(archivedSegmentName(file), file.content);
  }
  return names;
}

/** Flips a byte of a file: of its first half, or of its last frame. */
async function damageIn(archive: FileArchive, name: string, half: 'first' | 'second'): Promise<void> {
  const bytes = Buffer.from((await archive.get(name))!);
  bytes[half === 'first' ? SEGMENT_HEADER_BYTES + 40 : bytes.length - 10]! ^= 1;
  await archive.put(name, bytes);
}

/** A server that takes connections and answers no request, as one whose cluster has no leader. */
async function leaderlessNats(): Promise<Server> {
  const info = { server_id: 'test', version: '2.10.0', proto: 1, headers: true, max_payload: 2 ** 20 };
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => {
      if (String(data).includes('PING')) socket.write('PONG\r\n');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function mendWith(folder: string, copy: FrameSource): Promise<void> {
  const verified = await verifyFolder({ fs: realFileSystem, folder });
  const way = waysToRepair(verified).whole;
  const none = { historyFiles: [], provers: [] };
  await repair({ fs: realFileSystem, folder, verified, way, copy, ...none, asideName: 'damaged-then' });
}

describe('flagstaff repair --from', () => {
  let whole: Whole;
  before(async () => {
    whole = await wholeFolder((await pastFolder()).folder);
  });

  it('loses no event, whatever single damage a copy is at hand for', async () => {
    const { harmless, eventsTaken, ...kinds } = await mendSingleDamages(whole, { first: 1, count: 16 });
    assert(
      Object.values(kinds).every((count) => count > 0),
      'damage of every kind occurred',
    );
    assert(eventsTaken > harmless, 'events were lost before they were taken from the copy');
  });

  it('takes from an old backup what is lost, and keeps what came after the backup', async (t) => {
    const folder = copyOf(whole.folder);
    const server = await serverFor(t, { folder });
    await server.call('POST', '/projects/default/features', { name: 'after-the-backup' });
    await server.stop();
    const { deep: all } = await outputOf(['verify', '--deep', '-d', folder]);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    const shown = await flagstaff(['repair', '--dry-run', '-d', folder]);
    assert.match(shown.out, /repair --from <copy>: everything, if the copy has/);
    const { plan } = await outputOf(['repair', '--from', whole.folder, '-d', folder]);
    assert.equal(plan.taken.length, 1);
    assert.equal(plan.taken[0].from, plan.taken[0].to, 'one frame was damaged, and one is taken');
    const { deep, sound } = await outputOf(['verify', '--deep', '-d', folder]);
    assert.deepEqual([sound, deep], [true, all]);
    assert.equal((await headsOf(realFileSystem, folder)).at(-1)?.head.lastId, deep.eventId);
    assert.equal((await outputOf(['audit', 'verify', '-d', folder])).proved, true);
  });

  it('takes what is lost from a copy whose files are cut otherwise, as those of another node are', async () => {
    const other = await forge(whole.folder, (frames) => frames, 700);
    assert(segmentsIn(other).length > segmentsIn(whole.folder).length);
    const folder = copyOf(whole.folder);
    rmSync(fileAt(segmentsIn(folder), 1));
    await outputOf(['repair', '--from', other, '-d', folder]);
    await assertMended(folder, whole, 'from other files');
  });

  it('takes what is lost from the archive of a cluster, and from none of another history', async () => {
    const archive = await archiveOf(whole.folder);
    const copy = archiveSource(archive, null);
    for (let at = 0; at < segmentsIn(whole.folder).length - 1; at += 1) {
      const folder = copyOf(whole.folder);
      rmSync(fileAt(segmentsIn(folder), at));
      await mendWith(folder, copy);
      await assertMended(folder, whole, `file ${at}`);
    }
    const folder = copyOf(whole.folder);
    rmSync(fileAt(segmentsIn(folder), 1));
    for (const [from, problem] of [
      [archiveSource(archive, 'ab'.repeat(16)), /does not have/],
      [
        archiveSource(await archiveOf((await pastFolder()).folder), null),
        /belongs to another history|not what was signed/,
      ],
    ] as const)
      await assert.rejects(mendWith(folder, from), problem);
    const { code, err } = await flagstaff(['repair', '--from', 'archive', '-d', folder]);
    assert.deepEqual([code, /needs the settings of the cluster/.test(err)], [64, true]);
  });

  it('takes what is whole from where several leaders archived the same, and says what of it is not', async () => {
    const archive = await archiveOf(whole.folder);
    const names = await archiveInto(archive, whole.folder, 500);
    const others = await archiveInto(archive, whole.folder, 2_000);
    assert(
      others.every((name) => !names.includes(name)),
      'they are cut otherwise',
    );
    const copy = archiveSource(archive, null);
    const mended = async (): Promise<void> => {
      const folder = copyOf(whole.folder);
      rmSync(fileAt(segmentsIn(folder), 1));
      await mendWith(folder, copy);
      await assertMended(folder, whole, 'from whole files');
    };
    for (const name of names) await damageIn(archive, name, 'first');
    await mended();
    await archiveInto(archive, whole.folder, 500);
    for (const name of others) await damageIn(archive, name, 'second');
    await mended();
    for (const name of names.slice(0, -1)) await damageIn(archive, name, 'first');
    await assert.rejects(mended(), (error: Error) => {
      const tried = [...error.message.matchAll(/the archived file (\S+) is damaged/g)].map(
        ([, name]) => name!,
      );
      assert.match(error.message, /^no archived file has event \d+ whole: /);
      assert.deepEqual(
        [
          tried.length,
          tried.some((name) => names.includes(name)),
          tried.some((name) => others.includes(name)),
        ],
        [2, true, true],
        error.message,
      );
      return error instanceof ArchiveDamageError;
    });
  });

  it('ends with 69 after a bounded time where no NATS server can be reached, or they have no leader', async (t) => {
    const nats = await leaderlessNats();
    t.after(() => nats.close());
    // The bound is for servers that were just started.
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => 100 * now());
    const { port } = nats.address() as AddressInfo;
    for (const [at, problem] of [
      [port, /do not respond, or have no leader yet/],
      [await freePort(), /No server of REPLICATION_URL can be reached/],
    ] as const) {
      const folder = copyOf(whole.folder);
      rmSync(fileAt(segmentsIn(folder), 1));
      const before = contentOf(join(folder, 'journal'));
      const env = { REPLICATION_URL: `nats://127.0.0.1:${at}`, REPLICATION_CLUSTER: 'test' };
      const { code, err } = await flagstaff(['repair', '--from', 'archive', '-d', folder], { env });
      assert.equal(code, 69, err);
      assert.match(err, problem);
      assert.match(err, /has an archive is not known\. Nothing was changed/);
      assert.deepEqual(contentOf(join(folder, 'journal')), before);
    }
  });

  it('says what it would take, and changes nothing, with --dry-run', async () => {
    const folder = copyOf(whole.folder);
    rmSync(fileAt(segmentsIn(folder), 1));
    const content = contentOf(folder);
    const { plan, repaired } = await outputOf(['repair', '--dry-run', '--from', whole.folder, '-d', folder]);
    assert.equal(repaired, false);
    assert(plan.taken[0].to > plan.taken[0].from, 'a missing file held several events');
    const lock = join(folder, 'flagstaff.lock');
    const rest = (all: ReadonlyMap<string, string>) => [...all].filter(([path]) => path !== lock);
    assert.deepEqual(rest(contentOf(folder)), rest(content));
  });

  it('refuses a copy that lacks what is lost, and one of another history', async () => {
    const folder = copyOf(whole.folder);
    const last = fileAt(segmentsIn(folder));
    truncateSync(last, statSync(last).size - 10);
    const short = copyOf(folder);
    const other = (await pastFolder()).folder;
    for (const [copy, problem] of [
      [short, /does not have event|does not have the|cut off|damaged|had been on disk/],
      [other, /belongs to another history|does not fit|does not follow/],
    ] as const) {
      const lock = join(folder, 'flagstaff.lock');
      const content = () => [...contentOf(folder)].filter(([path]) => path !== lock);
      const before = content();
      const { code, err } = await flagstaff(['repair', '--from', copy, '-d', folder]);
      assert.equal(code, 65, err);
      assert.match(err, problem);
      assert.deepEqual(content(), before, 'nothing was changed, and nothing is left behind');
    }
  });

  it('refuses a copy whose events are not those that were signed, though every checksum fits', async () => {
    // As if the copy had been forged so well that even CRC-32 holds: to the heads here, its true events are not what was signed.
    const folder = copyOf(whole.folder);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    const heads = join(folder, 'history.heads');
    const key = join(folder, 'history.key');
    const other = (await pastFolder()).folder;
    writeFileSync(heads, readFileSync(join(other, 'history.heads')));
    writeFileSync(key, readFileSync(join(other, 'history.key')));
    const { code, err } = await flagstaff(['repair', '--from', whole.folder, '-d', folder]);
    assert.equal(code, 65, err);
    assert.match(err, /not what was signed|missing/);
  });

  it('mends by checksums where another key signed the heads that are here, as after a change of the key', async (t) => {
    const folder = copyOf(whole.folder);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(join(folder, 'history.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await outputOf(['repair', '--from', whole.folder, '-d', folder]);
    const server = await serverFor(t, { folder });
    await server.stop();
    await assertMended(folder, whole, 'another key');
  });

  it('leaves out a snapshot of another history', async () => {
    const folder = copyOf(whole.folder);
    const own = fileAt(snapshotsIn(folder));
    const others = (await pastFolder()).folder;
    const foreign = snapshotsIn(others).find((path) => basename(path) === basename(own));
    assert(foreign !== undefined, 'both folders have a snapshot of this event');
    copyFileSync(foreign, own);
    const { err } = await flagstaff(['repair', '--dry-run', '--from', whole.folder, '-d', folder]);
    assert.equal(err, '');
    await outputOf(['repair', '--from', whole.folder, '-d', folder]);
    await assertMended(folder, whole, 'without the snapshot');
  });

  it('takes a whole journal that is missing', async () => {
    const folder = copyOf(whole.folder);
    for (const path of segmentsIn(folder)) rmSync(path);
    await assert.rejects(
      startTestServer({ folder }),
      /journal is missing.*"flagstaff repair --from <backup>"/,
    );
    await outputOf(['repair', '--from', whole.folder, '-d', folder]);
    await assertMended(folder, whole, 'all of it');
  });

  it('mends a folder whose snapshots alone are damaged, too', async () => {
    const folder = copyOf(whole.folder);
    for (const snapshot of snapshotsIn(folder)) flipByte(snapshot, 100);
    await outputOf(['repair', '--from', whole.folder, '-d', folder]);
    await assertMended(folder, whole, 'snapshots');
  });
});
