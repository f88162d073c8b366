/** Keeps a list of flags up to date: after an event about a flag that flag is read again, and not the list. */
import { flagPath } from './changes.jsx';
import { Refused } from './client.js';

/** @import { Resource } from './resource.jsx' */
/** @import { EventHead, Flag, FlagSummary, ProjectOverview, Session } from './types.d.ts' */

/** More flags than these at once cost more requests than the list does. */
const FLAGS_AT_ONCE_MAX = 20;

/** Events after which the list says something else besides the flag: how healthy the project is, or where the flag stands. */
const CHANGES_THE_LIST = /^feature-(?:stale|revived|import|project-change)|^drop-/;

/** Returns what takes events. @param {Session} session @param {string} project @param {Resource<ProjectOverview>} overview */
export function createFlagUpdates(session, project, overview) {
  /** Names, with who made the last change: whoever made the first one created the flag. @type {Map<string, number>} */
  const waiting = new Map();
  let isRunning = false;

  async function readWaiting() {
    if (isRunning) return;
    isRunning = true;
    try {
      for (const [name, creator] of waiting) {
        waiting.delete(name);
        const flag = await currentFlag(session, project, name);
        overview.patch((shown) => ({ ...shown, features: withFlag(shown.features, flag ?? name, creator) }));
      }
    } catch {
      // The list says why it cannot be read, and is read again once the server answers.
      waiting.clear();
      void overview.refresh();
    }
    isRunning = false;
  }

  return (/** @type {readonly EventHead[]} */ events) => {
    const concerned = events.filter((event) => event.project === project || event.project === null);
    if (concerned.length === 0) return;
    const isOfList = concerned.some(
      ({ featureName, type }) => featureName === null || CHANGES_THE_LIST.test(type),
    );
    // Newest first, so that the oldest one is noted last.
    for (const { featureName, createdByUserId } of concerned)
      if (featureName !== null) waiting.set(featureName, createdByUserId);
    if (isOfList || waiting.size > FLAGS_AT_ONCE_MAX) {
      waiting.clear();
      void overview.refresh();
    } else void readWaiting();
  };
}

/** Null for one that is not listed any more. @param {Session} session @param {string} project @param {string} name @returns {Promise<Flag | null>} */
async function currentFlag({ client }, project, name) {
  try {
    const flag = await client.get(flagPath(project, name));
    return flag.archived ? null : flag;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

/**
 * Keeps the order of creation, in which a new flag comes last.
 * @param {readonly FlagSummary[]} flags
 * @param {Flag | string} flag the name of one that is not listed any more
 * @param {number} creator of one that is not listed yet
 */
function withFlag(flags, flag, creator) {
  if (typeof flag === 'string') return flags.filter(({ name }) => name !== flag);
  const at = flags.findIndex(({ name }) => name === flag.name);
  const summary = summaryOf(flag, flags[at]?.createdByUserId ?? creator);
  return at < 0 ? [...flags, summary] : flags.with(at, summary);
}

/**
 * The part of a flag that the list shows; the rest that the flag has does no harm.
 * @param {Flag} flag
 * @param {number} createdByUserId
 * @returns {FlagSummary}
 */
const summaryOf = (flag, createdByUserId) => ({
  ...flag,
  createdByUserId,
  environments: flag.environments.map(({ strategies: _, ...environment }) => environment),
});
