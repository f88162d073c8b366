/** How the server is: whether it takes changes, how far they are on disk, and what it takes of the machine. */
import { useEffect } from 'preact/hooks';
import { bytes, counted, dateTime, duration, number } from '../format.js';
import { TileGroup } from '../parts/tiles.jsx';
import { FlagsUsage } from '../parts/usage-chart.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { Figures, InstanceStatistics } from '../types.d.ts' */

/** Between two looks, in milliseconds. */
const PAUSE_MS = 5_000;

export function HealthView() {
  const { client, may } = useSession();
  const isAdmin = may('admin');
  const use = useResource(
    /** @returns {Promise<InstanceStatistics | undefined>} */
    async () => (isAdmin ? client.get('/instance-admin/statistics') : undefined),
    [client, isAdmin],
  ).loaded.value?.value;
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
      {whenLoaded(
        figures,
        (shown) => (
          <FigureGroups figures={shown} />
        ),
        'tiles',
      )}
      <FlagsUsage />
      {use === undefined ? null : <Use of={use} />}
    </>
  );
}

/** @param {{ figures: Figures }} props */
function FigureGroups({ figures }) {
  const behind = figures.lastEventId - figures.durableEventId;
  return (
    <>
      <Verdict of={figures} />
      <TileGroup
        title="Contents"
        tiles={[
          ['Projects', number(figures.projects)],
          ['Flags', number(figures.flags), 'archived ones included'],
          ['Users', number(figures.users)],
          ['Events', number(figures.events), 'that can be searched'],
        ]}
      />
      <TileGroup
        title="On disk"
        tiles={[
          [
            'Newest event',
            `#${figures.lastEventId}`,
            behind === 0 ? 'on disk' : `${number(behind)} not on disk yet`,
          ],
          ['Journal', bytes(figures.journal.bytes), counted(figures.journal.segments, 'file')],
          snapshotTile(figures.snapshots),
          ['Free space', figures.disk.freeBytes === null ? 'unknown' : bytes(figures.disk.freeBytes)],
        ]}
      />
      <TileGroup
        title="Process"
        tiles={[
          ['Memory', bytes(figures.memory.rssBytes), `${bytes(figures.memory.heapUsedBytes)} live data`],
          ['Uptime', duration(figures.uptimeSeconds)],
          ['Connections', number(figures.connections), `${number(figures.waitingCommands)} changes waiting`],
          [
            'Version',
            figures.version,
            figures.httpEngine === 'uws' ? 'HTTP by uWebSockets.js' : 'HTTP by node:http',
          ],
        ]}
      />
    </>
  );
}

/** @param {{ of: Figures }} props */
function Verdict({ of: { writable, refusalReason } }) {
  return (
    <p class={`row verdict ${writable ? 'verdict-good' : 'verdict-bad'}`} role="status">
      <span class="verdict-dot" aria-hidden="true" />
      {writable
        ? 'All is well: changes are accepted and made durable.'
        : `No changes are accepted: ${refusalReason ?? ''}`}
    </p>
  );
}

/** @param {Figures['snapshots']} snapshots @returns {[string, string, string, string?]} */
function snapshotTile({ count, newest }) {
  if (newest === null) return ['Newest snapshot', 'none yet', 'a start replays the whole journal'];
  const age = `${duration(newest.ageSeconds)} old, ${bytes(newest.bytes)}, ${counted(count, 'kept', 'kept')}`;
  return ['Newest snapshot', `#${newest.eventId}`, age, dateTime(newest.eventAt)];
}

/** The use of the service, for Admins. @param {{ of: InstanceStatistics }} props */
const Use = ({ of: { activeUsers, clientApps, apiTokens, OIDCenabled } }) => (
  <TileGroup
    title="People and applications"
    tiles={[
      ['Active users', number(activeUsers.last30), 'in the last 30 days'],
      ...clientApps
        .filter(({ range }) => range === '30d')
        .map(({ count }) => /** @type {const} */ (['Applications', number(count), 'in the last 30 days'])),
      [
        'API tokens',
        number(apiTokens.admin + apiTokens.client + apiTokens.frontend),
        `${number(apiTokens.client)} client, ${number(apiTokens.frontend)} frontend, ${number(apiTokens.admin)} admin`,
      ],
      ['OpenID Connect', OIDCenabled ? 'on' : 'off'],
    ]}
  />
);
