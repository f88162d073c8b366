/** A project between two moments of its history: what became of its flags, and the way back to the first of the two. */
import { useState } from 'preact/hooks';
import { counted } from '../format.js';
import { useSession } from '../session.js';
import { COMPARED_MAX, Moments } from './moments.jsx';

/** @import { LoggedEvent } from '../types.d.ts' */

/** @param {{ project: string, events: readonly LoggedEvent[] }} props `events`: those that are listed, newest first */
export function ProjectTimeMachine({ project, events }) {
  const session = useSession();
  const [from, setFrom] = useState(/** @type {number | null} */ (null));
  const [to, setTo] = useState(/** @type {number | null} */ (null));
  const newest = events[0];
  if (newest === undefined || events.length < 2) return null;
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
    <Moments
      {...{ what: { project }, may: session.may('flags', project), events, flags }}
      {...{ isPast: first !== undefined, from, setFrom, to, setTo, back }}
      text="Restore the project to this point in time"
      status={
        first === undefined ? null : (
          <p role="status">
            {`${counted(between.length, 'event')} between them, about ${counted(flags.length, 'flag')}`}
            {flags.length > COMPARED_MAX ? `; the ${COMPARED_MAX} that changed last:` : ':'}
          </p>
        )
      }
    />
  );
}
