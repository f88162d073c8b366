/** The courier as a part of a server: its settings, its file in the data folder, what it tells operators, and its metrics. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { AddonParts, Host, Setup } from '../../host/addon.ts';
import type { AddonMetrics } from '../../http/serving/metrics.ts';
import type { Log } from '../../process/log.ts';
import { ConfigError, type Environment, originIn, text } from '../../process/settings.ts';
import { unrefTimer } from '../../process/timers.ts';
import { hostIn, SYSTEM_NAMES } from './addresses.ts';
import { Courier, type CourierLog } from './courier.ts';
import { CursorFile } from './cursors.ts';
import { deliver } from './delivery.ts';
import type { Integration } from './integration.ts';
import { Pace, processClock } from './pace.ts';
import { shareOf } from './share.ts';
import { SharedCursors } from './shared-cursors.ts';

/** The names of a file in the data folder, and of a value that the nodes of a cluster share. */
export const CURSORS_FILE = 'integrations.cursors';
const CURSORS_VALUE = 'integrations';

export interface SendingOptions {
  readonly privateHosts: ReadonlySet<string>;
  readonly publicUrl: string | null;
  readonly log: Log;
  /** All of them, as for CourierOptions. */
  integrations(): readonly Integration[];
}

export const PRIVATE_HOSTS_SETTING = 'INTEGRATION_PRIVATE_HOSTS';

/** Throws a ConfigError for what is no host. */
export function privateHostsIn(env: Environment): ReadonlySet<string> {
  const names = (text(env, PRIVATE_HOSTS_SETTING) ?? '').split(',').map((name) => name.trim());
  const hosts = names.filter((name) => name !== '').map((name) => [name, hostIn(name)] as const);
  const wrong = hosts.find(([, host]) => host === null);
  if (wrong !== undefined)
    throw new ConfigError(
      `${PRIVATE_HOSTS_SETTING} must hold names or addresses of hosts, separated by commas, such as hooks.internal,10.0.0.7, without ports. "${wrong[0]}" is none.`,
    );
  return new Set(hosts.flatMap(([, host]) => host ?? []));
}

export function publicUrlIn({ env, basePath }: Pick<Setup, 'env' | 'basePath'>): string | null {
  const origin = originIn(env, 'PUBLIC_URL');
  return origin === null ? null : `${origin}${basePath}`;
}

export async function openCourier(
  { engine, fs, folder, sharedValue, isLeading }: Host,
  { privateHosts, publicUrl, log, integrations }: SendingOptions,
): Promise<{ readonly courier: Courier; readonly parts: AddonParts }> {
  const file = new CursorFile(fs, folder, join(folder, CURSORS_FILE));
  const shared = sharedValue?.(CURSORS_VALUE) ?? null;
  const pace = new Pace(processClock());
  const courier = new Courier({
    ...{ engine, integrations, isLeading, publicUrl },
    cursors:
      shared === null
        ? file
        : new SharedCursors({ file, shared, newRun: () => randomBytes(8).toString('hex') }),
    send: (request, attempt) => deliver(request, attempt, { privateHosts, ...SYSTEM_NAMES }),
    shareOf: (event) => shareOf(engine.world, event),
    isCluster: sharedValue !== null,
    now: Date.now,
    random: Math.random,
    timer: unrefTimer,
    pace: () => pace.turn(),
    log: logOf(log),
  });
  await courier.start();
  return { courier, parts: { metrics: metricsOf(courier), close: () => keptAlive(courier.close()) } };
}

/** Has the process go on until the work is done, whose own timers do not. Without it, a stop would end before the journal is closed. */
export async function keptAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 1_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

function logOf(log: Log): CourierLog {
  return {
    parked: (integration, reason) =>
      // Operators: see [Integrations](docs/integrations.md#when-a-receiver-is-away)
      log.warn(
        { integration, reason },
        'an integration is parked: deliveries failed for three days, or the receiver is gone',
      ),
    removed: (integration, from, to) =>
      // Operators: keep events for longer (`EVENT_RETENTION_DAYS`), or mend the receiver sooner
      log.warn(
        { integration, from, to },
        'events were removed by retention before an integration could deliver them',
      ),
    broughtBack: (integration, from, to) =>
      // Operators: nothing; the history was cut by a repair, and deliveries go on with the next event
      log.warn(
        { integration, from, to },
        'an integration was ahead of the history, and goes on with the next event',
      ),
    begunAnew: (integrations, eventId) =>
      // Operators: have integrations go on from an event, where they missed some
      log.warn(
        { integrations, eventId },
        'how far integrations were is not known, as in a copy; they go on with the next event',
      ),
    fault: (error) =>
      // Operators: look at `err`
      log.error({ err: error }, 'deliveries to integrations are held up; flags are not affected'),
  };
}

export const metricsOf = (courier: Pick<Courier, 'failingCount' | 'parkedCount'>): AddonMetrics => ({
  gauges: [
    [
      'flagstaff_integrations_failing',
      'Integrations whose last delivery failed. Their pages say why.',
      () => courier.failingCount,
    ],
    [
      'flagstaff_integrations_parked',
      'Integrations that gave up, after three days of failures or at a status of 410, until somebody has them send again.',
      () => courier.parkedCount,
    ],
  ],
});
