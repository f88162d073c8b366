/** Brings a flag back to what it was after an event, once it is clear what that changes. */
import { ask } from './ask.js';
import { h } from './dom.js';
import { fieldLines } from './event-item.js';
import { dateTime } from './format.js';
import { notice } from './notices.js';
import { deedOf } from './words.js';

/** @import { LoggedEvent, Session } from './types.d.ts' */

/**
 * @param {Session} session
 * @param {string} at the path of the flag
 * @param {LoggedEvent} event
 */
export async function rollBack({ client }, at, event) {
  const body = { eventId: event.id };
  /** @type {{ events: LoggedEvent[] }} */
  const { events } = await client.post(`${at}/rollback?dryRun=true`, body);
  if (events.length === 0) {
    notice('done', 'The flag is already as it was then.');
    return;
  }
  const agreed = await ask(
    { title: 'Roll back?', agree: 'Roll back' },
    h(
      'p',
      null,
      `The flag becomes what it was after event #${event.id}, ${dateTime(event.createdAt)}. This changes:`,
    ),
    h(
      'ul',
      { class: 'rollback-list' },
      ...events.map((planned) => h('li', null, deedOf(planned), ...fieldLines(planned))),
    ),
  );
  if (!agreed) return;
  await client.post(`${at}/rollback`, body);
  notice('done', `Rolled back to event #${event.id}.`);
}
