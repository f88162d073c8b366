/**
 * `Idempotency-Key` (docs/specification/common.md#idempotency-key): a write that is sent again because its response
 * was lost gets the first response and changes nothing twice, for 24 hours and across restarts. Only successes that
 * changed something are kept: a refusal changed nothing, and its cause may be gone.
 */
import { createHash } from 'node:crypto';
import type { Retry } from '../../actors/submission.ts';
import { invalid, type Refusal } from '../../domain/state/refusal.ts';
import { bytesOf } from '../transport/response-body.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';
import { type Caller, secretIn } from './access.ts';
import { EMPTY_HEADERS, JSON_HEADERS } from './json-response.ts';
import type { WriteRoute } from './route.ts';

/** Visible ASCII. Long enough for any UUID or hash, short enough to be kept. */
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/**
 * Undefined without the header. `secretField`: what a response shows only once. `secretsInBody`: fields of the request's body
 * that do not tell requests apart, because a digest of them could be guessed.
 */
export function retryOf(
  request: TransportRequest,
  caller: Caller,
  { secretField, secretsInBody = [] }: Pick<WriteRoute, 'secretField' | 'secretsInBody'>,
): Retry<HttpResponse> | Refusal | undefined {
  const header = request.header('idempotency-key');
  if (header === '') return undefined;
  if (!KEY_PATTERN.test(header)) {
    return invalid(
      'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
      '/headers/idempotency-key',
    );
  }
  const target = request.query === '' ? request.path : `${request.path}?${request.query}`;
  return {
    key: sha256(JSON.stringify([...credentialsOf(request, caller), header])),
    // Without a query it is the one that release 0.1.0 recorded, whose requests may be retried after an upgrade.
    fingerprint: sha256(`${request.method} ${target}\n`, comparedBody(request.body, secretsInBody)),
    toRemember: ({ status, body }) => ({
      status,
      body:
        body === null
          ? null
          : withoutSecret(
              typeof body === 'string' ? body : Buffer.from(bytesOf(body)).toString(),
              secretField,
            ),
    }),
    fromMemory: ({ status, body }) => ({
      status,
      headers: body === null ? EMPTY_HEADERS : JSON_HEADERS,
      body,
    }),
  };
}

/** Credentials, and not the name of the caller, because two tokens may have the same name. Sessions come and go. */
function credentialsOf(request: TransportRequest, { user, token }: Caller): readonly unknown[] {
  const secret = secretIn(request.header('authorization'));
  if (secret !== null || (user === null && token === null)) return [secret];
  return ['session', user?.id ?? token?.digest];
}

/** The body has been read, so it is JSON. */
function comparedBody(body: Uint8Array, secrets: readonly string[]): string | Uint8Array {
  if (secrets.length === 0) return body;
  const value = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
  return JSON.stringify({ ...value, ...Object.fromEntries(secrets.map((name) => [name, null])) });
}

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** The body of a response without the secret in it. */
function withoutSecret(body: string, secretField: WriteRoute['secretField']): string {
  if (secretField === undefined) return body;
  const shown = JSON.parse(body) as Record<string, unknown>;
  for (const field of [secretField].flat()) if (field in shown) shown[field] = null;
  return JSON.stringify(shown);
}
