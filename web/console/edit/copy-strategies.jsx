/** Gives a flag in one environment the strategies that it has in another, once it is clear what that changes. */
import { affectedBy } from '../audience.js';
import { changing, messageOf, path } from '../client.js';
import { counted } from '../format.js';
import { asOption } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { PlannedEvents } from '../parts/event-item.jsx';
import { useResource } from '../resource.jsx';
import { SessionContext } from '../session.js';

/** @import { LoggedEvent, Session } from '../types.d.ts' */
/** @import { At } from './strategy-edits.jsx' */

/** @param {Session} session @param {At} at */
export async function copyStrategies(session, at) {
  const { flag, etag, environment } = at;
  const { name } = environment;
  const sources = flag.environments.filter((one) => one.name !== name && one.strategies.length > 0);
  const values = { from: sources[0]?.name ?? '' };
  const to = path`/projects/${flag.project}/features/${flag.name}/environments/${name}/strategies/copy`;
  await openEdit(session, {
    title: `Copy strategies to ${name}`,
    agree: 'Copy',
    fields: [field('from', 'From', 'choice', { options: sources.map((one) => asOption(one.name)) })],
    values,
    // Only what is sent can be tried, and whoever tries it is somebody who is signed in.
    sentence: ({ from }) => (
      <SessionContext.Provider value={session}>
        <Preview session={session} to={to} from={from} environment={name} />
      </SessionContext.Provider>
    ),
    change: (now) => changing('POST', to, now),
    done: ({ from }) => `${flag.name} has the strategies of ${from} in ${name}.`,
    of: { project: flag.project, name: flag.name, etag, valuesIn: () => values },
    environment: () => name,
    affected: () => affectedBy(session, flag, name),
  });
}

/** The events that would be recorded. @param {{ session: Session, to: string, from: string, environment: string }} props */
function Preview({ session, to, from, environment }) {
  const { loaded, error } = useResource(
    /** @returns {Promise<{ events: readonly LoggedEvent[] }>} */
    () => session.client.post(`${to}?dryRun=true`, { from }),
    [session, to, from],
  );
  if (error.value !== null) return messageOf(error.value);
  if (loaded.value === null) return 'Previewing the changes…';
  const { events } = loaded.value.value;
  if (events.length === 0) return `Nothing changes: ${environment} has these strategies already.`;
  return (
    <>
      {`${counted(events.length, 'change')} in ${environment}, applied together:`}
      <PlannedEvents events={events} />
    </>
  );
}
