/** A project between two moments of its history: what became of its flags, and the way back to the first of the two. */
import { useState } from 'preact/hooks';
import { path } from '../client.js';
import { counted } from '../format.js';
import { useSession } from '../session.js';
import { COMPARED_MAX, DifferenceList, MomentSlider } from './moments.jsx';
import { RollBackButton } from './rollback-button.jsx';

/** @import { LoggedEvent } from '../types.d.ts' */

/** @param {{ project: string, events: readonly LoggedEvent[] }} props `events`: those that are listed, newest first */
export function ProjectTimeMachine({ project, events }) {
  const session = useSession();
  const [from, setFrom] = useState(/** @type {number | null} */ (null));
  const [to, setTo] = useState(/** @type {number | null} */ (null));
  const newest = events[0];
  if (newest === undefined || events.length < 2) return null;
  const oldestFirst = [...events].reverse();
  const first = events.find(({ id }) => id === from);
  const end = to ?? newest.id;
  const low = Math.min(from ?? end, end);
  const between = events.filter(({ id }) => id > low && id <= Math.max(from ?? end, end));
  const flags = [...new Set(between.flatMap(({ featureName }) => featureName ?? []))];
  function back() {
    setFrom(null);
    setTo(null);
  }
  return (
    <section class={`time${first === undefined ? '' : ' time-past'}`} aria-label="Two moments">
      <MomentSlider events={oldestFirst} label="Moment" eventId={from} change={setFrom} />
      {first === undefined ? null : (
        <>
          <MomentSlider events={oldestFirst} label="Compared with" eventId={to} change={setTo} />
          <p role="status">
            {`${counted(between.length, 'event')} between them, about ${counted(flags.length, 'flag')}`}
            {flags.length > COMPARED_MAX ? `; the ${COMPARED_MAX} that changed last:` : ':'}
          </p>
          <DifferenceList {...{ project, flags, from: first.id, to: end }} />
          <div class="actions">
            {session.may('flags', project) ? (
              <RollBackButton
                {...{ at: path`/projects/${project}`, what: /** @type {const} */ ('project'), event: first }}
                text="Restore the project to this moment"
                looks="button"
                after={back}
              />
            ) : null}
            <button type="button" class="button" onClick={back}>
              Back to now
            </button>
          </div>
        </>
      )}
    </section>
  );
}
