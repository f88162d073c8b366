/** The signature of Standard Webhooks: HMAC-SHA256 over the id, the time and the body, once for each secret. */
import { createHmac } from 'node:crypto';
import type { EventHeaders } from './headers.ts';

/** One secret, and during a rotation its successor too. */
const SECRETS_MAX = 2;

/** `whsec_`, and 24 to 64 bytes in base64. */
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

export function signingSecretsIssue(text: string): string | null {
  const secrets = secretsIn(text);
  if (secrets.length <= SECRETS_MAX && secrets.every(isSecret)) return null;
  return 'The signing secrets must be one secret, or two with a space between them while you rotate, each "whsec_" and 24 to 64 bytes in base64.';
}

/** No header where there are no secrets. */
export function signature(secrets: string, headers: EventHeaders, body: string): Record<string, string> {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const signatures = secretsIn(secrets).map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  return signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') };
}

const secretsIn = (text: string): string[] => text.split(/\s+/).filter((secret) => secret !== '');

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');

function isSecret(secret: string): boolean {
  const { length } = keyOf(secret);
  return SECRET.test(secret) && length >= SECRET_BYTES_MIN && length <= SECRET_BYTES_MAX;
}
