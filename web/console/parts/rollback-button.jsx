/** Brings a flag, or the flags of a project, back to what they were after an event, once it is clear what that changes. */
import { readAgain } from '../changes.jsx';
import { messageOf } from '../client.js';
import { rollBack } from '../edit/rollback.jsx';
import { dateTime } from '../format.js';
import { notice } from '../notices.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';

/** @import { LoggedEvent } from '../types.d.ts' */

/**
 * @param {{ at: string, what: 'flag' | 'project', event: LoggedEvent, text: string, label?: string, looks?: string, after?: () => void }} props `at`: the path of what is brought back; `label`: for those who hear the page; the text unless it is given; `looks`: the class
 */
export function RollBackButton({ at, what, event, text, label, looks = 'quiet', after }) {
  const session = useSession();
  async function act() {
    try {
      await rollBack(session, { at, eventId: event.id, when: dateTime(event.createdAt), what });
      if (what === 'flag') await readAgain(session, at);
      after?.();
      void session.feed.look();
    } catch (error) {
      notice('refused', messageOf(error));
    }
  }
  return (
    <Button looks={looks} aria-label={label} act={() => act()}>
      {text}
    </Button>
  );
}
