/** The key that signs the history, in a file of its own: PKCS #8 as PEM, which `openssl pkey` reads, for the server alone to read. */
import { AssertionError } from 'node:assert';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { type FileSystem, withFile } from '../../persistence/disk/file-system.ts';
import { replaceFile } from '../../persistence/disk/write-fully.ts';
import { ConfigError, type Environment, text } from '../../process/settings.ts';
import { HeadsFile, rewriteHeads } from './heads-file.ts';
import { HeadSigner, type PublicKey } from './signed-head.ts';

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

/**
 * The key that signs from now on; made where there is none. The caller holds the lock of the data folder. A key that cannot be used costs
 * signatures, and keeps no flag from being served.
 */
export async function openSigner(fs: FileSystem, file: string): Promise<HeadSigner | UnusableKey> {
  try {
    return (await readHistoryKey(fs, file)) ?? (await writeKey(fs, file, newKey()));
  } catch (error) {
    if (!(error instanceof Error) || error instanceof AssertionError) throw error;
    return { problem: `History is not signed: ${error.message}` };
  }
}

const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

async function writeKey(fs: FileSystem, file: string, key: KeyObject): Promise<HeadSigner> {
  const pem = Buffer.from(key.export({ type: 'pkcs8', format: 'pem' }));
  await replaceFile(fs, file, pem, { durable: true });
  return new HeadSigner(key);
}

/**
 * Replaces the key by a new one, which signs all that the old one has signed. The caller holds the lock of the data folder. Null, and
 * nothing is changed, where the key in the file did not sign the newest head. After a crash between the two steps the old key is
 * still there, and its signatures are too.
 */
export async function replaceHistoryKey(
  fs: FileSystem,
  folder: string,
  file: string,
): Promise<PublicKey | null> {
  const old = await readHistoryKey(fs, file);
  const heads = await HeadsFile.open(fs, folder);
  await heads.close();
  const { newest, isDamaged } = heads;
  if (old === null || newest === null || isDamaged || !old.publicKey.signed(newest.note)) return null;
  const key = newKey();
  const next = new HeadSigner(key);
  await rewriteHeads(fs, { from: folder, to: folder }, (recorded) =>
    old.publicKey.signed(recorded.note) ? { ...recorded, note: next.sign(recorded.head, old) } : recorded,
  );
  return (await writeKey(fs, file, key)).publicKey;
}

function parse(pem: string, file: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The parser's message for a file that is no key is no help.
  }
  throw new ConfigError(
    `${file} must hold an Ed25519 key in PEM, as "openssl genpkey -algorithm ed25519" makes it; remove it, and the server makes a new one.`,
  );
}
