/** The tokens with which applications come: of all projects, or those that name one. */
import { apiTokensPath, createApiToken, deleteApiToken } from '../edit/token-edits.js';
import { useEvents } from '../feed.js';
import { date } from '../format.js';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';
import { Listing, PartAction, RowAction } from './listing.jsx';
import { LastTime } from './time-ago.jsx';

/** @import { ApiToken } from '../types.d.ts' */

/** @param {{ project: string | null }} props null for those of all projects */
export function ApiTokens({ project }) {
  const session = useSession();
  const at = apiTokensPath(project);
  const loaded = useResource(() => session.client.get(at), [session, at]);
  useEvents(session, () => void loaded.refresh());
  const columns = [
    { title: 'Token', isMain: true },
    ...['Type', 'Projects', 'Environment', 'Expires', 'Last used'].map((title) => ({ title })),
  ];
  /** @param {ApiToken} token */
  const row = (token) => ({
    key: token.digest,
    cells: [
      token.tokenName,
      token.type,
      token.projects.join(', '),
      token.environment,
      token.expiresAt === null ? 'never' : date(token.expiresAt),
      <LastTime iso={token.seenAt} />,
    ],
    actions: (
      <RowAction
        text="Delete"
        of={token.tokenName}
        act={() => deleteApiToken(session, token, project).then(loaded.refresh)}
      />
    ),
  });
  return (
    <section class="part">
      <div class="title-row">
        <h2>API tokens</h2>
        <PartAction
          text="New API token"
          act={() => createApiToken(session, project, () => void loaded.refresh())}
        />
      </div>
      {whenLoaded(loaded, (/** @type {{ tokens: ApiToken[] }} */ { tokens }) => (
        <Listing
          label="API tokens"
          columns={columns}
          rows={tokens.map(row)}
          none="There are no API tokens"
          next="Each application reads its flags with one."
        />
      ))}
    </section>
  );
}
