/** The tokens with which people and applications come. */
import { createPersonalToken, deletePersonalToken } from '../edit/token-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { ApiTokens } from '../parts/api-tokens.jsx';
import { Listing, ListingHead, PartAction, RowAction } from '../parts/listing.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { callerName, useSession } from '../session.js';

/** @import { PersonalToken } from '../types.d.ts' */

export function TokensView() {
  const session = useSession();
  const { isUser } = session;
  return (
    <>
      <ListingHead title="Tokens" />
      {isUser ? <PersonalTokens /> : null}
      {session.may('admin') ? <ApiTokens project={null} /> : null}
      {!isUser && !session.may('admin') ? (
        <p class="muted">API tokens are managed by Admins, and those of a project by its Owners.</p>
      ) : null}
    </>
  );
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
    cells: [nameOf(token), date(token.expiresAt), <LastTime iso={token.seenAt} />],
    actions: (
      <RowAction
        text="Delete"
        of={nameOf(token)}
        act={() => deletePersonalToken(session, token, '/user/tokens').then(loaded.refresh)}
      />
    ),
  });
  return (
    <section class="part">
      <div class="title-row">
        <h2>Your tokens</h2>
        <PartAction
          text="New personal token"
          act={() => createPersonalToken(session, '/user/tokens', whose, () => void loaded.refresh())}
        />
      </div>
      {whenLoaded(loaded, (/** @type {{ pats: PersonalToken[] }} */ { pats }) => (
        <Listing label="Your tokens" columns={columns} rows={pats.map(row)} none="You have no tokens" />
      ))}
    </section>
  );
}
