/** The key that signs the history, in a file of its own: PKCS #8 as PEM, which `openssl pkey` reads, for the server alone to read. */
import { AssertionError } from 'node:assert';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { dirname, join } from 'node:path';
import { DataFolderError } from '../../persistence/disk/data-folder.ts';
import { type FileSystem, withFile } from '../../persistence/disk/file-system.ts';
import { replaceFile } from '../../persistence/disk/write-fully.ts';
import { ConfigError, type Environment, text } from '../../process/settings.ts';
import { HeadsFile, newestCut, type RecordedHead } from './heads-file.ts';
import { HeadSigner, handoverOf, type PublicKey } from './signed-head.ts';

/** The file of the key: in the data folder, unless the operator names another one. */
export const keyFileOf = (env: Environment, dataDir: string): string =>
  text(env, 'HISTORY_KEY_FILE') ?? join(dataDir, 'history.key');

/** A key in PEM has 119 bytes; a file without a bound may be anything. */
const KEY_BYTES_MAX = 4096;

/** Null where there is no such file, or an empty one, which a full disk may have left. */
export async function readHistoryKey(fs: FileSystem, file: string): Promise<HeadSigner | null> {
  if (!(await fs.exists(file))) return null;
  const bytes = Buffer.alloc(KEY_BYTES_MAX);
  const count = await withFile(fs, file, (open) => open.read(bytes, 0, bytes.length, 0));
  return count === 0 ? null : new HeadSigner(parse(bytes.toString('utf8', 0, count), file));
}

/** Why nothing can be signed. */
interface UnusableKey {
  readonly problem: string;
}

/** The key that signs from now on. One that cannot be used costs signatures, and keeps no flag from being served. */
export async function openSigner(
  fs: FileSystem,
  folder: string,
  file: string,
): Promise<HeadSigner | UnusableKey> {
  try {
    return await openHistoryKey(fs, folder, file);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof AssertionError) throw error;
    return { problem: `History is not signed: ${error.message}` };
  }
}

/**
 * The key that signs from now on; made where there is none. A change of the key that a crash interrupted is completed. The caller
 * holds the lock of the data folder. Throws `ConfigError` where the key is damaged, or has handed over to one that is not here.
 */
async function openHistoryKey(fs: FileSystem, folder: string, file: string): Promise<HeadSigner> {
  const signer = await readHistoryKey(fs, file);
  if (signer === null) return makeKey(fs, file);
  return (await takeOver(fs, await newestHead(fs, folder), signer, file)) ?? signer;
}

/** Null also where the heads are those of a newer version: nothing is signed then. */
async function newestHead(fs: FileSystem, folder: string): Promise<RecordedHead | null> {
  try {
    const heads = await HeadsFile.open(fs, folder);
    await heads.close();
    return heads.newest;
  } catch (error) {
    if (error instanceof DataFolderError) return null;
    throw error;
  }
}

/** The file of a new key until the old one has handed over to it. */
const nextFileOf = (file: string): string => `${file}.next`;

/**
 * Completes a change of the key that ended between the handover and the renaming of the new key's file: what the old key signs
 * does not count any more. Null where the key has not handed over.
 */
async function takeOver(
  fs: FileSystem,
  newest: RecordedHead | null,
  signer: HeadSigner,
  file: string,
): Promise<HeadSigner | null> {
  const handover = newest === null ? null : handoverOf(newest.note);
  if (handover === null || handover.from.text !== signer.publicKey.text) return null;
  const next = await readHistoryKey(fs, nextFileOf(file));
  if (next === null || next.publicKey.text !== handover.to.text)
    throw new ConfigError(
      `The key in ${file} has handed over to ${handover.to.text}, so what it signs does not count any more. Put the private key of that one in its place. If it is lost, remove ${file}: the next start makes a new key, and signs all history anew.`,
    );
  await putInPlace(fs, file);
  return next;
}

/** Durable when it resolves. */
async function putInPlace(fs: FileSystem, file: string): Promise<void> {
  await fs.rename(nextFileOf(file), file);
  await fs.syncFolder(dirname(file));
}

async function makeKey(fs: FileSystem, file: string): Promise<HeadSigner> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await replaceFile(fs, file, pem, { durable: true });
  return new HeadSigner(privateKey);
}

/**
 * Replaces the key by a new one, to which it hands over in a head that both sign. The caller holds the lock of the data folder.
 * Null, and nothing is changed, where the key in the file did not sign the newest head. After a crash at any step the next call,
 * or the next start, goes on: before the handover is on disk the old key signs, and from then on the new one, whose file is on
 * disk already.
 */
export async function replaceHistoryKey(
  fs: FileSystem,
  folder: string,
  file: string,
): Promise<PublicKey | null> {
  const signer = await readHistoryKey(fs, file);
  const heads = await HeadsFile.open(fs, folder);
  try {
    const { newest } = heads;
    if (signer === null || newest === null || heads.isDamaged || !signer.publicKey.signed(newest.note))
      return null;
    const interrupted = await takeOver(fs, newest, signer, file);
    if (interrupted !== null) return interrupted.publicKey;
    const next = await makeKey(fs, nextFileOf(file));
    // An older key counts for no cut, and the new one for nothing before the handover.
    const cut = await newestCut(fs, folder, signer.publicKey);
    if (cut !== null) await heads.cut({ ...cut, note: signer.sign(cut.head, next) });
    const head = { ...newest.head, isCut: false, at: Date.now() };
    await heads.append({ ...newest, note: signer.handOver(head, next), head });
    await heads.sync();
    await putInPlace(fs, file);
    return next.publicKey;
  } finally {
    await heads.close();
  }
}

function parse(pem: string, file: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // What the parser says of a file that is no key helps nobody.
  }
  throw new ConfigError(
    `${file} must hold an Ed25519 key in PEM, as "openssl genpkey -algorithm ed25519" makes it; remove it, and the server makes a new one.`,
  );
}
