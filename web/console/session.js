/** The person who is signed in, with their rights, for every component of the page. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** @import { Me, Profile, Right, Session } from './types.d.ts' */

/** Set for everything that is shown to somebody who is signed in. */
export const SessionContext = createContext(/** @type {Session | null} */ (null));

export function useSession() {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('this is shown to nobody who is not signed in');
  return session;
}

/** @param {Session} session */
export const callerName = ({ me: { user } }) => user.name || user.username || user.email || 'API token';

/** @param {Session} session @param {string} environment */
export const isProduction = ({ environmentTypes }, environment) =>
  environmentTypes.value.get(environment) === 'production';

/** Root roles that may change segments, context fields and strategy types, which all projects share. */
const TARGETING_ROLES = ['Admin', 'Editor', 'Owner', 'Member'];

/** The permissions of the interface that stand for the rights. */
const PERMISSIONS = /** @type {const} */ ({
  flags: 'UPDATE_FEATURE',
  project: 'UPDATE_PROJECT',
  'create-project': 'CREATE_PROJECT',
});

/**
 * Whether a caller holds a permission of an environment of a project. An Admin holds all of them but the one by which approvals are skipped,
 * which only a role of its own gives.
 * @param {Me} me
 * @returns {Session['holds']}
 */
export function holdingsOf({ permissions }) {
  const isAdmin = permissions.some(({ permission }) => permission === 'ADMIN');
  return (wanted, { project, environment }) =>
    (isAdmin && wanted !== 'SKIP_CHANGE_REQUEST') ||
    permissions.some(
      ({ permission, ...at }) =>
        permission === wanted &&
        [undefined, '*', project].includes(at.project) &&
        [undefined, '*', environment].includes(at.environment),
    );
}

/**
 * Whether a caller may do something, in the project where one is named. The server decides again at each request.
 * @param {Me} me
 * @param {Profile} profile
 * @returns {Session['may']}
 */
export function rightsOf({ permissions }, { rootRole }) {
  const isAdmin = permissions.some(({ permission }) => permission === 'ADMIN');
  return (/** @type {Right} */ right, project) => {
    if (isAdmin) return true;
    if (right === 'admin') return false;
    if (right === 'targeting') return TARGETING_ROLES.includes(rootRole.name);
    return permissions.some(
      (granted) =>
        granted.permission === PERMISSIONS[right] &&
        (granted.project === undefined || granted.project === '*' || granted.project === project),
    );
  };
}
