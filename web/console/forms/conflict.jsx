/** Somebody else changed what is edited while a form was open: who, when, what, and how to take both. */
import { changesOf } from '../differences.js';
import { Button } from '../parts/button.jsx';
import { DifferenceLine } from '../parts/difference-line.jsx';
import { Changes } from '../parts/event-item.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { Name } from '../said.jsx';
import { deedOf } from '../words.js';

/** @import { Client } from '../client.js' */
/** @import { Edit, EventPage, LoggedEvent, Pinned, Session } from '../types.d.ts' */

/** Events of others that are listed. */
const LISTED_MAX = 10;

/**
 * @typedef {object} ConflictState
 * @property {readonly LoggedEvent[]} events of others, newest first
 * @property {Record<string, unknown> | null} theirs null when what was edited is gone
 * @property {Record<string, unknown>} mine
 * @property {Record<string, unknown>} merged
 * @property {readonly string[]} both fields that both changed, each in another way
 * @property {string} etag of the flag as it is now
 */

/**
 * @param {Session} session
 * @param {{ edit: Edit<any>, base: { values: any, etag: string }, mine: any }} edited
 * @returns {Promise<ConflictState>}
 */
export async function conflictOf({ client }, { edit, base, mine }) {
  const { of, pinned } = edit;
  if (pinned === undefined) throw new Error('nothing says what this was made from');
  const since = of === undefined ? pinned.since : revisionOf(base.etag);
  const [{ body, etag }, events] = await Promise.all([
    client.read(pinned.at),
    eventsSince(client, { ...pinned, since }),
  ]);
  const theirs = pinned.valuesIn(body);
  return { events, theirs, mine, ...mergedOf(base.values, mine, theirs ?? base.values), etag };
}

/**
 * The changes that others made to it, newest first.
 * @param {Client} client
 * @param {Pick<Pinned<any>, 'search' | 'since' | 'isAbout'>} of
 * @returns {Promise<readonly LoggedEvent[]>}
 */
export async function eventsSince(client, { search, since, isAbout = () => true }) {
  /** @type {EventPage} */
  const { events } = await client.post('/events/search', { ...search, limit: LISTED_MAX });
  return events.filter((event) => event.id > since && isAbout(event));
}

/** The event id in an ETag, which begins with it. @param {string} etag */
export function revisionOf(etag) {
  return Number(/^"(\d+)/.exec(etag)?.[1] ?? 0);
}

/**
 * Field by field: what only one of the two changed is theirs or mine, and what both changed is mine until decided.
 * @param {Record<string, unknown>} base
 * @param {Record<string, unknown>} mine
 * @param {Record<string, unknown>} theirs
 */
export function mergedOf(base, mine, theirs) {
  /** @type {Record<string, unknown>} */
  const merged = {};
  const both = [];
  for (const name of Object.keys(mine)) {
    const isMine = !isSame(base[name], mine[name]);
    merged[name] = isMine ? mine[name] : theirs[name];
    if (isMine && !isSame(base[name], theirs[name]) && !isSame(mine[name], theirs[name])) both.push(name);
  }
  return { merged, both };
}

/** @param {unknown} one @param {unknown} other */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** @param {{ of: ConflictState, resolve: (merged: object, theirs: object, etag: string) => void, close: () => void }} props */
export function Conflict({ of: { events, theirs, mine, merged, both, etag }, resolve, close }) {
  return (
    <section class="box conflict" role="alert" tabIndex={-1} data-fault>
      <ByOthers events={events} />
      {theirs === null ? (
        <p>What you edited was deleted, so your change cannot be saved.</p>
      ) : (
        <>
          {both.length === 0 ? null : <p>Theirs, and yours:</p>}
          {changesOf({ preData: only(both, theirs), data: only(both, mine) }).map((one) => (
            <DifferenceLine key={one.name} of={one} />
          ))}
        </>
      )}
      <div class="row question-answers">
        <Button act={close}>Keep only theirs</Button>
        {theirs === null ? null : (
          <Button looks="button button-main" act={() => resolve(merged, theirs, etag)}>
            {both.length === 0 ? 'Merge' : 'Merge, preferring mine'}
          </Button>
        )}
      </div>
    </section>
  );
}

/** @param {readonly string[]} names @param {Record<string, unknown>} values */
const only = (names, values) => Object.fromEntries(names.map((name) => [name, values[name]]));

/** Shows who was faster, and what they did. @param {{ events: readonly LoggedEvent[] }} props */
export function ByOthers({ events }) {
  const [last] = events;
  return (
    <>
      <p class="strong">
        {last === undefined ? (
          'This was changed in the meantime'
        ) : (
          <>
            <Name text={last.createdBy} />
            {' changed this '}
            <TimeAgo iso={last.createdAt} />
          </>
        )}
      </p>
      <ul>
        {events.map((event) => (
          <li key={event.id}>
            {deedOf(event)}
            <Changes of={event} />
          </li>
        ))}
      </ul>
    </>
  );
}
