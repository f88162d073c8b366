/** The tokens with which people and applications come. */
import { h } from 'preact';
import { createPersonalToken, deletePersonalToken } from '../edit/token-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { ApiTokens } from '../parts/api-tokens.js';
import { Listing, ListingHead, MainAction, RowAction } from '../parts/listing.js';
import { LastTime } from '../parts/time-ago.js';
import { useResource, whenLoaded } from '../resource.js';
import { callerName, useSession } from '../session.js';

/** @import { PersonalToken } from '../types.d.ts' */

export function TokensView() {
  const session = useSession();
  const { isUser } = session;
  return [
    h(ListingHead, { key: 'head', title: 'Tokens' }),
    isUser ? h(PersonalTokens, { key: 'personal' }) : null,
    session.may('admin') ? h(ApiTokens, { key: 'api', project: null }) : null,
    !isUser && !session.may('admin')
      ? h(
          'p',
          { key: 'none', class: 'muted' },
          'API tokens are managed by Admins, and those of a project by its Owners.',
        )
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
