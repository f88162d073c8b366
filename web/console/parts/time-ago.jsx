/** Times as how long ago they were, which goes on being true while they are looked at. */
import { signal } from '@preact/signals';
import { ago, dateTime } from '../format.js';

/** Between two renewals, in milliseconds. */
const PAUSE_MS = 15_000;

/** Milliseconds since 1970, as of the last renewal. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, PAUSE_MS);

/** @param {{ iso: string, prefix?: string }} props */
export function TimeAgo({ iso, prefix = '' }) {
  // What happened after the last renewal was just now.
  const text = prefix + ago(iso, Math.max(now.value, Date.parse(iso)));
  return (
    <time dateTime={iso} title={dateTime(iso)}>
      {text}
    </time>
  );
}

/** The time at which something was last done or seen; null for never. @param {{ iso: string | null }} props */
export const LastTime = ({ iso }) => (iso === null ? 'never' : <TimeAgo iso={iso} />);
