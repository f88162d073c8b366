/**
 * Carries the secret of a new token from the command, which records its digest, to the one response that shows it. In
 * between, the secret is attached to its request and nothing else, so no event, log or error can contain it, and it
 * is collected with the request.
 */
import { randomBytes } from 'node:crypto';
import { digestOf } from './access.ts';

/** 256 bits cannot be guessed. */
const SECRET_BYTES = 32;

const secrets = new WeakMap<object, string>();

/**
 * Makes the secret of this request and returns its digest. `prefix` is the kind of token, such as `*:*.` or `user:`.
 */
export function makeSecret(request: object, prefix: string, encoding: 'hex' | 'base64url' = 'hex'): string {
  const secret = prefix + randomBytes(SECRET_BYTES).toString(encoding);
  secrets.set(request, secret);
  return digestOf(secret);
}

export function secretOf(request: object): string {
  const secret = secrets.get(request);
  if (secret === undefined) throw new Error('a secret is shown that was not made');
  return secret;
}
