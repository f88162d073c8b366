/** The key that signs the history: what happens where it is damaged, and that a crash in a change of it leaves no head signed by the old one. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { openSigner, readHistoryKey, replaceHistoryKey } from '../../../src/addons/audit/history-key.ts';
import { type Handover, handoverOf, PublicKey } from '../../../src/addons/audit/signed-head.ts';
import { type FileSystem, type OpenFile, realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { ConfigError } from '../../../src/process/settings.ts';
import { copyOf, flagstaff, pastFolder } from '../../support/operator.ts';
import { startTestServer } from '../../support/server.ts';
import { headsOf } from './audit-fixture.ts';

class Crash extends Error {}

/** The real file system, until so many calls of it are done. */
function crashingAfter(calls: number): FileSystem {
  let left = calls;
  const bounded = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          // The descriptor would stay open in this process.
          if (name !== 'close' && left-- <= 0) throw new Crash();
          const result: unknown = await value.apply(of, args);
          return name === 'open' ? bounded(result as OpenFile) : result;
        };
      },
    });
  return bounded(realFileSystem);
}

const keyFileIn = (folder: string): string => join(folder, 'history.key');

const newestHandover = async (folder: string): Promise<Handover | null> =>
  handoverOf((await headsOf(realFileSystem, folder)).at(-1)!.note);

describe('a change of the key of the history', () => {
  let folder: string;
  let oldKey: string;

  before(async () => {
    ({ folder } = await pastFolder());
    oldKey = (await readHistoryKey(realFileSystem, keyFileIn(folder)))!.publicKey.text;
  });

  /** A copy in which the change of the key ended after so many calls of the file system; null where it did not end early. */
  async function crashedAfter(calls: number): Promise<string | null> {
    const copy = copyOf(folder);
    try {
      await replaceHistoryKey(crashingAfter(calls), copy, keyFileIn(copy));
      return null;
    } catch (error) {
      assert(error instanceof Crash, String(error));
      return copy;
    }
  }

  /** A copy with the handover, and the new key not yet in the place of the old one. */
  async function handedOver(): Promise<string> {
    for (let calls = 0; ; calls += 1) {
      const copy = await crashedAfter(calls);
      assert(copy !== null, 'a crash comes between the handover and the renaming');
      if ((await newestHandover(copy)) !== null) return copy;
    }
  }

  it('goes on with the key that counts, wherever a crash has ended it', async () => {
    const seen = new Set<string>();
    for (let calls = 0; ; calls += 1) {
      const copy = await crashedAfter(calls);
      if (copy === null) break;
      const signer = await openSigner(realFileSystem, copy, keyFileIn(copy));
      assert(!('problem' in signer), `after ${calls} calls`);
      const key = signer.publicKey.text;
      const handover = await newestHandover(copy);
      assert.equal(key, handover?.to.text ?? oldKey, `after ${calls} calls`);
      assert.equal(
        (await readHistoryKey(realFileSystem, keyFileIn(copy)))!.publicKey.text,
        key,
        `after ${calls} calls`,
      );
      seen.add(handover === null ? 'before the handover' : 'after it');
    }
    assert.deepEqual([...seen], ['before the handover', 'after it']);
  });

  it('is completed when it is run again, and hands over once', async () => {
    const copy = await handedOver();
    const handover = await newestHandover(copy);
    const key = await replaceHistoryKey(realFileSystem, copy, keyFileIn(copy));
    assert.equal(key?.text, handover?.to.text);
    assert.equal((await readHistoryKey(realFileSystem, keyFileIn(copy)))!.publicKey.text, key?.text);
    assert(!existsSync(`${keyFileIn(copy)}.next`));
    const handovers = (await headsOf(realFileSystem, copy)).filter(({ note }) => handoverOf(note) !== null);
    assert.equal(handovers.length, 1);
  });

  it('is completed by a server that starts after the crash: its heads prove all history to either key', async () => {
    const copy = await handedOver();
    const { to } = (await newestHandover(copy))!;
    const server = await startTestServer({ folder: copy });
    await server.call('POST', '/projects/default/features', { name: 'after-the-crash' });
    await server.stop();
    const newest = (await headsOf(realFileSystem, copy)).at(-1)!;
    assert(to.signed(newest.note) && !PublicKey.parse(oldKey)!.signed(newest.note), 'the new key signs');
    for (const key of [oldKey, to.text]) {
      const { code, json } = await flagstaff(['audit', 'verify', '--json', '-d', copy, '--key', key]);
      assert.deepEqual([code, json.signed?.lastId], [0, newest.head.lastId]);
    }
  });

  it('leaves no old key that signs once more: the server serves, signs nothing, and says what to do', async () => {
    const copy = copyOf(folder);
    const key = await replaceHistoryKey(realFileSystem, copy, keyFileIn(copy));
    copyFileSync(keyFileIn(folder), keyFileIn(copy));
    const told = `has handed over to ${key?.text}`;
    await servesUnsigned(copy, told);
    await assert.rejects(
      replaceHistoryKey(realFileSystem, copy, keyFileIn(copy)),
      (error) => error instanceof ConfigError && error.message.includes(told),
    );
  });
});

/** Starts a server, changes something, and asserts that the heads stay as they are, and that `/health` has the reason. */
async function servesUnsigned(folder: string, told: string): Promise<void> {
  const heads = readFileSync(join(folder, 'history.heads'));
  const server = await startTestServer({ folder });
  const { status } = await server.call('POST', '/projects/default/features', { name: 'unsigned' });
  const { body } = await server.callBelow('')('GET', '/health');
  await server.stop();
  assert.equal(status, 201);
  assert(body.warning.includes('History is not signed: ') && body.warning.includes(told), body.warning);
  assert(heads.equals(readFileSync(join(folder, 'history.heads'))), 'nothing is signed');
}

describe('a key file', () => {
  let folder: string;
  before(async () => {
    ({ folder } = await pastFolder());
  });

  it('that is empty is none: the start makes a key', async () => {
    const copy = copyOf(folder);
    writeFileSync(keyFileIn(copy), '');
    const server = await startTestServer({ folder: copy });
    await server.stop();
    const newest = (await headsOf(realFileSystem, copy)).at(-1);
    assert.equal(newest?.head.lastId, server.server.store.engine.lastId);
    assert((await readHistoryKey(realFileSystem, keyFileIn(copy)))?.publicKey.signed(newest.note));
  });

  it('that is damaged, or that the server may not read, costs signatures and nothing else', async () => {
    for (const spoil of [
      (file: string): void => writeFileSync(file, readFileSync(file, 'utf8').replace('PRIVATE', 'QRIVATE')),
      (file: string): void => {
        rmSync(file);
        mkdirSync(file);
      },
    ]) {
      const copy = copyOf(folder);
      spoil(keyFileIn(copy));
      await servesUnsigned(copy, 'history.key');
    }
  });
});
