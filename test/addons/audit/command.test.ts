/** An auditor with the public key and one signed head: no forgery of history passes, though all checksums are made anew. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { HeadsFile, headsPath } from '../../../src/addons/audit/heads-file.ts';
import { type Head, HeadSigner, PublicKey } from '../../../src/addons/audit/signed-head.ts';
import { recordOldest } from '../../../src/operations/copy-folder.ts';
import { dataFolder } from '../../../src/persistence/disk/data-folder.ts';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { forge, type Signed } from '../../support/forged-folder.ts';
import {
  copyOf,
  fileAt,
  flagstaff,
  outputOf,
  pastFolder,
  segmentsIn,
  verifyAlone,
} from '../../support/operator.ts';
import { serverFor, temporaryFolder } from '../../support/server.ts';
import { headsOf } from './audit-fixture.ts';

/** Changes the frame at `index`, of those that a person made. */
const changed =
  (index: number, change: (frame: Signed) => Partial<Signed>) =>
  (frames: Signed[]): readonly Signed[] =>
    frames.map((frame, at) => (at === index ? { ...frame, ...change(frame) } : frame));

const keyOf = async (folder: string): Promise<string> =>
  (await flagstaff(['audit', 'key', '-d', folder])).out;

const byAnother = changed(12, () => ({ by: 'somebody-else', userId: 99 }));

