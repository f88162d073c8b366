/** How the server is: whether it takes changes, how far they are on disk, and what it takes of the machine. */
import { useEffect } from 'preact/hooks';
import { bytes, counted, dateTime, duration, number } from '../format.js';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { VNode } from 'preact' */
/** @import { Figures } from '../types.d.ts' */

/** Between two looks, in milliseconds. */
const PAUSE_MS = 5_000;

export function HealthView() {
  const { client } = useSession();
  const figures = useResource(() => client.get('/instance-stats'), [client]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void figures.refresh();
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [figures]);
  return (
    <>
      <h1>Health</h1>
      {whenLoaded(figures, (shown) => (
        <FigureGroups figures={shown} />
      ))}
    </>
  );
}

/** @param {{ figures: Figures }} props */
function FigureGroups({ figures }) {
  const behind = figures.lastEventId - figures.durableEventId;
  return [
    <Verdict key="verdict" of={figures} />,
    group('Holds', [
      tile('Projects', number(figures.projects)),
      tile('Flags', number(figures.flags), 'archived ones included'),
      tile('Users', number(figures.users)),
      tile('Events', number(figures.events), 'that can be searched'),
    ]),
    group('On disk', [
      tile(
        'Newest event',
        `#${figures.lastEventId}`,
        behind === 0 ? 'on disk' : `${number(behind)} not on disk yet`,
      ),
      tile('Journal', bytes(figures.journal.bytes), counted(figures.journal.segments, 'file')),
      snapshotTile(figures.snapshots),
      tile('Free space', figures.disk.freeBytes === null ? 'unknown' : bytes(figures.disk.freeBytes)),
    ]),
    group('Process', [
      tile(
        'Memory',
        bytes(figures.memory.rssBytes),
        `${bytes(figures.memory.heapUsedBytes)} of it live data`,
      ),
      tile('Up for', duration(figures.uptimeSeconds)),
      tile('Connections', number(figures.connections), `${number(figures.waitingCommands)} changes waiting`),
      tile(
        'Version',
        figures.version,
        figures.httpEngine === 'uws' ? 'HTTP by uWebSockets.js' : 'HTTP by node:http',
      ),
    ]),
  ];
}

/** @param {{ of: Figures }} props */
function Verdict({ of: { writable, refusalReason } }) {
  return (
    <p class={`verdict ${writable ? 'verdict-good' : 'verdict-bad'}`} role="status">
      <span class="verdict-dot" aria-hidden="true" />
      {writable
        ? 'All is well: changes are accepted and made durable.'
        : `No changes are accepted: ${refusalReason ?? ''}`}
    </p>
  );
}

/** @param {Figures['snapshots']} snapshots */
function snapshotTile({ count, newest }) {
  if (newest === null) return tile('Newest snapshot', 'none yet', 'a start replays the whole journal');
  const age = `${duration(newest.ageSeconds)} old, ${bytes(newest.bytes)}, ${counted(count, 'kept', 'kept')}`;
  return tile('Newest snapshot', `#${newest.eventId}`, age, dateTime(newest.eventAt));
}

/** @param {string} title @param {readonly VNode[]} tiles */
function group(title, tiles) {
  return (
    <section key={title} class="figures">
      <h2>{title}</h2>
      <dl class="tiles">{tiles}</dl>
    </section>
  );
}

/** @param {string} name @param {string} value @param {string} [note] @param {string} [title] */
function tile(name, value, note = '', title = '') {
  return (
    <div key={name} class="tile" title={title || undefined}>
      <dt>{name}</dt>
      <dd class="tile-value">{value}</dd>
      {note === '' ? null : <dd class="tile-note">{note}</dd>}
    </div>
  );
}
