/** A flag as it was after each of its last events, by a slider, with the way back to it. */
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { flagPath } from '../changes.js';
import { messageOf } from '../client.js';
import { rollBack } from '../edit/rollback.js';
import { dateTime } from '../format.js';
import { notice } from '../notices.js';
import { useSession } from '../session.js';
import { deedOf } from '../words.js';

/** @import { TargetedEvent } from 'preact' */
/** @import { Flag, LoggedEvent } from '../types.d.ts' */

/** @typedef {{ flag: Flag, event: LoggedEvent }} Past */

/** While the slider moves, in milliseconds: not every moment that it passes is asked for. */
const MOVING_MS = 120;

/**
 * @param {object} props
 * @param {Flag} props.flag as it is now
 * @param {readonly LoggedEvent[]} props.events newest first
 * @param {Past | null} props.past what is shown; null for the flag as it is now
 * @param {(past: Past | null) => void} props.setPast
 */
export function TimeMachine({ flag, events, past, setPast }) {
  const session = useSession();
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const oldestFirst = [...events].reverse();
  const last = oldestFirst.length - 1;
  const found = oldestFirst.findIndex(({ id }) => id === chosen);
  const position = chosen === null || found < 0 ? last : found;
  if (last < 1) return null;
  const at = flagPath(flag.project, flag.name);

  /** @param {LoggedEvent} event */
  async function look(event) {
    try {
      setPast({ flag: await session.client.get(`${at}?at=${event.id}`), event });
    } catch (error) {
      notice('refused', messageOf(error));
      back();
    }
  }
  function back() {
    clearTimeout(timer.current);
    setChosen(null);
    setPast(null);
  }
  /** @param {TargetedEvent<HTMLInputElement>} event */
  function onInput(event) {
    const target = oldestFirst[event.currentTarget.valueAsNumber];
    if (target === undefined || target === oldestFirst[last]) return back();
    clearTimeout(timer.current);
    setChosen(target.id);
    timer.current = setTimeout(() => void look(target), MOVING_MS);
  }
  async function restore() {
    if (past === null) return;
    try {
      await rollBack(session, { at, eventId: past.event.id, when: dateTime(past.event.createdAt) });
      back();
      void session.feed.look();
    } catch (error) {
      notice('refused', messageOf(error));
    }
  }
  const shown = oldestFirst[position];
  return h(
    'div',
    { class: `time${past === null ? '' : ' time-past'}` },
    h(
      'label',
      { class: 'time-slider' },
      'Moment',
      h('input', {
        type: 'range',
        min: 0,
        max: last,
        step: 1,
        value: position,
        'aria-valuetext': past === null ? 'now' : `after event ${past.event.id}`,
        onInput,
      }),
    ),
    h(
      'span',
      { class: 'time-text', role: 'status' },
      past === null || shown === undefined
        ? 'As it is now'
        : `As it was after event #${past.event.id}, ${deedOf(past.event)}, ${dateTime(past.event.createdAt)}`,
    ),
    past === null
      ? null
      : [
          session.may('flags', flag.project) && !flag.archived
            ? h(
                'button',
                { key: 'restore', type: 'button', class: 'button', onClick: () => void restore() },
                'Restore this',
              )
            : null,
          h('button', { key: 'now', type: 'button', class: 'button', onClick: back }, 'Back to now'),
        ],
  );
}
