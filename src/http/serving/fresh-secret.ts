/**
 * Carries the secret of a new token from the command, which records its digest, to the one response that shows it. In
 * between, the secret is attached to its request and nothing else, so no event, log or error can contain it, and it
 * is collected with the request.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { digestOf } from './access.ts';
import type { RequestContext } from './route.ts';

/** 256 bits cannot be guessed. */
const SECRET_BYTES = 32;

const secrets = new WeakMap<object, string>();

/**
 * Makes the secret of this request and returns its digest. `prefix` is the kind of token, such as `*:*.` or `user:`.
 */
export function makeSecret(request: object, prefix: string, encoding: 'hex' | 'base64url' = 'hex'): string {
  return keep(request, prefix + randomBytes(SECRET_BYTES).toString(encoding));
}

function keep(request: object, secret: string): string {
  secrets.set(request, secret);
  return digestOf(secret);
}

/** The secret of a seed: an HMAC under the key, in place of the random part. */
function secretOfSeed(seed: string, key: string): string {
  const prefix = seed.slice(0, seed.lastIndexOf('.') + 1);
  return prefix + createHmac('sha256', key).update(seed).digest('hex');
}

/** Makes the secret of this request; with a key, one that can be made again from the seed. */
export function makeTokenSecret(
  request: object,
  prefix: string,
  key: string | null,
): { readonly digest: string; readonly seed?: string } {
  if (key === null) return { digest: makeSecret(request, prefix) };
  const seed = prefix + randomBytes(SECRET_BYTES).toString('hex');
  return { digest: keep(request, secretOfSeed(seed, key)), seed };
}

/** The secret that was made of the seed with this key; null if it was another key, or no key. */
export function secretAgain(
  { seed, digest }: { readonly seed?: string; readonly digest: string },
  key: string | null,
): string | null {
  if (seed === undefined || key === null) return null;
  const secret = secretOfSeed(seed, key);
  return digestOf(secret) === digest ? secret : null;
}

export function secretOf(request: object): string {
  const secret = secrets.get(request);
  if (secret === undefined) throw new Error('a secret is shown that was not made');
  return secret;
}

// The address at which people reach this server.

/** The configured URL, or else that of the request. A proxy may have ended HTTPS, which the origin of the browser's page shows. */
export function publicUrl(context: RequestContext<unknown>): string {
  const { publicOrigin, basePath } = context.site;
  const host = context.host();
  const scheme = context.header('origin') === `https://${host}` ? 'https' : 'http';
  return `${publicOrigin ?? `${scheme}://${host}`}${basePath}`;
}

/** The purpose of a link's secret, for the page that opens it. The secret follows the `#`, which browsers do not send. */
export type LinkUse = 'password' | 'invitation';

export function linkUrl(context: RequestContext<unknown>, use: LinkUse, secret: string): string {
  return `${publicUrl(context)}/welcome#${use}=${secret}`;
}
