/** The key that signs the history: what happens where it is damaged, and that a crash in a change of it leaves a key that has signed all heads. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { HeadsFile } from '../../../src/addons/audit/heads-file.ts';
import { readHistoryKey, replaceHistoryKey } from '../../../src/addons/audit/history-key.ts';
import { HeadSigner } from '../../../src/addons/audit/signed-head.ts';
import { type FileSystem, type OpenFile, realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { copyOf, pastFolder } from '../../support/operator.ts';
import { serverFor, startTestServer } from '../../support/server.ts';
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

  it('leaves one key that has signed all, wherever a crash has ended it', async () => {
    const keys = new Set<string>();
    for (let calls = 0; ; calls += 1) {
      const copy = await crashedAfter(calls);
      const { publicKey } = (await readHistoryKey(realFileSystem, keyFileIn(copy ?? folder)))!;
      for (const { note } of await headsOf(realFileSystem, copy ?? folder))
        assert(publicKey.signed(note), `after ${calls} calls`);
      if (copy === null) break;
      keys.add(publicKey.text === oldKey ? 'old' : 'new');
    }
    assert(keys.has('old'));
  });

  it('signs nothing that the old key has not signed', async () => {
    const copy = copyOf(folder);
    const heads = await HeadsFile.open(realFileSystem, copy);
    const { newest } = heads;
    assert(newest !== null);
    const strangers = new HeadSigner(generateKeyPairSync('ed25519').privateKey).sign(newest.head);
    await heads.append({ ...newest, note: strangers, endsBlock: true });
    await heads.append(newest);
    await heads.close();
    const key = await replaceHistoryKey(realFileSystem, copy, keyFileIn(copy));
    const signed = (await headsOf(realFileSystem, copy)).map(({ note }) => key?.signed(note));
    assert.deepEqual(signed.slice(-2), [false, true]);
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

  it('that is empty is none: the start makes a key', async (t) => {
    const copy = copyOf(folder);
    writeFileSync(keyFileIn(copy), '');
    const server = await serverFor(t, { folder: copy });
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
