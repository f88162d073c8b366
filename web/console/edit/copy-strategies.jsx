/** Gives a flag in one environment the strategies that it has in another, once it is clear what that changes. */
import { affectedBy } from '../audience.js';
import { changing, path } from '../client.js';
import { counted } from '../format.js';
import { asOption } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { PlannedEvents } from '../parts/event-item.jsx';
import { Preview } from '../resource.jsx';
import { pinnedFlag } from './pinned.js';

/** @import { LoggedEvent, Session } from '../types.d.ts' */
/** @import { At } from './strategy-edits.jsx' */

/** @typedef {{ events: readonly LoggedEvent[] }} Planned */

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
    sentence: (now) => (
      <Preview at={`${to}?dryRun=true`} body={now}>
        {(/** @type {Planned} */ { events }) =>
          events.length === 0 ? (
            `Nothing changes: ${name} has these strategies already.`
          ) : (
            <>
              {`${counted(events.length, 'change')} in ${name}, applied together:`}
              <PlannedEvents events={events} />
            </>
          )
        }
      </Preview>
    ),
    change: (now) => changing('POST', to, now),
    done: ({ from }) => `${flag.name} has the strategies of ${from} in ${name}.`,
    ...pinnedFlag(flag, etag, () => values),
    environment: () => name,
    affected: () => affectedBy(session, flag, name),
  });
}
