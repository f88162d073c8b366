/** Marks a flag or a project as a favorite of whoever is signed in. */

import { changing } from '../client.js';
import { noticeRefusal } from '../notices.jsx';
import { visible } from '../said.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';

/** @param {{ at: string, name: string, isFavorite: boolean }} props `at`: the path of what is marked */
export function Star({ at, name, isFavorite }) {
  const session = useSession();
  // Favorites are those of a user: a token, or anybody where authentication is off, has none.
  if (!session.isUser) return null;
  async function turn() {
    try {
      await session.client.change(changing(isFavorite ? 'DELETE' : 'POST', `${at}/favorites`));
    } catch (error) {
      noticeRefusal(error);
    }
    void session.feed.look();
  }
  return (
    <Button
      looks="star"
      aria-pressed={isFavorite}
      aria-label={`Favorite ${visible(name)}`}
      title={isFavorite ? 'A favorite of yours' : 'Mark as a favorite'}
      act={() => turn()}
    >
      <span aria-hidden="true">{isFavorite ? '★' : '☆'}</span>
    </Button>
  );
}
