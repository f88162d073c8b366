/** An auditor with the public key and one signed head: no forgery of history passes, though all checksums are made anew. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { recordOldest } from '../../src/operations/copy-folder.ts';
import { dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { HeadsFile, headsPath } from '../../src/persistence/proof/heads-file.ts';
import { type Head, HeadSigner, PublicKey } from '../../src/persistence/proof/signed-head.ts';
import { forge, framesOf, type Signed } from '../support/forged-folder.ts';
import { headsOf } from '../support/journal-fixture.ts';
import { copyOf, fileAt, flagstaff, outputOf, pastFolder, segmentsIn } from '../support/operator.ts';
import { ROOT_FOLDER, startTestServer, temporaryFolder } from '../support/server.ts';

/** Changes the frame at `index`, of those that a person made. */
const changed =
  (index: number, change: (frame: Signed) => Partial<Signed>) =>
  (frames: Signed[]): readonly Signed[] =>
    frames.map((frame, at) => (at === index ? { ...frame, ...change(frame) } : frame));

function swapped(
  frames: readonly Signed[],
  [a, b]: readonly [number, number],
  length: number,
): readonly Signed[] {
  const [first, second] = [frames.slice(a, a + length), frames.slice(b, b + length)];
  return [
    ...frames.slice(0, a),
    ...second,
    ...frames.slice(a + length, b),
    ...first,
    ...frames.slice(b + length),
  ];
}

const keyOf = async (folder: string): Promise<string> =>
  (await flagstaff(['audit', 'key', '-d', folder])).out;

