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

/** @param {readonly { name: string, type: string }[]} environments @returns {ReadonlyMap<string, string>} */
export const typesOf = (environments) => new Map(environments.map(({ name, type }) => [name, type]));

/** Root roles that may change segments, context fields and strategy types, which all projects share. */
const TARGETING_ROLES = ['Admin', 'Editor', 'Owner', 'Member'];

/** The permissions of the interface that stand for the rights. */
const PERMISSIONS = /** @type {const} */ ({
  flags: 'UPDATE_FEATURE',
  project: 'UPDATE_PROJECT',
  'create-project': 'CREATE_PROJECT',
});

/** @param {Me} me @param {string} wanted @param {{ project?: string | undefined, environment?: string }} place */
const isGranted = ({ permissions }, wanted, { project, environment }) =>
  permissions.some(
    ({ permission, ...at }) =>
      permission === wanted &&
      [undefined, '*', project].includes(at.project) &&
      [undefined, '*', environment].includes(at.environment),
  );

/**
 * Whether a caller holds a permission of an environment of a project. An Admin holds all of them but the one by which approvals are skipped,
 * which only a role of its own gives.
 * @param {Me} me
 * @returns {Session['holds']}
 */
export const holdingsOf = (me) => (wanted, at) =>
  (wanted !== 'SKIP_CHANGE_REQUEST' && isGranted(me, 'ADMIN', {})) || isGranted(me, wanted, at);

/**
 * Whether a caller may do something, in the project where one is named. The server decides again at each request.
 * @param {Me} me
 * @param {Profile} profile
 * @returns {Session['may']}
 */
export const rightsOf =
  (me, { rootRole }) =>
  (/** @type {Right} */ right, project) => {
    if (right === 'admin' || isGranted(me, 'ADMIN', {})) return isGranted(me, 'ADMIN', {});
    if (right === 'targeting') return TARGETING_ROLES.includes(rootRole.name);
    return isGranted(me, PERMISSIONS[right], { project });
  };
