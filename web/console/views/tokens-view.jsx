/** The tokens with which people and applications come. */
import { apiTokens, personalTokens } from '../kinds/tokens.jsx';
import { ListingHead } from '../parts/listing.jsx';
import { useSession } from '../session.js';
import { KindPart } from './kind-view.jsx';

const [MINE, ALL] = [personalTokens('/user/tokens', null), apiTokens(null)];

export function TokensView() {
  const { isUser, may } = useSession();
  return (
    <>
      <ListingHead title="Tokens" />
      {isUser ? <KindPart kind={MINE} /> : null}
      {may('admin') ? <KindPart kind={ALL} /> : null}
      {!isUser && !may('admin') ? (
        <p class="muted">API tokens are managed by Admins, and those of a project by its Owners.</p>
      ) : null}
    </>
  );
}
