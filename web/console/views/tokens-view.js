/** The tokens with which people and applications come. */
import { h } from 'preact';
import {
  createApiToken,
  createPersonalToken,
  deleteApiToken,
  deletePersonalToken,
} from '../edit/token-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { Listing, ListingHead, MainAction, RowAction } from '../parts/listing.js';
import { LastTime } from '../parts/time-ago.js';
import { useResource, whenLoaded } from '../resource.js';
import { callerName, useSession } from '../session.js';

/** @import { ApiToken, PersonalToken } from '../types.d.ts' */

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
  const whose = callerName(session);
  const columns = [{ title: 'Your tokens', isMain: true }, { title: 'Expires' }, { title: 'Last used' }];
  /** @param {PersonalToken} token */
  const nameOf = ({ id, description }) => description || `Token ${id}`;
  /** @param {PersonalToken} token */
  const row = (token) => ({
    key: String(token.id),
    cells: [nameOf(token), date(token.expiresAt), h(LastTime, { iso: token.seenAt })],
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
      h(LastTime, { iso: token.seenAt }),
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