const FORGERIES: Readonly<Record<string, (frames: Signed[]) => readonly Signed[]>> = {
  'another author': changed(12, () => ({ by: 'somebody-else', userId: 99 })),
  'another time': changed(12, ({ at }) => ({ at: at - 60_000 })),
  'another content': changed(12, ({ events }) => ({
    events: events.map((event) => ({ ...event, data: { forged: true } })),
  })),
  'another type of the event': changed(12, ({ events }) => ({
    events: events.map((event) => ({ ...event, type: 'feature-archived' })),
  })),
  'another version of the content': changed(12, () => ({ contentVersion: 1 })),
  'another order': (frames) => swapped(frames, [11, 12], 1),
  'swapped parts': (frames) => swapped(frames, [8, 14], 4),
  'a change left out': (frames) => frames.filter((_, at) => at !== 12),
  'a change added': (frames) => [...frames.slice(0, 12), frames[11]!, ...frames.slice(12)],
  'the tail cut off': (frames) => frames.slice(0, -2),
};

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

  for (const [name, forgery] of Object.entries(FORGERIES)) {
    it(`finds ${name}, which no checksum shows, with the key and the head alone`, async () => {
      const forged = await forge(folder, forgery);
      assert.deepEqual((await outputOf(['verify', '-d', forged])).damages, [], 'the checksums are right');
      for (const hasHeads of [true, false]) {
        if (!hasHeads) rmSync(headsPath(forged));
        const { code, json } = await verify(forged);
        assert.equal(code, 65, `${hasHeads ? 'with' : 'without'} the heads of the folder`);
        assert(!json.proved && json.differences.length > 0);
      }
    });
  }

  it('finds the folder of last week in place of that of today, and goes on to prove what a new head stands for', async () => {
    const today = copyOf(folder);
    const server = await startTestServer({ folder: today });
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

  it('finds an index file that was changed alone, once the journal is proved, with verify --deep', async () => {
    const forged = copyOf(folder);
    const index = fileAt(segmentsIn(forged), 1).replace('.journal', '.index');
    const bytes = readFileSync(index);
    const author = bytes.lastIndexOf('admin');
    assert(author > 0, 'the index file has the name of an author');
    bytes.write('nimda', author);
    bytes.writeUInt32LE(crc32(bytes.subarray(16)), 12);
    writeFileSync(index, bytes);
    assert.equal((await verify(forged)).code, 0, 'the journal is what was signed');
    assert.equal((await flagstaff(['verify', '-d', forged])).code, 0, 'the checksums are right');
    const { code, json } = await flagstaff(['verify', '--deep', '--json', '-d', forged]);
    assert.deepEqual([code, json.damages.map(({ file }: { file: string }) => file)], [65, [index]]);
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

  it('speaks of the events that are kept alone, where retention has deleted the oldest ones', async () => {
    const kept = copyOf(folder);
    for (const file of segmentsIn(kept).slice(0, 2)) rmSync(file);
    const oldest = Number(fileAt(segmentsIn(kept), 0).slice(-28, -8));
    await recordOldest(realFileSystem, dataFolder(kept), oldest);
    const { code, json } = await verify(kept);
    assert.deepEqual([code, json.proved, json.firstId, json.lastId], [0, true, oldest, events]);
    const { out } = await flagstaff(['audit', 'verify', '-d', kept]);
    assert.match(out, new RegExp(`^The events from ${oldest} to ${events} are what was signed`, 'm'));
  });

  it('who has the private key too cannot change what a kept head stands for', async () => {
    const forged = await forge(folder, FORGERIES['another author']!);
    rmSync(headsPath(forged));
    const server = await startTestServer({ folder: forged });
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
    writeFileSync(other, readFileSync(head, 'utf8').replace('events 1', 'events 2'));
    const wrong = await flagstaff(['audit', 'verify', '-d', folder, '--key', key, '--head', other]);
    assert.deepEqual([wrong.code, /None of the keys signed this head/.test(wrong.err)], [65, true]);
    const unsigned = copyOf(folder);
    rmSync(headsPath(unsigned));
    const nothing = await flagstaff(['audit', 'verify', '-d', unsigned, '--key', key]);
    assert.deepEqual([nothing.code, /Nothing is proved/.test(nothing.err)], [65, true]);
  });

  // The verifier of the manual, which has no line of ours in it.

  const exported = (...args: string[]): Promise<string> => exportOf(folder, ...args);

  async function exportOf(of: string, ...args: string[]): Promise<string> {
    const { code, out, err } = await flagstaff(['audit', 'export', '-d', of, ...args]);
    assert.deepEqual([code, err], [0, '']);
    return `${out}\n`;
  }

  async function check(
    text: string,
    kept: string | null = null,
    { trusted = key } = {},
  ): Promise<{ readonly code: number; readonly said: string }> {
    const file = join(temporaryFolder(), 'history.ndjson');
    writeFileSync(file, text);
    const run = promisify(execFile)(process.execPath, [
      join(ROOT_FOLDER, 'docs/verify-history.mjs'),
      file,
      trusted,
      ...(kept === null ? [] : [kept]),
    ]);
    return run.then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stderr }) => ({ code, said: stderr }),
    );
  }

  it('writes a whole history that the verifier of the manual proves, against a kept head too', async () => {
    const { code, said } = await check(await exported(), head);
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`^The events from 1 to ${events} are what was signed`));
    const lines = readFileSync(join(ROOT_FOLDER, 'docs/verify-history.mjs'), 'utf8').split('\n').length;
    assert(lines <= 300, 'an auditor can read it');
  });

  it('writes a part of the history, each line with its proof', async () => {
    const all = (await exported()).split('\n').length;
    const { by } = (await framesOf(folder)).at(-1)!;
    for (const args of [
      ['--feature', 'one'],
      ['--project', 'other'],
      ['--by', by],
      ['--from', '5', '--to', '9'],
    ]) {
      const text = await exported(...args);
      const frames = text.trimEnd().split('\n').length - 1;
      assert(frames > 0 && frames < all - 2, args.join(' '));
      const { code, said } = await check(text, head);
      assert.equal(code, 0, said);
      assert.match(said, new RegExp(`^${frames} frames are part of the history`));
    }
  });

  it('no changed line passes the verifier: neither what people read, nor what was signed, nor a line left out or doubled', async () => {
    for (const args of [[], ['--feature', 'one']]) {
      const lines = (await exported(...args)).trimEnd().split('\n');
      const change = (index: number, more: object): string =>
        lines
          .map((line, at) => (at === index ? JSON.stringify({ ...JSON.parse(line), ...more }) : line))
          .join('\n');
      const { payload } = JSON.parse(lines[1]!);
      const other = Buffer.from(payload, 'base64');
      other[other.length - 1] = other[other.length - 1]! ^ 1;
      const forgeries: Record<string, string> = {
        by: change(2, { by: 'somebody-else' }),
        at: change(2, { at: '2020-01-01T00:00:00.000Z' }),
        events: change(2, { events: [] }),
        payload: change(2, { payload: other.toString('base64') }),
        rules: change(2, { rules: 1 }),
        index: change(2, { index: 0 }),
        size: change(0, { size: 1, whole: true }),
        head: change(0, { head: JSON.parse(lines[0]!).head.replace('events 1', 'events 2') }),
        doubled: [...lines.slice(0, 3), lines[2], ...lines.slice(3)].join('\n'),
        'doubled under another index': `${lines.join('\n')}\n${lines.at(-1)!.replace(/"index":(\d+)/, '"index":$1.5')}`,
        'a property more': change(2, { approvedBy: 'somebody-else' }),
        'a property twice': lines
          .map((line, at) => (at === 2 ? line.replace('{', '{"by":"somebody-else",') : line))
          .join('\n'),
      };
      if (args.length === 0) {
        forgeries['left out'] = lines.filter((_, at) => at !== 3).join('\n');
        forgeries['cut off'] = lines.slice(0, -1).join('\n');
      }
      for (const [name, text] of Object.entries(forgeries)) {
        const { code, said } = await check(`${text}\n`);
        assert.deepEqual(
          [code, /^NOT PROVED: line|^NOT PROVED: the/.test(said)],
          [1, true],
          `${name}: ${said}`,
        );
      }
    }
  });

  it('a key hands over to a new one: either proves all history, and the old one signs nothing that follows', async () => {
    const rotated = copyOf(folder);
    const { code, out: newKey } = await flagstaff(['audit', 'replace-key', '-d', rotated]);
    assert.equal(code, 0);
    assert.equal(newKey, await keyOf(rotated));
    const server = await startTestServer({ folder: rotated });
    await server.call('POST', '/projects/default/features', { name: 'under-the-new-key' });
    const health = await fetch(`${server.origin}/health`);
    const { head: told } = (await health.json()) as { readonly head: { readonly key: string } };
    assert.equal(told.key, newKey, '/health tells the new key');
    await server.stop();
    const newest = (await headsOf(realFileSystem, rotated)).at(-1)!;
    assert(newest.head.lastId > events && PublicKey.parse(newKey)?.signed(newest.note));
    const file = join(temporaryFolder(), 'newest');
    writeFileSync(file, newest.note);
    for (const [trusted, kept] of [key, newKey].flatMap((one) =>
      [head, file].map((at) => [one, at] as const),
    )) {
      const args = ['audit', 'verify', '--json', '-d', rotated, '--key', trusted, '--head', kept];
      const { json } = await flagstaff(args);
      assert.deepEqual([json.proved, json.differences, json.signed.lastId], [true, [], newest.head.lastId]);
      const { code: checked, said } = await check(await exportOf(rotated, '--key', trusted), kept, {
        trusted,
      });
      assert.equal(checked, 0, said);
    }
  });

  /** Signs the newest head as no server of ours would. */
  async function signNewest(of: string, sign: (head: Head) => string): Promise<void> {
    const heads = await HeadsFile.open(realFileSystem, of);
    const { head, place } = heads.newest!;
    await heads.append(head, sign(head), place);
    await heads.close();
  }

  it('a key that has handed over signs nothing that follows, whoever has found it', async () => {
    const rotated = copyOf(folder);
    const stolen = readFileSync(join(rotated, 'history.key'));
    await flagstaff(['audit', 'replace-key', '-d', rotated]);
    const handedOver = copyOf(rotated);
    const server = await startTestServer({ folder: handedOver });
    await server.call('POST', '/projects/default/features', { name: 'under-the-stolen-key' });
    await server.stop();
    await signNewest(handedOver, (head) => new HeadSigner(createPrivateKey(stolen)).sign(head));
    for (const trusted of [key, await keyOf(rotated)]) {
      const { code, json } = await flagstaff([
        'audit',
        'verify',
        '--json',
        '-d',
        handedOver,
        '--key',
        trusted,
      ]);
      assert.equal(code, 65);
      assert.match(json.differences[0].what, /none of the keys signed/);
    }
  });

  it('a key that has handed over cannot hand over once more to whoever has found it', async () => {
    const forged = copyOf(folder);
    const stolen = join(temporaryFolder(), 'stolen.key');
    copyFileSync(join(forged, 'history.key'), stolen);
    const { out: newKey } = await flagstaff(['audit', 'replace-key', '-d', forged]);
    const honest = (await headsOf(realFileSystem, forged)).at(-1)!;
    const { privateKey } = generateKeyPairSync('ed25519');
    const stranger = new HeadSigner(privateKey);
    writeFileSync(join(forged, 'history.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const strangers = stranger.publicKey.text;
    await signNewest(forged, (head) =>
      new HeadSigner(createPrivateKey(readFileSync(stolen))).handOver(head, stranger),
    );
    const second = (await headsOf(realFileSystem, forged)).at(-1)!;
    assert(PublicKey.parse(strangers)?.signed(second.note) && second.head.size === honest.head.size);
    const server = await startTestServer({ folder: forged });
    await server.call('POST', '/projects/default/features', { name: 'under-the-key-of-a-stranger' });
    await server.stop();
    const { code, json } = await flagstaff(['audit', 'verify', '--json', '-d', forged, '--key', newKey]);
    assert.equal(code, 65);
    assert.match(json.differences[0].what, /none of the keys signed/);
    // What the stranger exports, with all of the handovers, is not proved to those who have the new key.
    const text = await exportOf(forged, '--key', strangers);
    const [first = '', ...lines] = text.split('\n');
    const value = JSON.parse(first);
    const both = JSON.stringify({ ...value, handovers: [second.note, honest.note] });
    const checked = await check([both, ...lines].join('\n'), null, { trusted: newKey });
    assert.deepEqual([checked.code, /the key did not sign the head/.test(checked.said)], [1, true]);
  });

  it('refuses to hand over with a key that has signed nothing here, and while a server runs', async () => {
    const foreign = copyOf(folder);
    rmSync(join(foreign, 'history.key'));
    const { code, err } = await flagstaff(['audit', 'replace-key', '-d', foreign]);
    assert.deepEqual([code, /has not signed the newest head/.test(err)], [66, true]);
    assert(!existsSync(join(foreign, 'history.key')), 'nothing was changed');
    const server = await startTestServer({ folder: foreign });
    assert.notEqual((await flagstaff(['audit', 'replace-key', '-d', foreign])).code, 0);
    await server.stop();
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
