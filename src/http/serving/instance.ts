/** Figures of the running process: what it holds, what is on disk, and what resources it uses. */

import type { DiskUsage } from '../../actors/disk-usage.ts';
import type { Engine } from '../../actors/engine.ts';
import type { GrowthLimits } from '../../domain/flags/growth-limits.ts';
import { peopleOf } from '../../domain/state/locate.ts';
import type { Transport } from '../transport/transport.ts';

export interface InstanceSources {
  readonly version: string;
  /** Origins of pages that may call, as long as none are set through the interface. */
  readonly configuredOrigins: readonly string[];
  /** How large the parts of a flag may grow. */
  readonly limits: GrowthLimits;
  /** The key from which secrets of API tokens are made, so that they can be shown again; null: they are random, and shown once. */
  readonly tokenKey: string | null;
  readonly transport: Pick<Transport, 'engine' | 'openConnections'>;
  /** Milliseconds, monotonic, counted from the start of the process. */
  uptimeMs(): number;
  diskUsage(): Promise<DiskUsage>;
  memoryUsage(): { readonly rss: number; readonly heapUsed: number };
}

export interface Instance
  extends Pick<InstanceSources, 'version' | 'configuredOrigins' | 'limits' | 'tokenKey'> {
  figures(engine: Engine, now: number): Promise<InstanceFigures>;
}

export type InstanceFigures = ReturnType<typeof figuresOf>;

export function createInstance(sources: InstanceSources): Instance {
  const { version, configuredOrigins, limits, tokenKey } = sources;
  return {
    ...{ version, configuredOrigins, limits, tokenKey },
    figures: async (engine, now) => figuresOf(sources, engine, await sources.diskUsage(), now),
  };
}

function figuresOf(sources: InstanceSources, engine: Engine, storage: DiskUsage, now: number) {
  const { transport } = sources;
  const { rss, heapUsed } = sources.memoryUsage();
  const { world, journal } = engine;
  const { newestSnapshot } = storage;
  const freeBytes = journal.stats().freeBytes;
  return {
    version: sources.version,
    httpEngine: transport.engine,
    uptimeSeconds: Math.floor(sources.uptimeMs() / 1000),
    writable: journal.writable,
    refusalReason: journal.refusalReason,
    lastEventId: engine.lastId,
    durableEventId: engine.durableId,
    waitingCommands: engine.queuedCount,
    connections: transport.openConnections,
    users: peopleOf(world.directory).length,
    events: engine.eventLog.count,
    journal: { bytes: storage.journalBytes, segments: storage.journalSegments },
    snapshots: {
      count: storage.snapshots,
      newest:
        newestSnapshot === null
          ? null
          : {
              eventId: newestSnapshot.id,
              eventAt: new Date(newestSnapshot.at).toISOString(),
              ageSeconds: Math.max(0, Math.floor((now - newestSnapshot.at) / 1000)),
              bytes: newestSnapshot.bytes,
            },
    },
    // The free space is infinite until it was first read, and JSON has no infinity.
    disk: { freeBytes: Number.isFinite(freeBytes) ? freeBytes : null },
    memory: { rssBytes: rss, heapUsedBytes: heapUsed },
  };
}
