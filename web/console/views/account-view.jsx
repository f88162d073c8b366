/** Whoever is signed in: what they may do, their password, and where else they are signed in. */
import { changeOwnPassword, endEverySession, endSessionOf } from '../edit/account-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { Listing, ListingHead, RowAction } from '../parts/listing.jsx';
import { Empty } from '../parts/states.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { flagsOf, hrefOf } from '../place.js';
import { useResource, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
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
    return (
      <>
        <ListingHead title="Your account" />
        <Empty title="Nobody signs in here">Authentication is off: everybody may do everything.</Empty>
      </>
    );
  }
  return (
    <>
      <ListingHead
        title={callerName(session)}
        lead={session.profile.rootRole.description}
        action={
          session.isUser ? (
            <button
              type="button"
              class="button"
              onClick={() => void changeOwnPassword(session, () => void sessions.refresh())}
            >
              Change password…
            </button>
          ) : null
        }
      />
      <Facts />
      <section class="part">
        <div class="title-row">
          <h2>Your sessions</h2>
          <button type="button" class="button" onClick={() => void endEverySession(session)}>
            End all…
          </button>
        </div>
        {whenLoaded(sessions, (loaded) => (
          <Sessions of={loaded} refresh={() => void sessions.refresh()} />
        ))}
      </section>
    </>
  );
}

function Facts() {
  const { me, profile, projects } = useSession();
  const { username, email } = me.user;
  const mine = projects.value.filter(({ id }) => profile.projects.includes(id));
  return (
    <dl class="tiles">
      {Object.entries({ 'Root role': profile.rootRole.name, Username: username, Email: email }).map(
        ([title, value]) =>
          value === undefined || value === '' ? null : (
            <div key={title} class="tile">
              <dt>{title}</dt>
              <dd>
                <Name text={value} />
              </dd>
            </div>
          ),
      )}
      {mine.length === 0 ? null : (
        <div key="projects" class="tile">
          <dt>A role in</dt>
          {mine.map(({ id, name }) => (
            <dd key={id}>
              <a href={hrefOf(flagsOf(id))}>
                <Name text={name} />
              </a>
            </dd>
          ))}
        </div>
      )}
    </dl>
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
