/** `fetch` for a server that is trusted with identities, and not with this server's memory. */

/** Bytes of a reply. The largest, keys and the provider's description, have some tens of KiB. */
export const REPLY_BYTES_MAX = 1024 * 1024;

/** Rejects once a reply is longer. Redirects are not followed: an endpoint stands where its provider says. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > REPLY_BYTES_MAX) {
      throw new Error(`the reply from ${new URL(url).origin} is longer than ${REPLY_BYTES_MAX} bytes`);
    }
    pieces.push(piece);
  }
  const { status, statusText, headers } = response;
  const isBodiless = [101, 204, 205, 304].includes(status);
  return new Response(isBodiless ? null : Buffer.concat(pieces), { status, statusText, headers });
}
