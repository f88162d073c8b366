/** The pages that need nothing but their name, as the menu groups them, and the finder finds them. */

/** @import { PlainView, Session } from './types.d.ts' */

/** @type {readonly (readonly [title: string, links: readonly (readonly [text: string, icon: string, view: PlainView, isForAdmins?: true])[]])[]} */
export const SECTIONS = [
  [
    'Flags',
    [
      ['All flags', 'flag', 'all-flags'],
      ['Change requests', 'branch', 'change-requests'],
      ['Stale flags', 'archive', 'stale-flags'],
      ['Playground', 'check', 'playground'],
    ],
  ],
  [
    'Targeting',
    [
      ['Segments', 'segment', 'segments'],
      ['Context fields', 'field', 'context-fields'],
      ['Strategy types', 'branch', 'strategy-types'],
      ['Tag types', 'tag', 'tag-types'],
    ],
  ],
  [
    'People',
    [
      ['Users', 'person', 'users', true],
      ['Groups', 'people', 'groups'],
      ['Roles', 'role', 'roles'],
      ['Service accounts', 'program', 'service-accounts', true],
      ['Tokens', 'key', 'tokens'],
    ],
  ],
  [
    'Service',
    [
      ['Environments', 'environment', 'environments'],
      ['Applications', 'application', 'applications'],
      ['Integrations', 'link', 'integrations', true],
      ['Events', 'history', 'events'],
      ['Health', 'health', 'health'],
      ['Server', 'settings', 'server', true],
    ],
  ],
];

/** The entries that the caller may see. @param {Session} session */
export const pagesOf = (session) =>
  SECTIONS.flatMap(([, links]) =>
    links.filter(([, , , isForAdmins]) => isForAdmins !== true || session.may('admin')),
  );
