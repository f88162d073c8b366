/** The actions that can be begun from anywhere, by their names, and those on flags that a text asks for. */
import { tryChangeFlag } from '../changes.jsx';
import { INVITATIONS } from '../kinds/people.jsx';
import { apiTokens, personalTokens } from '../kinds/tokens.jsx';
import { KINDS } from '../kinds.jsx';
import { showKeys } from '../parts/keys.jsx';
import { changeOwnPassword } from './account-edits.js';
import { archiveFlags } from './archive.jsx';
import { createFlag } from './flag-edits.jsx';
import { exportFlags, importFlags } from './flag-files.jsx';
import { editKind } from './kind-edits.js';
import { createProject } from './project-edits.jsx';
import { askToSwitch } from './switch.js';

/** @import { FoundFlag, ProjectSummary, Session } from '../types.d.ts' */
/** @import { Kind } from '../kinds/kind.js' */

/** @typedef {{ name: string, also?: string, act: () => unknown }} Action `also`: what finds it besides its name */

/** The actions on things that there are, and on those to come. @param {Session} session @returns {readonly Action[]} */
export function actionsOf(session) {
  /** @type {readonly Kind<any, any>[]} */
  const kinds = [...Object.values(KINDS), INVITATIONS, apiTokens(null)];
  const made = kinds.filter(
    ({ isReported, right }) => isReported !== true && (right === undefined || session.may(right)),
  );
  const own = [
    { name: 'New personal token', act: () => editKind(session, personalTokens('/user/tokens', null), null) },
    { name: 'Change your password', act: () => changeOwnPassword(session, () => undefined) },
  ];
  return [
    ...(session.may('create-project') ? [{ name: 'New project', act: () => createProject(session) }] : []),
    ...made.map((kind) => ({ name: `New ${kind.one}`, act: () => editKind(session, kind, null) })),
    ...(session.isUser ? own : []),
    { name: 'Keyboard shortcuts', act: showKeys },
    ...(session.open ? [] : [{ name: 'Sign out', act: () => session.signOut() }]),
  ];
}

/** The actions in a project. @param {Session} session @param {ProjectSummary} project @returns {readonly Action[]} */
export function projectActions(session, { id, name: also, environments }) {
  const files = [
    { name: `Export the flags of ${id}`, also, act: () => exportFlags(session, id, environments) },
    { name: `Import flags into ${id}`, also, act: () => importFlags(session, id, environments) },
  ];
  return [
    ...(session.may('flags', id)
      ? [{ name: `New flag in ${id}`, also, act: () => createFlag(session, id) }]
      : []),
    ...(session.may('project', id) ? files : []),
  ];
}

/** Words that ask for a switch, with the position where they say it, and those that only join others. @type {ReadonlyMap<string, boolean | null>} */
const SWITCHES = new Map(
  Object.entries({
    switch: null,
    turn: null,
    on: true,
    enable: true,
    off: false,
    disable: false,
    kill: false,
  }),
);
const JOINING = new Set(['in', 'for', 'the', 'flag']);

/** Letters by which an environment is known. */
const BEGINNING = 3;

/** @typedef {{ flag: string, archives: boolean, position: boolean | null, environments: readonly string[] }} Deed `position`: null where the other one is meant */

/**
 * Reads from a text, its words in any order, what is to be done to a flag: switch new-checkout off in staging. Null where it asks for nothing.
 * @param {Session} session
 * @param {readonly string[]} words in small letters
 * @returns {Deed | null}
 */
export function deedIn({ environmentTypes }, words) {
  const archives = words.includes('archive');
  const positions = words.flatMap((word) => (SWITCHES.has(word) ? [SWITCHES.get(word) ?? null] : []));
  if (!archives && positions.length === 0) return null;
  const all = [...environmentTypes.value.keys()];
  /** @param {string} word */
  const meantBy = (word) =>
    word.length < BEGINNING ? [] : all.filter((name) => name.toLowerCase().startsWith(word));
  const rest = words.filter((word) => !SWITCHES.has(word) && !JOINING.has(word) && word !== 'archive');
  const flag = rest.filter((word) => archives || meantBy(word).length === 0).join(' ');
  if (flag === '') return null;
  const environments = rest.flatMap(meantBy);
  const position = positions.find((one) => one !== null) ?? null;
  return { flag, archives, position, environments: environments.length > 0 ? environments : all };
}

/** The actions on a flag that a deed asks for: each asks the same question, and has the same undo, as on the flag's page. @param {Session} session @param {FoundFlag} flag @param {Deed} deed @returns {readonly Action[]} */
export function flagActions(session, { project, name, environments }, { archives, position, ...deed }) {
  if (!session.may('flags', project)) return [];
  if (archives) return [{ name: `Archive ${name}`, act: () => archiveFlags(session, project, [name]) }];
  return environments
    .filter((one) => deed.environments.includes(one.name) && one.enabled !== position)
    .map(({ name: environment, enabled, hasStrategies }) => ({
      name: `Switch ${name} ${enabled ? 'off' : 'on'} in ${environment}`,
      async act() {
        const of = { project, flag: name, environment };
        const switching = await askToSwitch(session, of, !enabled, hasStrategies);
        if (switching !== null) await tryChangeFlag(session, { project, flag: name, ...switching });
      },
    }));
}