describe('flagstaff audit', () => {
  let folder: string;
  let key: string;
  /** The head that the auditor has kept, in a file. */
  let head: string;
  let events: number;

  before(async () => {
    ({ folder } = await pastFolder());
    key = await keyOf(folder);
    const newest = (await headsOf(realFileSystem, folder)).at(-1);
    assert(newest !== undefined, 'a stopped server has signed its history');
    events = newest.head.lastId;
    head = join(temporaryFolder(), 'kept-head');
    writeFileSync(head, newest.note);
  });

  const verify = (of: string) =>
    flagstaff(['audit', 'verify', '--json', '-d', of, '--key', key, '--head', head]);

  it('calls a history what was signed, to its end', async () => {
    const { code, json } = await verify(folder);
    assert.equal(code, 0);
    const { proved, differences, signed, firstId, lastId } = json;
    assert.deepEqual(
      { proved, differences, firstId, lastId },
      { proved: true, differences: [], firstId: 1, lastId: events },
    );
    assert.equal(signed.lastId, events);
    assert.match((await flagstaff(['audit', 'verify', '-d', folder])).out, /are what was signed at/);
  });

  it('finds another author, which no checksum shows, with the key and the head alone', async () => {
    const forged = await forge(folder, byAnother);
    assert.deepEqual((await outputOf(['verify', '-d', forged])).damages, [], 'the checksums are right');
    for (const hasHeads of [true, false]) {
      if (!hasHeads) rmSync(headsPath(forged));
      const { code, json } = await verify(forged);
      assert.equal(code, 65, `${hasHeads ? 'with' : 'without'} the heads of the folder`);
      assert(!json.proved && json.differences.length > 0);
    }
  });

  it('finds the folder of last week in place of that of today, and goes on to prove what a new head stands for', async (t) => {
    const today = copyOf(folder);
    const server = await serverFor(t, { folder: today });
    await server.call('POST', '/projects/default/features', { name: 'later' });
    await server.stop();
    const kept = (await headsOf(realFileSystem, today)).at(-1)!.note;
    assert.equal((await verify(today)).code, 0, 'an older head proves what it stood for');
    const file = join(temporaryFolder(), 'head');
    writeFileSync(file, JSON.stringify({ health: 'GOOD', head: { note: kept } }));
    const args = ['audit', 'verify', '--json', '--key', key, '--head', file];
    assert.equal((await flagstaff([...args, '-d', today])).code, 0);
    const { code, json } = await flagstaff([...args, '-d', folder]);
    assert.equal(code, 65);
    assert.match(json.differences[0].what, /missing: the journal ends with event/);
  });

  it('says that nothing proves what applications report about use, so that nobody takes it for history', async () => {
    const forged = copyOf(folder);
    const usage = join(forged, 'usage');
    mkdirSync(usage, { recursive: true });
    writeFileSync(join(usage, 'forged.usage'), 'of whatever content');
    assert.equal((await verify(forged)).code, 0, 'the journal is what was signed');
    const { json } = await flagstaff(['verify', '--deep', '--json', '-d', forged]);
    assert.match(json.notes.at(-1), /no events are behind it with which it could be compared/);
  });

  it('finds that the oldest events were deleted, where no signed head says so, and so does the next start', async (t) => {
    const cut = copyOf(folder);
    for (const file of segmentsIn(cut).slice(0, 2)) rmSync(file);
    const oldest = Number(fileAt(segmentsIn(cut), 0).slice(-28, -8));
    await recordOldest(realFileSystem, dataFolder(cut), oldest);
    assert.equal((await flagstaff(['verify', '-d', cut])).code, 0, 'the checksums are right');
    const { code, json } = await verify(cut);
    assert.deepEqual([code, json.proved], [65, false]);
    const [{ from, to, kind }] = json.differences;
    assert.deepEqual([kind, from, to], ['missing', 1, oldest - 1]);
    const server = await serverFor(t, { folder: cut });
    await server.server.store.historyCheck.pass();
    const { warning } = (await (await fetch(`${server.origin}/health`)).json()) as { warning: string };
    assert.match(warning, new RegExp(`the events from 1 to ${oldest - 1} are missing`));
  });

  it('who has the private key too cannot change what a kept head stands for', async (t) => {
    const forged = await forge(folder, byAnother);
    rmSync(headsPath(forged));
    const server = await serverFor(t, { folder: forged });
    await server.stop();
    assert.equal(
      (await flagstaff(['audit', 'verify', '-d', forged, '--key', key])).code,
      0,
      'it is signed anew',
    );
    assert.equal((await verify(forged)).code, 65);
  });

  it('refuses a key, a head and a folder that prove nothing, each in words', async () => {
    const { code, err } = await flagstaff(['audit', 'verify', '-d', folder, '--key', 'nonsense']);
    assert.deepEqual([code, /--key takes a key/.test(err)], [64, true]);
    for (const option of ['--key', '--head']) {
      const of = await flagstaff(['audit', 'verify', option, folder, '-d', folder]);
      assert.deepEqual(
        [of.code, of.err.includes(`${option} takes a file, and ${folder} is a folder`)],
        [64, true],
      );
    }
    const other = join(temporaryFolder(), 'head');
    writeFileSync(other, readFileSync(head, 'utf8').replace('event ', 'event 1'));
    const wrong = await flagstaff(['audit', 'verify', '-d', folder, '--key', key, '--head', other]);
    assert.deepEqual([wrong.code, /None of the keys signed this head/.test(wrong.err)], [65, true]);
    const unsigned = copyOf(folder);
    rmSync(headsPath(unsigned));
    const nothing = await flagstaff(['audit', 'verify', '-d', unsigned, '--key', key]);
    assert.deepEqual([nothing.code, /Nothing is proved/.test(nothing.err)], [65, true]);
  });

  it('a new key signs all that the old one has signed, and what follows; the old one counts for a kept head', async (t) => {
    const rotated = copyOf(folder);
    const { code, out: newKey } = await flagstaff(['audit', 'replace-key', '-d', rotated]);
    assert.equal(code, 0);
    assert.equal(newKey, await keyOf(rotated));
    const server = await serverFor(t, { folder: rotated });
    await server.call('POST', '/projects/default/features', { name: 'under-the-new-key' });
    const health = await fetch(`${server.origin}/health`);
    const { head: told } = (await health.json()) as { readonly head: { readonly key: string } };
    assert.equal(told.key, newKey, '/health tells the new key');
    await server.stop();
    const newest = (await headsOf(realFileSystem, rotated)).at(-1)!;
    assert(newest.head.lastId > events && PublicKey.parse(newKey)?.signed(newest.note));
    const file = join(temporaryFolder(), 'newest');
    writeFileSync(file, newest.note);
    for (const [kept, ...older] of [[file], [head, key]] as const) {
      const args = ['audit', 'verify', '--json', '-d', rotated, '--head', kept!, '--key', newKey, ...older];
      const { json } = await flagstaff(args);
      assert.deepEqual([json.proved, json.differences, json.signed.lastId], [true, [], newest.head.lastId]);
      assert.equal((await verifyAlone([rotated, newKey, kept!, ...older])).code, 0);
    }
    const alone = await flagstaff(['audit', 'verify', '--json', '-d', rotated, '--key', key]);
    assert.deepEqual([alone.code, alone.json.differences[0].kind], [65, 'unsigned']);
  });

  /** Signs the newest head as no server of ours would. */
  async function signNewest(of: string, sign: (head: Head) => string): Promise<void> {
    const heads = await HeadsFile.open(realFileSystem, of);
    await heads.append({ ...heads.newest!, note: sign(heads.newest!.head) });
    await heads.close();
  }

  it('a key that was replaced signs nothing that follows, whoever has found it', async (t) => {
    const rotated = copyOf(folder);
    const stolen = readFileSync(join(rotated, 'history.key'));
    const { out: newKey } = await flagstaff(['audit', 'replace-key', '-d', rotated]);
    const server = await serverFor(t, { folder: rotated });
    await server.call('POST', '/projects/default/features', { name: 'under-the-stolen-key' });
    await server.stop();
    await signNewest(rotated, (head) => new HeadSigner(createPrivateKey(stolen)).sign(head));
    for (const more of [[], [key, '--head', head]]) {
      const { code, json } = await flagstaff([
        'audit',
        'verify',
        '--json',
        '-d',
        rotated,
        '--key',
        newKey,
        ...more,
      ]);
      assert.equal(code, 65);
      assert.match(json.differences[0].what, /the key did not sign/);
    }
    const alone = await verifyAlone([rotated, newKey]);
    assert.deepEqual([alone.code, /not signed by the key/.test(alone.said)], [1, true]);
  });

  it('is not replaced where it has signed nothing here, nor while a server runs', async (t) => {
    const foreign = copyOf(folder);
    rmSync(join(foreign, 'history.key'));
    const { code, err } = await flagstaff(['audit', 'replace-key', '-d', foreign]);
    assert.deepEqual([code, /has not signed the newest head/.test(err)], [66, true]);
    assert(!existsSync(join(foreign, 'history.key')), 'nothing was changed');
    await serverFor(t, { folder: foreign });
    assert.notEqual((await flagstaff(['audit', 'replace-key', '-d', foreign])).code, 0);
  });

  it('keeps the key for the server alone, and out of backups', async () => {
    assert(existsSync(join(folder, 'history.key')));
    const to = join(temporaryFolder(), 'backup');
    await outputOf(['backup', '-d', folder, '--to', to]);
    assert(!existsSync(join(to, 'history.key')));
    assert.equal((await verify(to)).code, 0, 'a backup has the history that was signed');
    assert.equal(fileAt(segmentsIn(to), 0).length > 0, true);
  });
});
