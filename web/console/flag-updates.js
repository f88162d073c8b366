/** Keeps a list of flags up to date: after an event about a flag that flag is read again, and not the list. */
import { flagPath } from './changes.js';
import { Refused } from './client.js';

/** @import { Resource } from './resource.js' */
/** @import { EventHead, Flag, FlagSummary, ProjectOverview, Session } from './types.d.ts' */

/** More flags than these at once cost more requests than the list does. */
const FLAGS_AT_ONCE_MAX = 20;

/** Events after which the list says something else besides the flag: how healthy the project is, or where the flag stands. */
const CHANGES_THE_LIST = /^feature-(?:stale|revived|import|project-change)|^drop-/;

/**
 * Returns what takes events.
 * @param {Session} session
 * @param {string} project
 * @param {Resource<ProjectOverview>} overview
 */
export function createFlagUpdates(session, project, overview) {
  /** @type {Set<string>} */
  const waiting = new Set();
  let isRunning = false;

  async function readWaiting() {
    if (isRunning) return;
    isRunning = true;
    try {
      for (const name of waiting) {
        waiting.delete(name);
        const flag = await currentFlag(session, project, name);
        overview.patch((shown) => ({ ...shown, features: withFlag(shown.features, name, flag) }));
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
    for (const { featureName } of concerned) if (featureName !== null) waiting.add(featureName);
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
 * In the order of creation, in which a new flag comes last.
 * @param {readonly FlagSummary[]} flags
 * @param {string} name
 * @param {Flag | null} flag
 */
function withFlag(flags, name, flag) {
  if (flag === null) return flags.filter((one) => one.name !== name);
  const at = flags.findIndex((one) => one.name === name);
  return at < 0 ? [...flags, summaryOf(flag)] : flags.with(at, summaryOf(flag));
}

/** @param {Flag} flag @returns {FlagSummary} */
function summaryOf({ name, description, type, stale, impressionData, createdAt, lastSeenAt, environments }) {
  return {
    ...{ name, description, type, stale, impressionData, favorite: false, createdAt, lastSeenAt },
    environments: environments.map(({ strategies: _, ...environment }) => environment),
  };
}
