/** Users, and the tokens with which people and applications come. */
import { h } from 'preact';
import { path } from '../client.js';
import {
  createApiToken,
  createPersonalToken,
  deleteApiToken,
  deletePersonalToken,
  deleteUser,
  editUser,
  ROOT_ROLES,
  userName,
} from '../edit/user-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { Listing, ListingHead, MainAction, RowAction } from '../parts/listing.js';
import { TimeAgo } from '../parts/time-ago.js';
import { useResource, whenLoaded } from '../resource.js';
import { useSession } from '../session.js';

/** @import { ApiToken, PersonalToken, User } from '../types.d.ts' */

export function UsersView() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/user-admin'), [session]);
  useEvents(session, () => void loaded.refresh());
  const columns = [
    { title: 'User', isMain: true },
    ...['Username', 'Email', 'Root role', 'Last seen'].map((title) => ({ title })),
  ];
  /** @param {User} user */
  const row = (user) => ({
    key: String(user.id),
    cells: [
      userName(user),
      user.username ?? '',
      user.email ?? '',
      ROOT_ROLES.find(([id]) => id === String(user.rootRole))?.[1] ?? '',
      lastSeen(user.seenAt),
    ],
    actions: [
      h(RowAction, { key: 'edit', text: 'Edit', of: userName(user), act: () => editUser(session, user) }),
      h(RowAction, {
        key: 'token',
        text: 'New token',
        of: `for ${userName(user)}`,
        act: () =>
          createPersonalToken(
            session,
            path`/user-admin/${user.id}/tokens`,
            userName(user),
            () => void loaded.refresh(),
          ),
      }),
      h(RowAction, {
        key: 'delete',
        text: 'Delete',
        of: userName(user),
        act: () => deleteUser(session, user),
      }),
    ],
  });
  return [
    h(ListingHead, {
      key: 'head',
      title: 'Users',
      action: h(MainAction, { text: 'New user', act: () => editUser(session, null) }),
    }),
    whenLoaded(loaded, (/** @type {{ users: User[] }} */ { users }) =>
      h(Listing, {
        key: 'list',
        label: 'Users',
        columns,
        rows: users.map(row),
        none: 'There are no users yet',
      }),
    ),
  ];
}

/** @param {string | null} iso */
const lastSeen = (iso) => (iso === null ? 'never' : h(TimeAgo, { iso }));

export function TokensView() {
  const session = useSession();
  const { isUser } = session;
  return [
    h(ListingHead, { key: 'head', title: 'Tokens' }),
    isUser ? h(PersonalTokens, { key: 'personal' }) : null,
    session.may('admin') ? h(ApiTokens, { key: 'api' }) : null,
    !isUser && !session.may('admin')
      ? h('p', { key: 'none', class: 'muted' }, 'API tokens are managed by Admins.')
      : null,
  ];
}

function PersonalTokens() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/user/tokens'), [session]);
  useEvents(session, () => void loaded.refresh());
  const whose = session.me.user.name || session.me.user.username || 'you';
  const columns = [{ title: 'Your tokens', isMain: true }, { title: 'Expires' }, { title: 'Last used' }];
  /** @param {PersonalToken} token */
  const nameOf = ({ id, description }) => description || `Token ${id}`;
  /** @param {PersonalToken} token */
  const row = (token) => ({
    key: String(token.id),
    cells: [nameOf(token), date(token.expiresAt), lastSeen(token.seenAt)],
    actions: h(RowAction, {
      text: 'Delete',
      of: nameOf(token),
      act: () => deletePersonalToken(session, token, '/user/tokens').then(loaded.refresh),
    }),
  });
  return h(
    'section',
    { class: 'part' },
    h(
      'div',
      { class: 'title-row' },
      h('h2', null, 'Your tokens'),
      h(MainAction, {
        text: 'New personal token',
        act: () => createPersonalToken(session, '/user/tokens', whose, () => void loaded.refresh()),
      }),
    ),
    whenLoaded(loaded, (/** @type {{ pats: PersonalToken[] }} */ { pats }) =>
      h(Listing, { label: 'Your tokens', columns, rows: pats.map(row), none: 'You have no tokens' }),
    ),
  );
}

function ApiTokens() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/api-tokens'), [session]);
  useEvents(session, () => void loaded.refresh());
  const columns = [
    { title: 'Token', isMain: true },
    ...['Type', 'Projects', 'Environment', 'Expires', 'Last used'].map((title) => ({ title })),
  ];
  const projects = session.projects.value.map(({ id }) => id);
  /** @param {ApiToken} token */
  const row = (token) => ({
    key: token.digest,
    cells: [
      token.tokenName,
      token.type,
      token.projects.join(', '),
      token.environment,
      token.expiresAt === null ? 'never' : date(token.expiresAt),
      lastSeen(token.seenAt),
    ],
    actions: h(RowAction, {
      text: 'Delete',
      of: token.tokenName,
      act: () => deleteApiToken(session, token).then(loaded.refresh),
    }),
  });
  return h(
    'section',
    { class: 'part' },
    h(
      'div',
      { class: 'title-row' },
      h('h2', null, 'API tokens'),
      h(MainAction, {
        text: 'New API token',
        act: () => createApiToken(session, projects, () => void loaded.refresh()),
      }),
    ),
    whenLoaded(loaded, (/** @type {{ tokens: ApiToken[] }} */ { tokens }) =>
      h(Listing, { label: 'API tokens', columns, rows: tokens.map(row), none: 'There are no API tokens' }),
    ),
  );
}
