/**
 * `Idempotency-Key` (docs/specification/common.md#idempotency-key): a write that is sent again because its response
 * was lost gets the first response and changes nothing twice, for 24 hours and across restarts. Only successes that
 * changed something are kept: a refusal changed nothing, and its cause may be gone.
 */
import { createHash } from 'node:crypto';
import type { Retry } from '../../actors/submission.ts';
import { invalid, type Refusal } from '../../domain/state/refusal.ts';
import { secretIn } from '../dispatch/access.ts';
import { EMPTY_HEADERS, JSON_HEADERS } from '../dispatch/json-response.ts';
import { bytesOf } from '../transport/response-body.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';

/** Visible ASCII. Long enough for any UUID or hash, short enough to be kept. */
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/** Undefined without the header. `redact` removes from a body what may be shown only once. */
export function retryOf(
  request: TransportRequest,
  redact: (body: string) => string,
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
    // The key includes the credentials and not the name of the caller, because two tokens may have the same name.
    key: sha256(JSON.stringify([secretIn(request.header('authorization')), header])),
    // Without a query it is the one that release 0.1.0 recorded, whose requests may be retried after an upgrade.
    fingerprint: sha256(`${request.method} ${target}\n`, request.body),
    toRemember: ({ status, body }) => ({
      status,
      body:
        body === null
          ? null
          : redact(typeof body === 'string' ? body : Buffer.from(bytesOf(body)).toString()),
    }),
    fromMemory: ({ status, body }) => ({
      status,
      headers: body === null ? EMPTY_HEADERS : JSON_HEADERS,
      body,
    }),
  };
}

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
