/** A choice among the moments after events, by a slider, and in what flags differ between two of them. */
import { useState } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { messageOf, Refused } from '../client.js';
import { differencesOf } from '../differences.js';
import { dateTime } from '../format.js';
import { useDelayed } from '../resource.jsx';
import { useSession } from '../session.js';
import { deedOf } from '../words.js';
import { Button } from './button.jsx';
import { DifferenceLine } from './difference-line.jsx';
import { FlagLink } from './links.jsx';
import { RollBackButton } from './rollback-button.jsx';

/** @import { ComponentChildren, TargetedEvent } from 'preact' */
/** @import { Client } from '../client.js' */
/** @import { Difference } from '../differences.js' */
/** @import { RolledBack } from '../edit/rollback.jsx' */
/** @import { Flag, LoggedEvent } from '../types.d.ts' */

/** While a slider moves, in milliseconds: not every moment that it passes is asked for. */
const MOVING_MS = 200;

/** Flags that are compared: the past of each is read from the log. */
export const COMPARED_MAX = 30;

/** @param {LoggedEvent} event */
const momentText = (event) => `after event #${event.id}, ${deedOf(event)}, ${dateTime(event.createdAt)}`;

/**
 * @param {{ label: string, events: readonly LoggedEvent[], eventId: number | null, change: (eventId: number | null) => void }} props `events`: oldest first, more than one; the last one stands for now; `eventId`: null for now
 */
function MomentSlider({ label, events, eventId, change }) {
  const last = events.length - 1;
  const found = events.findIndex(({ id }) => id === eventId);
  const position = eventId === null || found < 0 ? last : found;
  const event = events[position];
  /** @param {TargetedEvent<HTMLInputElement>} event */
  function onInput({ currentTarget: { valueAsNumber } }) {
    change(valueAsNumber >= last ? null : (events[valueAsNumber]?.id ?? null));
  }
  return (
    <label class="line time-slider">
      <span class="time-label">{label}</span>
      <input
        type="range"
        min={0}
        max={last}
        step={1}
        value={position}
        aria-valuetext={position === last ? 'now' : `after event ${eventId}`}
        onInput={onInput}
      />
      <span class="time-text">{position === last || event === undefined ? 'now' : momentText(event)}</span>
    </label>
  );
}

/**
 * One moment, and once that is in the past another with which it is compared, the way back to it, and to now.
 * @param {{ what: RolledBack, may: boolean, text: string, events: readonly LoggedEvent[], flags: readonly string[], isPast: boolean, from: number | null, setFrom: (eventId: number | null) => void, to: number | null, setTo: (eventId: number | null) => void, status: ComponentChildren, back: () => void }} props `text`: that of the way back, for those who may; `events`: newest first, more than one; `flags`: names of those that are compared
 */
export function Moments({ what, may, text, events, flags, isPast, from, setFrom, to, setTo, status, back }) {
  const oldestFirst = [...events].reverse();
  const event = events.find(({ id }) => id === from);
  return (
    <section class={`row time ${isPast ? 'box time-past' : 'hint'}`} aria-label="Two points in time">
      <MomentSlider events={oldestFirst} label="Point in time" eventId={from} change={setFrom} />
      {isPast ? (
        <MomentSlider events={oldestFirst} label="Compared with" eventId={to} change={setTo} />
      ) : null}
      {status}
      {isPast && event !== undefined ? (
        <>
          <DifferenceList
            {...{ project: what.project, flags, from: event.id, to: to ?? events[0]?.id ?? event.id }}
          />
          <div class="row">
            {may ? <RollBackButton {...{ of: what, event, text }} looks="button" after={back} /> : null}
            <Button act={back}>Back to current</Button>
          </div>
        </>
      ) : null}
    </section>
  );
}

/** @param {{ project: string, flags: readonly string[], from: number, to: number }} props `flags`: names; `from`: the id of an event */
function DifferenceList({ project, flags, from, to }) {
  const { client } = useSession();
  const [compared, setCompared] = useState(/** @type {readonly Compared[] | string | null} */ (null));
  const names = flags.slice(0, COMPARED_MAX);
  useDelayed(
    MOVING_MS,
    () => comparisons(client, { project, names, from, to }).catch(messageOf),
    setCompared,
    [client, project, names.join(), from, to],
  );
  if (compared === null) return <p class="muted">Comparing…</p>;
  if (typeof compared === 'string')
    return (
      <p class="problem" role="alert">
        {compared}
      </p>
    );
  const changed = compared.filter(({ differences }) => differences.length > 0);
  if (changed.length === 0)
    return <p class="muted">There is no difference between the two points in time.</p>;
  return (
    <ul class="plain stack differences" aria-label="Differences between the two points in time">
      {changed.map(({ name, differences }) => (
        <li key={name}>
          {flags.length < 2 && changed.length < 2 ? null : <FlagLink project={project} name={name} />}
          {differences.map((one) => (
            <DifferenceLine key={one.name} of={one} />
          ))}
        </li>
      ))}
    </ul>
  );
}

/** @typedef {{ name: string, differences: readonly Difference[] }} Compared */

/** @param {Client} client @param {{ project: string, names: readonly string[], from: number, to: number }} of */
async function comparisons(client, { project, names, from, to }) {
  /** @type {Compared[]} */
  const compared = [];
  for (const name of names) {
    const [before, after] = await Promise.all([from, to].map((at) => flagAt(client, project, name, at)));
    compared.push({ name, differences: differencesOf(before ?? null, after ?? null) });
  }
  return compared;
}

/** Null where there was none. @param {Client} client @param {string} project @param {string} name @param {number} eventId @returns {Promise<Flag | null>} */
async function flagAt(client, project, name, eventId) {
  try {
    return await client.get(`${flagPath(project, name)}?at=${eventId}`);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}
