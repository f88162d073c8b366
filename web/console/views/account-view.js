/** Whoever is signed in: what they may do, their password, and where else they are signed in. */
import { h } from 'preact';
import { changeOwnPassword, endEverySession, endSessionOf } from '../edit/account-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { Listing, ListingHead, RowAction } from '../parts/listing.js';
import { Empty } from '../parts/states.js';
import { TimeAgo } from '../parts/time-ago.js';
import { flagsOf, hrefOf } from '../place.js';
import { useResource, whenLoaded } from '../resource.js';
import { callerName, useSession } from '../session.js';
import { ownSessions } from '../sessions.js';

/** @import { OwnSession } from '../types.d.ts' */

/** @type {Readonly<Record<OwnSession['begunWith'], string>>} */
const WAYS = { password: 'Password', provider: 'OpenID Connect', token: 'Token' };

export function AccountView() {
  const session = useSession();
  const sessions = useResource(ownSessions, [session]);
  useEvents(session, (events) => {
    if (events.some(({ type }) => type.startsWith('pat-'))) void sessions.refresh();
  });
  if (session.open) {
    return [
      h(ListingHead, { key: 'head', title: 'Your account' }),
      h(
        Empty,
        { key: 'none', title: 'Nobody signs in here' },
        'Authentication is off: everybody may do everything.',
      ),
    ];
  }
  return [
    h(ListingHead, {
      key: 'head',
      title: callerName(session),
      lead: session.profile.rootRole.description,
      action: session.isUser
        ? h(
            'button',
            {
              type: 'button',
              class: 'button',
              onClick: () => void changeOwnPassword(session, () => void sessions.refresh()),
            },
            'Change password…',
          )
        : null,
    }),
    h(Facts, { key: 'facts' }),
    h(
      'section',
      { key: 'sessions', class: 'part' },
      h(
        'div',
        { class: 'title-row' },
        h('h2', null, 'Your sessions'),
        h(
          'button',
          { type: 'button', class: 'button', onClick: () => void endEverySession(session) },
          'End all…',
        ),
      ),
      whenLoaded(sessions, (loaded) => h(Sessions, { of: loaded, refresh: () => void sessions.refresh() })),
    ),
  ];
}

function Facts() {
  const { me, profile, projects } = useSession();
  const { username, email } = me.user;
  const mine = projects.value.filter(({ id }) => profile.projects.includes(id));
  return h(
    'dl',
    { class: 'tiles' },
    Object.entries({ 'Root role': profile.rootRole.name, Username: username, Email: email }).map(
      ([title, value]) =>
        value === undefined || value === ''
          ? null
          : h('div', { key: title, class: 'tile' }, h('dt', null, title), h('dd', null, value)),
    ),
    mine.length === 0
      ? null
      : h(
          'div',
          { key: 'projects', class: 'tile' },
          h('dt', null, 'A role in'),
          mine.map(({ id, name }) => h('dd', { key: id }, h('a', { href: hrefOf(flagsOf(id)) }, name))),
        ),
  );
}

/** @param {{ of: readonly OwnSession[], refresh: () => void }} props */
function Sessions({ of, refresh }) {
  const columns = [
    { title: 'Signed in', isMain: true },
    ...['With', 'Last used', 'Ends at the latest'].map((title) => ({ title })),
  ];
  const rows = [...of]
    .sort((one, other) => Number(other.isCurrent) - Number(one.isCurrent) || other.id - one.id)
    .map((one) => ({
      key: String(one.id),
      cells: [
        h(TimeAgo, { iso: one.createdAt }),
        WAYS[one.begunWith],
        one.isCurrent ? h('span', { class: 'badge' }, 'this browser') : h(TimeAgo, { iso: one.seenAt }),
        date(one.expiresAt),
      ],
      actions: one.isCurrent
        ? null
        : h(RowAction, {
            text: 'End',
            of: `the session of ${date(one.createdAt)}`,
            act: () => endSessionOf(one, refresh),
          }),
    }));
  return h(Listing, { label: 'Your sessions', columns, rows, none: 'You have no sessions' });
}
