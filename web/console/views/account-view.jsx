/** The page of the person who is signed in: their rights, their password, and where else they are signed in. */
import { changeOwnPassword, endEverySession, endSessionOf } from '../edit/account-edits.js';
import { date } from '../format.js';
import { Button } from '../parts/button.jsx';
import { ProjectLink } from '../parts/links.jsx';
import { Listing, ListingHead, Part, RowAction } from '../parts/listing.jsx';
import { Empty } from '../parts/states.jsx';
import { Facts } from '../parts/tiles.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { callerName, useSession } from '../session.js';
import { ownSessions } from '../sessions.js';

/** @import { OwnSession } from '../types.d.ts' */

/** @type {Readonly<Record<OwnSession['begunWith'], string>>} */
const WAYS = { password: 'Password', provider: 'OpenID Connect', token: 'Token' };

export function AccountView() {
  const session = useSession();
  const sessions = useResource(ownSessions, [session], ({ type }) => type.startsWith('pat-'));
  if (session.open) {
    return (
      <>
        <ListingHead title="Your account" />
        <Empty title="Sign-in is off">Authentication is off: anyone can do everything.</Empty>
      </>
    );
  }
  const { me, profile } = session;
  const mine = session.projects.value.filter(({ id }) => profile.projects.includes(id));
  return (
    <>
      <ListingHead
        title={callerName(session)}
        lead={profile.rootRole.description}
        action={
          session.isUser ? (
            <Button act={() => changeOwnPassword(session, () => void sessions.refresh())}>
              Change password…
            </Button>
          ) : null
        }
      />
      <Facts
        of={[
          ['Root role', profile.rootRole.name],
          ['Username', me.user.username],
          ['Email', me.user.email],
          ['A role in', mine.map(({ id }) => <ProjectLink key={id} id={id} />)],
        ]}
      />
      <Part title="Your sessions" action={<Button act={() => endEverySession(session)}>End all…</Button>}>
        {whenLoaded(sessions, (loaded) => (
          <Sessions of={loaded} refresh={() => void sessions.refresh()} />
        ))}
      </Part>
    </>
  );
}

/** @param {{ of: readonly OwnSession[], refresh: () => void }} props */
function Sessions({ of, refresh }) {
  const columns = ['Signed in', 'With', 'Last used', 'Expires'];
  const rows = [...of]
    .sort((one, other) => Number(other.isCurrent) - Number(one.isCurrent) || other.id - one.id)
    .map((one) => ({
      key: String(one.id),
      cells: [
        <TimeAgo iso={one.createdAt} />,
        WAYS[one.begunWith],
        one.isCurrent ? <span class="badge">this browser</span> : <TimeAgo iso={one.seenAt} />,
        date(one.expiresAt),
      ],
      actions: one.isCurrent ? null : (
        <RowAction
          text="End"
          of={`the session of ${date(one.createdAt)}`}
          act={() => endSessionOf(one, refresh)}
        />
      ),
    }));
  return <Listing label="Your sessions" columns={columns} rows={rows} none="You have no sessions" />;
}
