/** Brings a flag back to what it was after an event, once it is clear what that changes. */
import { affectedBy } from '../audience.js';
import { askWay, skipText, takeBack } from '../changes.jsx';
import { path } from '../client.js';
import { counted } from '../format.js';
import { ask } from '../forms/ask.jsx';
import { notice } from '../notices.jsx';
import { PlannedEvents } from '../parts/event-item.jsx';
import { proposalsOfEvents, propose } from '../proposals.jsx';
import { Sentence } from '../said.jsx';
import { isProduction } from '../session.js';

/** @import { LoggedEvent, Session } from '../types.d.ts' */

/** @typedef {{ project: string, name?: string }} RolledBack a flag, or the flags of a project */

/** @param {RolledBack} of */
const pathOf = ({ project, name }) =>
  path`/projects/${project}` + (name === undefined ? '' : path`/features/${name}`);

/**
 * @param {Session} session
 * @param {RolledBack} of
 * @param {{ eventId: number, when?: string }} to `when`: the time of the event
 */
export async function rollBack(session, of, { eventId, when }) {
  const { client } = session;
  const at = pathOf(of);
  const what = of.name === undefined ? 'project' : 'flag';
  const stays = what === 'flag' ? '' : 'Flags created, archived or deleted since then do not change. ';
  const body = { eventId };
  /** @type {{ events: LoggedEvent[] }} */
  const { events } = await client.post(`${at}/rollback?dryRun=true`, body);
  if (events.length === 0) {
    notice('done', `The ${what} already matches that point in time.`);
    return;
  }
  if (!(await proposeInstead(session, of, events, `To bring the ${what} back to event #${eventId}`))) return;
  const production = await productionIn(session, events, of);
  const agreed = await ask({
    title: production === null ? 'Roll back?' : 'Change production?',
    agree: production === null ? 'Roll back' : `Roll back in ${production.environments.join(' and ')}`,
    danger: production !== null,
    body: (
      <>
        <p>{`The ${what} will be restored to event #${eventId}${when === undefined ? '' : `, ${when}`}. ${stays}Changes:`}</p>
        <PlannedEvents events={events} />
        {production?.affected.map((who) => (
          <p key={who}>
            <Sentence>{who}</Sentence>
          </p>
        ))}
      </>
    ),
  });
  if (!agreed) return;
  await client.post(`${at}/rollback`, body);
  notice('done', `Rolled back to event #${eventId}.`);
}

/**
 * Proposes what planned events change where change requests are taken. Resolves to whether the events are to be made: where none is proposed, or
 * the caller may make them without a request, and wants that.
 * @param {Session} session
 * @param {RolledBack} of
 * @param {readonly LoggedEvent[]} events
 * @param {string} purpose
 */
async function proposeInstead(session, of, events, purpose) {
  const proposals = await proposalsOfEvents(session, of, events);
  if (proposals.length === 0) return true;
  const proposed = events.filter((event) => proposals.some((one) => one.environment === event.environment));
  const rest = events.length - proposed.length;
  const way = await askWay(
    session,
    proposals,
    <>
      <p>{`${purpose}, this is proposed:`}</p>
      <PlannedEvents events={proposed} />
      {rest === 0 ? null : (
        <p>{`A rollback is one change, so ${counted(rest, 'other change waits', 'other changes wait')}: roll back again once the request is applied.`}</p>
      )}
      <p>
        <Sentence>{skipText(session, proposals)}</Sentence>
      </p>
    </>,
  );
  if (way === 'propose') await propose(session, proposals, (undo) => takeBack(session, undo));
  return way === 'anyway';
}

/**
 * The environments of production in which somebody gets something else once the events have happened, and who that is in the case of one
 * flag; null where there are none.
 * @param {Session} session
 * @param {readonly LoggedEvent[]} events
 * @param {RolledBack} of
 */
async function productionIn(session, events, { project, name }) {
  const changed = new Set(events.map(({ environment }) => environment ?? ''));
  const environments = [];
  const affected = [];
  for (const environment of changed) {
    if (!isProduction(session, environment)) continue;
    const who =
      name === undefined ? '' : await affectedBy(session, { project, name }, environment, () => true);
    if (who !== null) environments.push(environment);
    if (who) affected.push(who);
  }
  return environments.length === 0 ? null : { environments, affected };
}
