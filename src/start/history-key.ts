/** The key that signs the history, in a file of its own: PKCS #8 as PEM, which `openssl pkey` reads, for the server alone to read. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataFolderError } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { HeadsFile, newestCut, type RecordedHead } from '../persistence/proof/heads-file.ts';
import { HeadSigner, handoverOf, type PublicKey } from '../persistence/proof/signed-head.ts';
import { ConfigError, type Environment, text } from '../process/settings.ts';
import { renameSecretFile, writeSecretFile } from './secret-file.ts';

/** The file of the key: in the data folder, unless the operator names another one. */
export const keyFileOf = (env: Environment, dataDir: string): string =>
  text(env, 'HISTORY_KEY_FILE') ?? join(dataDir, 'history.key');

/** Null where there is no such file. */
export function readHistoryKey(file: string): HeadSigner | null {
  return existsSync(file) ? new HeadSigner(parse(readFileSync(file, 'utf8'), file)) : null;
}

/**
 * The key that signs from now on; made where there is none. A change of the key that a crash interrupted is completed. The caller
 * holds the lock of the data folder. Throws `ConfigError` where the key has handed over to one that is not here.
 */
export async function openHistoryKey(fs: FileSystem, folder: string, file: string): Promise<HeadSigner> {
  const signer = readHistoryKey(file);
  if (signer === null) return makeKey(file);
  return takeOver(await newestHead(fs, folder), signer, file) ?? signer;
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
function takeOver(newest: RecordedHead | null, signer: HeadSigner, file: string): HeadSigner | null {
  const handover = newest === null ? null : handoverOf(newest.note);
  if (handover === null || handover.from.text !== signer.publicKey.text) return null;
  const next = readHistoryKey(nextFileOf(file));
  if (next === null || next.publicKey.text !== handover.to.text)
    throw new ConfigError(
      `The key in ${file} has handed over to ${handover.to.text}, so what it signs does not count any more. Put the private key of that one in its place. If it is lost, remove ${file}: the next start makes a new key, and signs all history anew.`,
    );
  renameSecretFile(nextFileOf(file), file);
  return next;
}

function makeKey(file: string): HeadSigner {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeSecretFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
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
  const signer = readHistoryKey(file);
  const heads = await HeadsFile.open(fs, folder);
  try {
    const { newest } = heads;
    if (signer === null || newest === null || heads.isDamaged || !signer.publicKey.signed(newest.note))
      return null;
    const interrupted = takeOver(newest, signer, file);
    if (interrupted !== null) return interrupted.publicKey;
    const next = makeKey(nextFileOf(file));
    // An older key counts for no cut, and the new one for nothing before the handover.
    const cut = await newestCut(fs, folder, signer.publicKey);
    if (cut !== null) await heads.cut({ ...cut, note: signer.sign(cut.head, next) });
    const head = { ...newest.head, isCut: false, at: Date.now() };
    await heads.append({ ...newest, note: signer.handOver(head, next), head });
    await heads.sync();
    renameSecretFile(nextFileOf(file), file);
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
