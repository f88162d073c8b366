/** Things besides flags that are edited, as they are when the dialog opens. */

/** @import { Pinned, Session } from '../types.d.ts' */

/**
 * @template V
 * @param {Session} session
 * @param {Omit<Pinned<V>, 'etag' | 'since'>} of
 * @returns {Promise<{ values: V, body: any, pinned: Pinned<V> }>}
 */
export async function readPinned({ client, feed }, of) {
  const since = feed.newest();
  const { body, etag } = await client.read(of.at);
  return { values: of.valuesIn(body), body, pinned: { ...of, etag, since } };
}
