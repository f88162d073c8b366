/** Who may come in: users with their roles and passwords, and invitations. */
import { path } from '../client.js';
import { createPersonalToken } from '../edit/token-edits.js';
import {
  createInvitation,
  createUser,
  deleteUser,
  editUser,
  setPassword,
  turnInvitation,
  userName,
} from '../edit/user-edits.jsx';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { Listing, ListingHead, MainAction, PartAction, RowAction } from '../parts/listing.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { Invitation, Role, User } from '../types.d.ts' */

/** @typedef {{ users: readonly User[], rootRoles: readonly Role[] }} LoadedUsers */

export function UsersView() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/user-admin'), [session]);
  useEvents(session, () => void loaded.refresh());
  return (
    <>
      <ListingHead title="Users" action={<MainAction text="New user" act={() => createUser(session)} />} />
      {whenLoaded(loaded, (/** @type {LoadedUsers} */ of) => (
        <Users key="users" {...of} />
      ))}
      <Invitations />
    </>
  );
}

/** @param {LoadedUsers} props */
function Users({ users, rootRoles }) {
  const session = useSession();
  const columns = [
    { title: 'User', isMain: true },
    ...['Username', 'Email', 'Root role', 'Signed in last'].map((title) => ({ title })),
  ];
  /** @param {User} user @param {string} text @param {() => unknown} act */
  const action = (user, text, act) => <RowAction key={text} text={text} of={userName(user)} act={act} />;
  const rows = users.map((user) => ({
    key: String(user.id),
    cells: [
      userName(user),
      user.username ?? '',
      user.email ?? '',
      rootRoles.find(({ id }) => id === user.rootRole)?.name ?? '',
      <LastTime iso={user.seenAt} />,
    ],
    actions: [
      action(user, 'Edit', () => editUser(session, user, rootRoles)),
      action(user, 'Password', () => setPassword(session, user)),
      action(user, 'New token', () =>
        createPersonalToken(session, path`/user-admin/${user.id}/tokens`, userName(user), () => undefined),
      ),
      action(user, 'Delete', () => deleteUser(session, user)),
    ],
  }));
  return <Listing label="Users" columns={columns} rows={rows} none="There are no users yet" />;
}

function Invitations() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/invite-link/tokens'), [session]);
  useEvents(session, () => void loaded.refresh());
  const columns = [
    { title: 'Invitation', isMain: true },
    ...['Root role', 'Expires', 'Joined by it', 'State'].map((title) => ({ title })),
  ];
  /** @param {Invitation} invitation */
  const row = (invitation) => {
    const { secret, name, role, expiresAt, users, enabled } = invitation;
    return {
      key: secret,
      cells: [
        name,
        role.name,
        date(expiresAt),
        users.map(({ name: called, username, email }) => called || username || email).join(', ') ||
          'nobody yet',
        stateOf(invitation),
      ],
      actions: (
        <RowAction
          text={enabled ? 'Switch off' : 'Switch on'}
          of={name}
          act={() => turnInvitation(session, invitation)}
        />
      ),
    };
  };
  return (
    <section class="part">
      <div class="title-row">
        <h2>Invitations</h2>
        <PartAction
          text="New invitation"
          act={() => createInvitation(session, () => void loaded.refresh())}
        />
      </div>
      {whenLoaded(loaded, (/** @type {{ tokens: readonly Invitation[] }} */ { tokens }) => (
        <Listing
          label="Invitations"
          columns={columns}
          rows={tokens.map(row)}
          none="There are no invitations"
          next="A link by which people become Viewers, until it expires."
        />
      ))}
    </section>
  );
}

/** @param {Invitation} invitation */
function stateOf({ enabled, expiresAt }) {
  if (!enabled) return 'off';
  return Date.parse(expiresAt) < Date.now() ? 'expired' : 'valid';
}
