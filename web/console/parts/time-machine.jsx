/** A flag as it was after each of its last events, by a slider: in what it differs from another moment, and the way back to it. */
import { useState } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { counted } from '../format.js';
import { Later } from '../later.jsx';
import { noticeRefusal } from '../notices.jsx';
import { useDelayed } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { Flag, LoggedEvent } from '../types.d.ts' */

/** @typedef {{ flag: Flag, event: LoggedEvent }} Past */

/** While the slider moves, in milliseconds: not every moment that it passes is asked for. */
const MOVING_MS = 120;

/**
 * @param {{ flag: Flag, events: readonly LoggedEvent[], past: Past | null, setPast: (past: Past | null) => void }} props `flag`: as it is now; `events`: newest first; `past`: what is shown; null for the flag as it is now
 */
export function TimeMachine({ flag, events, past, setPast }) {
  const { client, may } = useSession();
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const [other, setOther] = useState(/** @type {number | null} */ (null));
  function back() {
    setChosen(null);
    setOther(null);
    setPast(null);
  }
  async function look() {
    const event = events.find(({ id }) => id === chosen);
    if (event === undefined) return null;
    try {
      return { flag: await client.get(`${flagPath(flag.project, flag.name)}?at=${event.id}`), event };
    } catch (error) {
      noticeRefusal(error);
      return null;
    }
  }
  useDelayed(MOVING_MS, look, (found) => (found === null ? back() : setPast(found)), [chosen]);
  if (events.length < 2) return null;
  return (
    <details class="time-machine">
      <summary>Time machine</summary>
      <p class="muted">
        {`Shows the flag as it was after any of its last ${counted(events.length, 'change')}, what differs from another moment, and the way back.`}
      </p>
      <Later
        of="Moments"
        {...{ what: flag, may: may('flags', flag.project) && !flag.archived, text: 'Restore this version' }}
        {...{ events, flags: [flag.name], isPast: past !== null, back }}
        {...{ from: chosen, setFrom: setChosen, to: other, setTo: setOther }}
        status={
          <span class="unseen" role="status">
            {past === null ? 'As it is now' : 'As it was then'}
          </span>
        }
      />
    </details>
  );
}
