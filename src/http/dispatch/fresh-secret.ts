/**
 * Secrets of tokens, from the command that records a digest to the one answer that shows the secret. In between, a
 * secret is kept beside its request and nowhere else: no event, log or error can carry it, and it is gone with the
 * request.
 */
import { randomBytes } from 'node:crypto';
import { digestOf } from './access.ts';

/** 256 bits: nobody finds one by trying. */
const SECRET_BYTES = 32;

const secrets = new WeakMap<object, string>();

/** Makes the secret of this request; its digest. `prefix` says what it is good for, as in `*:*.` or `user:`. */
export function makeSecret(request: object, prefix: string, random = randomBytes): string {
  const secret = prefix + random(SECRET_BYTES).toString('hex');
  secrets.set(request, secret);
  return digestOf(secret);
}

export function secretOf(request: object): string {
  const secret = secrets.get(request);
  if (secret === undefined) throw new Error('a secret is shown that was not made');
  return secret;
}
