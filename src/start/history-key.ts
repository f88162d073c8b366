/** The key that signs the history, in a file of its own: PKCS #8 as PEM, which `openssl pkey` reads, for the server alone to read. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadSigner } from '../persistence/proof/signed-head.ts';
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
  const signer = readHistoryKey(file);
  if (signer !== null) return signer;
  const { privateKey } = generateKeyPairSync('ed25519');
  writeSecretFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return new HeadSigner(privateKey);
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
