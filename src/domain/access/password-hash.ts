/**
 * How a hashed password is written down: `$scrypt$ln=15,r=8,p=3$<salt>$<key>`, the salt and the key in base64url without
 * padding. The parameters stand with the key, so passwords that were hashed with others stay good when these change.
 *
 * Hashing itself is no part of decisions, because it takes a thread and a while.
 */

export interface ScryptCost {
  /** The binary logarithm of N: 2^ln blocks of memory. */
  readonly ln: number;
  /** Size of a block, in 128 bytes. */
  readonly r: number;
  /** How many times, one after the other. */
  readonly p: number;
}

export interface PasswordHash {
  readonly cost: ScryptCost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

const PATTERN =
  /^\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9_-]{22,86})\$([A-Za-z0-9_-]{43,86})$/;

/** Memory of one sign-in, whatever an imported document says: a hash that asks for more could stop the process. */
export const HASH_MEMORY_BYTES_MAX = 128 * 1024 * 1024;

/** Blocks that are mixed: four times what is asked for by default. */
const HASH_WORK_MAX = 4 * 2 ** 15 * 8 * 3;

export const HASH_PHRASE = 'a password hashed with scrypt, as this server writes it';

export function memoryBytesOf({ ln, r }: ScryptCost): number {
  return 128 * 2 ** ln * r;
}

export function formatPasswordHash({ cost: { ln, r, p }, salt, key }: PasswordHash): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/** Null for a text that is none, or that would take too much to check. */
export function parsePasswordHash(text: string): PasswordHash | null {
  const [, ln, r, p, salt, key] = PATTERN.exec(text) ?? [];
  if (salt === undefined || key === undefined) return null;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const isPossible = cost.ln > 0 && cost.r > 0 && cost.p > 0;
  const isBounded =
    memoryBytesOf(cost) <= HASH_MEMORY_BYTES_MAX && 2 ** cost.ln * cost.r * cost.p <= HASH_WORK_MAX;
  if (!isPossible || !isBounded) return null;
  return { cost, salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url') };
}
