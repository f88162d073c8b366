/**
 * Refuses a response that could not arrive: what its client has not read yet would be more than all clients together may leave
 * unread, so the connection would be closed in its middle. A refusal before the first byte says what to ask for instead.
 */
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { HttpResponse } from '../transport/transport.ts';
import { UNREAD_BYTES_MAX } from '../transport/transport-limits.ts';

/** Bytes of one response, as it is sent. */
export const RESPONSE_BYTES_MAX = UNREAD_BYTES_MAX;

export function refuseTooLong({ body }: Pick<HttpResponse, 'body'>): Refusal | null {
  // A character takes three bytes at most, and most texts are short.
  if (body === null || (typeof body === 'string' && body.length * 3 <= RESPONSE_BYTES_MAX)) return null;
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (bytes <= RESPONSE_BYTES_MAX) return null;
  return refuse(
    'PayloadTooLargeError',
    `The response has ${mebibytes(bytes)} MiB; at most ${mebibytes(RESPONSE_BYTES_MAX)} MiB are sent at once. Send Accept-Encoding: gzip, or ask for less: /api/admin/search/features lists flags in pages (offset and limit), and documents for SDKs are narrowed by project, namePrefix and tag.`,
  );
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20);
