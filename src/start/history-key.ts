/** The key that signs the history, in a file of its own: PKCS #8 as PEM, which `openssl pkey` reads, for the server alone to read. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { HeadsFile } from '../persistence/proof/heads-file.ts';
import { HeadSigner, type PublicKey } from '../persistence/proof/signed-head.ts';
import { ConfigError, type Environment, text } from '../process/settings.ts';
import { writeSecretFile } from './secret-file.ts';

/** The file of the key: in the data folder, unless the operator names another one. */
export const keyFileOf = (env: Environment, dataDir: string): string =>
  text(env, 'HISTORY_KEY_FILE') ?? join(dataDir, 'history.key');

/** Null where there is no such file. */
export function readHistoryKey(file: string): HeadSigner | null {
  return existsSync(file) ? new HeadSigner(parse(readFileSync(file, 'utf8'), file)) : null;
}

/** Makes the key where there is none. */
export function openHistoryKey(file: string): HeadSigner {
  return readHistoryKey(file) ?? makeKey(file);
}

function makeKey(file: string): HeadSigner {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeSecretFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return new HeadSigner(privateKey);
}

/**
 * Replaces the key by a new one, to which it hands over in a head that both sign. The caller holds the lock of the data folder.
 * Null, and nothing is changed, where the key in the file did not sign the newest head. After a crash it can be run again.
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
    const next = makeKey(`${file}.next`);
    const head = { ...newest.head, at: Date.now() };
    await heads.append(head, signer.handOver(head, next), newest.place);
    await heads.sync();
    renameSync(`${file}.next`, file);
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
