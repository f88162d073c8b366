/** The actions that can be begun from anywhere, by their names. */
import { INVITATIONS } from '../kinds/people.jsx';
import { apiTokens, personalTokens } from '../kinds/tokens.jsx';
import { KINDS } from '../kinds.jsx';
import { showKeys } from '../parts/keys.jsx';
import { place } from '../place.js';
import { changeOwnPassword } from './account-edits.js';
import { createFlag } from './flag-edits.jsx';
import { exportFlags, importFlags } from './flag-files.jsx';
import { editKind } from './kind-edits.js';
import { createProject } from './project-edits.jsx';

/** @import { Session } from '../types.d.ts' */
/** @import { Kind } from '../kinds/kind.js' */

/** The actions that the caller may take where they are. @param {Session} session @returns {readonly { name: string, act: () => unknown }[]} */
export function actionsOf(session) {
  const at = place.value;
  const project = at !== null && 'project' in at ? at.project : null;
  const environments = session.projects.value.find(({ id }) => id === project)?.environments ?? [];
  const mayEdit = project !== null && session.may('project', project);
  /** @type {readonly Kind<any, any>[]} */
  const kinds = [...Object.values(KINDS), INVITATIONS, apiTokens(null)];
  const made = kinds.filter(
    ({ isReported, right }) => isReported !== true && (right === undefined || session.may(right)),
  );
  /** @type {readonly [isOffered: boolean, name: string, act: () => unknown][]} */
  const all = [
    [
      project !== null && session.may('flags', project),
      `New flag in ${project}`,
      () => createFlag(session, project ?? ''),
    ],
    [mayEdit, `Export the flags of ${project}`, () => exportFlags(session, project ?? '', environments)],
    [mayEdit, `Import flags into ${project}`, () => importFlags(session, project ?? '', environments)],
    [session.may('create-project'), 'New project', () => createProject(session)],
    ...made.map(
      (kind) =>
        /** @type {[boolean, string, () => unknown]} */ ([
          true,
          `New ${kind.one}`,
          () => editKind(session, kind, null),
        ]),
    ),
    [
      session.isUser,
      'New personal token',
      () => editKind(session, personalTokens('/user/tokens', null), null),
    ],
    [session.isUser, 'Change your password', () => changeOwnPassword(session, () => undefined)],
    [true, 'Keyboard shortcuts', showKeys],
    [!session.open, 'Sign out', () => session.signOut()],
  ];
  return all.filter(([isOffered]) => isOffered).map(([, name, act]) => ({ name, act }));
}
