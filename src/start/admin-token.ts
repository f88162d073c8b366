/** Admin tokens that no HTTP request makes: the first one of a data folder, and one in place of a lost one. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Engine } from '../actors/engine.ts';
import { ALL } from '../domain/state/world.ts';
import { digestOf } from '../http/serving/access.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { replaceFile } from '../persistence/disk/write-fully.ts';

/** The operator who runs the command, and the name of the token, as the event log shows both. */
const OPERATOR = { name: 'flagstaff token create', userId: -1337 } as const;

/** 256 bits cannot be guessed. */
const SECRET_BYTES = 32;

export const makeAdminSecret = (): string => `${ALL}:${ALL}.${randomBytes(SECRET_BYTES).toString('hex')}`;

/**
 * Records a new admin token and resolves with its secret when the token is durable. Throws with the reason when the
 * server refuses it. The caller must have write access to the data folder (docs/specification/rights.md#last-admin-token).
 */
export async function createAdminToken(engine: Engine): Promise<string> {
  const secret = makeAdminSecret();
  const scope = { type: 'admin', projects: [ALL], environment: ALL, expiresAt: null } as const;
  const outcome = await engine.execute({
    command: {
      type: 'create-api-token',
      token: { digest: digestOf(secret), tokenName: OPERATOR.name, ...scope },
    },
    actor: OPERATOR,
    respond: () => null,
  });
  if (outcome.kind === 'refusal') throw new Error(outcome.refusal.message);
  if (outcome.kind === 'fault') throw outcome.error;
  return secret;
}

// Hands the first admin token to an operator who is not at a terminal. It goes to a file that only the user of the
// server may read, and not to the log, which is kept longer than secrets should be and read by many people.

/** A file in the data folder. Nothing reads it. */
export const FIRST_TOKEN_FILE_NAME = 'first-admin-token';

/** Writes the token durably and returns the path of the file. A file of an earlier start that failed is replaced. */
export async function writeFirstToken(fs: FileSystem, folder: string, secret: string): Promise<string> {
  const file = join(folder, FIRST_TOKEN_FILE_NAME);
  await replaceFile(fs, file, Buffer.from(`${secret}\n`), { durable: true });
  return file;
}
