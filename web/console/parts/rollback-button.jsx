/** Brings a flag, or the flags of a project, back to what they were after an event, once it is clear what that changes. */
import { flagPath, readAgain } from '../changes.jsx';
import { dateTime } from '../format.js';
import { later } from '../later.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';

/** @import { RolledBack } from '../edit/rollback.jsx' */
/** @import { LoggedEvent } from '../types.d.ts' */

const { rollBack } = later;

/**
 * @param {{ of: RolledBack, event: LoggedEvent, text: string, label?: string, looks?: string, after?: () => void }} props `label`: for those who hear the page; the text unless it is given; `looks`: the class
 */
export function RollBackButton({ of, event, text, label, looks = 'quiet', after }) {
  const session = useSession();
  async function act() {
    await rollBack(session, of, { eventId: event.id, when: dateTime(event.createdAt) });
    if (of.name !== undefined) await readAgain(session, flagPath(of.project, of.name));
    after?.();
    void session.feed.look();
  }
  return (
    <Button looks={looks} aria-label={label} act={() => act()}>
      {text}
    </Button>
  );
}
