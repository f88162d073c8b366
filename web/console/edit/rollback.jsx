/** Brings a flag back to what it was after an event, once it is clear what that changes. */
import { ask } from '../forms/ask.jsx';
import { notice } from '../notices.jsx';
import { PlannedEvents } from '../parts/event-item.jsx';

/** @import { LoggedEvent, Session } from '../types.d.ts' */

/** The parts that are not brought back. */
const STAYS = {
  flag: '',
  project: 'Flags that were made, archived or deleted since stay as they are. ',
};

/**
 * @param {Session} session
 * @param {{ at: string, eventId: number, when?: string, what?: 'flag' | 'project' }} to `at`: the path of what is brought back; `when`: the time of the event
 */
export async function rollBack({ client }, { at, eventId, when, what = 'flag' }) {
  const body = { eventId };
  /** @type {{ events: LoggedEvent[] }} */
  const { events } = await client.post(`${at}/rollback?dryRun=true`, body);
  if (events.length === 0) {
    notice('done', `The ${what} is already as it was then.`);
    return;
  }
  const agreed = await ask({
    title: 'Roll back?',
    agree: 'Roll back',
    body: (
      <>
        <p>{`The ${what} becomes what it was after event #${eventId}${when === undefined ? '' : `, ${when}`}. ${STAYS[what]}This changes:`}</p>
        <PlannedEvents events={events} />
      </>
    ),
  });
  if (!agreed) return;
  await client.post(`${at}/rollback`, body);
  notice('done', `Rolled back to event #${eventId}.`);
}
