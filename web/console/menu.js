/** The pages that need nothing but their name, as the menu groups them, and the finder finds them. */

/** @import { PlainView, Session } from './types.d.ts' */

/** @typedef {readonly [text: string, icon: string, view: PlainView, isForAdmins?: true]} MenuPage */

/** Pages in sight of everybody. @type {readonly MenuPage[]} */
export const DAILY = [
  ['Home', 'home', 'home'],
  ['All flags', 'flag', 'all-flags'],
  ['Change requests', 'branch', 'change-requests'],
  ['Playground', 'check', 'playground'],
];

/** Below the projects that one uses. @type {MenuPage} */
export const ALL_PROJECTS = ['All projects', 'project', 'projects'];

/** Folded until they are needed; the first page of each is that of its title. @type {readonly (readonly [title: string, icon: string, pages: readonly MenuPage[], isForAdmins: boolean])[]} */
export const GROUPS = [
  [
    'Configure',
    'settings',
    [
      ['Tokens', 'key', 'tokens'],
      ['Segments', 'segment', 'segments'],
      ['Context fields', 'field', 'context-fields'],
      ['Environments', 'environment', 'environments'],
      ['Applications', 'application', 'applications'],
      ['Strategy types', 'branch', 'strategy-types'],
      ['Tag types', 'tag', 'tag-types'],
      ['Events', 'history', 'events'],
    ],
    false,
  ],
  [
    'Admin',
    'role',
    [
      ['Users', 'person', 'users', true],
      ['Groups', 'people', 'groups'],
      ['Roles', 'role', 'roles'],
      ['Service accounts', 'program', 'service-accounts', true],
      ['Integrations', 'link', 'integrations', true],
      ['Health', 'health', 'health'],
      ['Server', 'settings', 'server', true],
    ],
    true,
  ],
];

/** Pages to which others lead. @type {readonly MenuPage[]} */
const OTHERS = [
  ['Stale flags', 'archive', 'stale-flags'],
  ['Your account', 'person', 'account'],
];

/** The pages that the caller may see, wherever the menu has them. @param {Session} session */
export const pagesOf = (session) =>
  [...DAILY, ALL_PROJECTS, ...GROUPS.flatMap(([, , pages]) => pages), ...OTHERS].filter(
    ([, , , isForAdmins]) => isForAdmins !== true || session.may('admin'),
  );
