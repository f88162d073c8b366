/** Things that are edited, as they were when the dialog opened. */
import { flagPath } from '../changes.jsx';
import { revisionOf } from '../forms/conflict.jsx';

/** @import { Flag, Pinned, Session } from '../types.d.ts' */

/**
 * @template V
 * @param {Pick<Flag, 'project' | 'name'>} of
 * @param {string} etag
 * @param {(flag: Flag) => V | null} valuesIn
 * @returns {{ of: { project: string, name: string }, pinned: Pinned<V> }}
 */
export const pinnedFlag = ({ project, name }, etag, valuesIn) => ({
  of: { project, name },
  pinned: {
    ...{ at: flagPath(project, name), etag, since: revisionOf(etag), search: { project, feature: name } },
    valuesIn: (body) => valuesIn(/** @type {Flag} */ (body)),
  },
});

/**
 * Reads anything else.
 * @template V
 * @param {Session} session
 * @param {Omit<Pinned<V>, 'etag' | 'since' | 'valuesIn'> & { valuesIn: (body: any) => V }} of
 * @returns {Promise<{ values: V, body: any, pinned: Pinned<V> }>}
 */
export async function readPinned({ client, feed }, of) {
  const since = feed.newest();
  const { body, etag } = await client.read(of.at);
  return { values: of.valuesIn(body), body, pinned: { ...of, etag, since } };
}
