/** The deliveries of an integration: their state, the last ones, and the ways to go on. */
import { changing, path } from '../client.js';
import { changeAtOnce } from '../edit/remove.jsx';
import { counted, dateTime } from '../format.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { openPanel } from '../forms/panel.jsx';
import { notice, noticeRefusal } from '../notices.jsx';
import { anyEvent, useRead, whenLoaded } from '../resource.jsx';
import { Name, said } from '../said.jsx';
import { useSession } from '../session.js';
import { deedOf } from '../words.js';
import { Button } from './button.jsx';
import { Listing } from './listing.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { Addon, Delivery, DeliveryState as Status, Session } from '../types.d.ts' */

/** @param {Addon} one */
export const showDeliveries = ({ id, provider, description }) =>
  openPanel(`Deliveries to ${said(description || provider)}`, <Deliveries id={id} />);

/** @type {Readonly<Record<Status['state'], string>>} */
const STATES = { sending: 'sending', retrying: 'failing, retried', parked: 'parked' };

/** @param {{ of: Status }} props */
const State = ({ of: { state } }) => (
  <span class={state === 'sending' ? 'badge' : 'badge badge-warn'}>{STATES[state]}</span>
);

/** Empty until the server has begun to send, as after a take-over. @param {{ id: number }} props */
export function DeliveryState({ id }) {
  const { loaded } = useRead(path`/addons/${id}/delivery`, anyEvent);
  return loaded.value === null ? null : <State of={loaded.value.value} />;
}

/** Integrations that are looked at for those that fail. */
const LOOKED_AT_MAX = 5;

/** Integrations that do not deliver, for those who may list them. @param {Session} session */
export async function failingIntegrations({ client, may }) {
  if (!may('admin')) return [];
  /** @type {{ addons: readonly Addon[] }} */
  const { addons } = await client.get('/addons');
  const looked = addons.filter(({ enabled }) => enabled).slice(0, LOOKED_AT_MAX);
  const found = await Promise.all(
    looked.map(async ({ id, provider, description }) => {
      /** @type {Status | null} */
      const status = await client.get(path`/addons/${id}/delivery`).catch(() => null);
      if (status === null || status.state === 'sending') return [];
      const name = description || provider;
      return [{ id, name, since: status.failingSince, isParked: status.state === 'parked' }];
    }),
  );
  return found.flat();
}

const OUTCOMES = { success: 'delivered', failed: 'failed', successWithErrors: 'delivered in part' };

/** @param {{ id: number }} props */
function Deliveries({ id }) {
  const session = useSession();
  const { client } = session;
  const at = path`/addons/${id}/delivery`;
  const status = useRead(at);
  const list = useRead(`${path`/addons/${id}/events`}?limit=100`);
  const refresh = () => {
    void status.refresh();
    void list.refresh();
  };
  const retry = async () => {
    await changeAtOnce(session, {
      change: changing('POST', `${at}/retry`),
      done: 'It is sent again.',
    });
    refresh();
  };
  const test = async () => {
    try {
      const { state } = await client.change(changing('POST', `${at}/test`));
      if (state === 'success') notice('done', 'The test was delivered.');
      else notice('refused', 'The test was not delivered.');
    } catch (error) {
      noticeRefusal(error);
    }
    refresh();
  };
  return (
    <>
      {whenLoaded(status, (/** @type {Status} */ now) => (
        <>
          <p class="row facts">
            <State of={now} />
            <span>{positionText(now)}</span>
            {now.failingSince === null ? null : <TimeAgo iso={now.failingSince} prefix="failing since " />}
          </p>
          <p class="row">
            {now.state === 'sending' ? null : <Button act={retry}>Send again</Button>}
            <Button act={test}>Send a test</Button>
            <Button act={() => goOn(session, at, now, refresh)}>Go on from an event…</Button>
            <Button act={refresh}>Refresh</Button>
          </p>
        </>
      ))}
      {whenLoaded(list, (/** @type {{ integrationEvents: readonly Delivery[] }} */ { integrationEvents }) => (
        <Listing
          label="Last deliveries"
          columns={['Event', 'Outcome', 'When', 'Reason']}
          rows={integrationEvents.map(({ id: key, event, details, state, createdAt, stateDetails }) => ({
            key,
            cells: [
              <Name text={eventText(event, details)} />,
              <span class={state === 'success' ? 'badge' : 'badge badge-warn'}>{OUTCOMES[state]}</span>,
              <TimeAgo iso={createdAt} />,
              <Name text={stateDetails} max={300} />,
            ],
          }))}
          none="Nothing was sent yet"
          next="The last 100 deliveries are listed here."
        />
      ))}
    </>
  );
}

/** @param {Status} now */
function positionText({ lastEventId, newestEventId, retryAt }) {
  const waiting = newestEventId - lastEventId;
  const at = waiting <= 0 ? 'up to date' : `at event ${lastEventId}, ${counted(waiting, 'event')} behind`;
  return retryAt === null ? at : `${at}; next attempt at ${dateTime(retryAt)}`;
}

/** @param {Delivery['event']} event @param {Delivery['details']} details */
function eventText(event, { eventId }) {
  if (eventId === null) return 'none';
  if (eventId === 0) return 'Test';
  if (event === null) return `#${eventId}`;
  return `#${eventId} ${[event.featureName ?? event.project ?? '', deedOf(event)].join(' ').trim()}`;
}

/** @param {Session} session @param {string} at @param {Status} now @param {() => void} after */
const goOn = (session, at, { lastEventId, newestEventId }, after) =>
  openEdit(session, {
    title: 'Go on from an event',
    agree: 'Go on',
    fields: [
      field('eventId', 'Next event', 'number', {
        required: true,
        hint: `Earlier ones are not sent any more; later ones are, even if they were sent before. The next new event is ${newestEventId + 1}.`,
      }),
    ],
    values: { eventId: lastEventId + 1 },
    sentence: ({ eventId }) => `Deliveries go on with event ${eventId}.`,
    change: (body) => changing('POST', `${at}/position`, body),
    done: ({ eventId }) => `Deliveries go on with event ${eventId}.`,
    after,
  });
