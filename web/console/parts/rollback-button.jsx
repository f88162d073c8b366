/** Brings a flag, or the flags of a project, back to what they were after an event, once it is clear what that changes. */
import { messageOf } from '../client.js';
import { rollBack } from '../edit/rollback.jsx';
import { dateTime } from '../format.js';
import { notice } from '../notices.jsx';
import { useSession } from '../session.js';

/** @import { LoggedEvent } from '../types.d.ts' */

/**
 * @param {object} props
 * @param {string} props.at the path of what is brought back
 * @param {'flag' | 'project'} props.what
 * @param {LoggedEvent} props.event
 * @param {string} props.text
 * @param {string} [props.label] for those who hear the page; the text unless it is given
 * @param {string} [props.looks] the class
 * @param {() => void} [props.after]
 */
export function RollBackButton({ at, what, event, text, label, looks = 'quiet', after }) {
  const session = useSession();
  async function act() {
    try {
      await rollBack(session, { at, eventId: event.id, when: dateTime(event.createdAt), what });
      after?.();
      void session.feed.look();
    } catch (error) {
      notice('refused', messageOf(error));
    }
  }
  return (
    <button type="button" class={looks} aria-label={label} onClick={() => void act()}>
      {text}
    </button>
  );
}
