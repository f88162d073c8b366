/** The counting of what applications report, as a part of a server. */
import { randomBytes } from 'node:crypto';
import type { AddonParts, ConfiguredAddon, Host, Setup } from '../../host/addon.ts';
import type { AddonMetrics } from '../../http/serving/metrics.ts';
import { API_PREFIX } from '../../http/serving/surface.ts';
import { dataFolder } from '../../persistence/disk/data-folder.ts';
import { unrefTimer } from '../../process/timers.ts';
import { applicationChangeRoutes, applicationRoutes } from './applications-routes.ts';
import { flagUsageRoutes } from './flag-usage.ts';
import { reportRoutes } from './report-routes.ts';
import { SIDES } from './reports.ts';
import { RowFiles } from './row-files.ts';
import { SharedUsage } from './shared-usage.ts';
import { Usage } from './usage.ts';

/** Free space below which nothing is saved: the reserve of the journal, and twice what it can take. */
const ROOM_BYTES = 256 * 1024 * 1024;

export function configureUsage({ log }: Setup): ConfiguredAddon {
  const adminRoutes = [...flagUsageRoutes, ...applicationRoutes, ...applicationChangeRoutes];
  return {
    routes: { ...reportRoutes, [API_PREFIX]: adminRoutes },
    open: (host) => openUsage(host, log),
  };
}

async function openUsage(host: Host, log: Setup['log']): Promise<AddonParts> {
  const { engine, fs, folder, broadcast } = host;
  const onFault = (error: unknown): void =>
    // Operators: look at `err`
    log.error(
      { err: error },
      'what applications reported could not be read or saved; flags are not affected',
    );
  const shared =
    broadcast === null
      ? null
      : new SharedUsage({
          stream: broadcast,
          run: randomBytes(4).toString('hex'),
          timer: unrefTimer,
          onFault,
        });
  const usage = new Usage({
    ...{ shared, onFault, state: engine, feed: engine.feed },
    folder: new RowFiles({
      ...{ fs, folder: dataFolder(folder).usage, suffix: '.usage' },
      onDamaged: (details) =>
        // Operators: run `flagstaff verify`, and plan to replace the disk, which returned wrong bytes
        log.warn(
          details,
          'a file of what applications reported is damaged; it was set aside, and what it lacks is lost',
        ),
    }),
    now: Date.now,
    hasRoom: () => engine.journal.writable && engine.journal.stats().freeBytes > ROOM_BYTES,
    timer: unrefTimer,
  });
  await usage.open();
  return { usage, metrics: metricsOf(usage), close: () => usage.close() };
}

export function metricsOf(usage: Usage): AddonMetrics {
  return {
    counters: [
      [
        'flagstaff_usage_dropped_total',
        'Counts of flags dropped for want of room: too many applications and flags report, or a public token is flooded.',
        () => SIDES.reduce((sum, side) => sum + usage.counts(side).droppedCount, 0),
      ],
    ],
    gauges: [
      [
        'flagstaff_usage_bytes',
        'Memory of what applications reported, up to 80 MiB.',
        () => SIDES.reduce((sum, side) => sum + usage.counts(side).bytes + usage.applications(side).bytes, 0),
      ],
    ],
  };
}
