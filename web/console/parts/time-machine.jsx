/** A flag as it was after each of its last events, by a slider: in what it differs from another moment, and the way back to it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { counted } from '../format.js';
import { Later } from '../later.jsx';
import { noticeRefusal } from '../notices.jsx';
import { useSession } from '../session.js';
import { RollBackButton } from './rollback-button.jsx';

/** @import { Flag, LoggedEvent } from '../types.d.ts' */

/** @typedef {{ flag: Flag, event: LoggedEvent }} Past */

/** While the slider moves, in milliseconds: not every moment that it passes is asked for. */
const MOVING_MS = 120;

/**
 * @param {{ flag: Flag, events: readonly LoggedEvent[], past: Past | null, setPast: (past: Past | null) => void }} props `flag`: as it is now; `events`: newest first; `past`: what is shown; null for the flag as it is now
 */
export function TimeMachine({ flag, events, past, setPast }) {
  const session = useSession();
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const [other, setOther] = useState(/** @type {number | null} */ (null));
  const timer = useRef(0);
  /** The event that is chosen by now: a response for another one comes late. */
  const wanted = useRef(/** @type {number | null} */ (null));
  useEffect(() => () => clearTimeout(timer.current), []);
  if (events.length < 2) return null;
  const at = flagPath(flag.project, flag.name);

  /** @param {number} eventId */
  async function look(eventId) {
    const event = events.find(({ id }) => id === eventId);
    if (event === undefined) return;
    try {
      const then = await session.client.get(`${at}?at=${eventId}`);
      if (wanted.current === eventId) setPast({ flag: then, event });
    } catch (error) {
      if (wanted.current !== eventId) return;
      noticeRefusal(error);
      back();
    }
  }
  function back() {
    clearTimeout(timer.current);
    wanted.current = null;
    setChosen(null);
    setOther(null);
    setPast(null);
  }
  /** @param {number | null} eventId */
  function choose(eventId) {
    if (eventId === null) return back();
    clearTimeout(timer.current);
    wanted.current = eventId;
    setChosen(eventId);
    timer.current = setTimeout(() => void look(eventId), MOVING_MS);
  }
  return (
    <details class="time-machine">
      <summary>Time machine</summary>
      <p class="muted">
        {`Shows the flag as it was after any of its last ${counted(events.length, 'change')}, what differs from another moment, and the way back.`}
      </p>
      <Later
        of="Moments"
        {...{ events, project: flag.project, flags: [flag.name], isPast: past !== null, back }}
        {...{ from: chosen, setFrom: choose, to: other, setTo: setOther }}
        status={
          <span class="unseen" role="status">
            {past === null ? 'As it is now' : 'As it was then'}
          </span>
        }
        restore={
          past !== null && session.may('flags', flag.project) && !flag.archived ? (
            <RollBackButton
              {...{ of: flag, event: past.event }}
              text="Restore this version"
              looks="button"
              after={back}
            />
          ) : null
        }
      />
    </details>
  );
}
