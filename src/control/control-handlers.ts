/** The requests that the control channel offers for an open data folder. */

import { join } from 'node:path';
import type { Store } from '../actors/store.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { paddedId } from '../persistence/journal/segment.ts';
import { SNAPSHOT_SUFFIX } from '../persistence/snapshots/snapshot-format.ts';
import type { ArchiveView, ReplicaView } from './cluster-view.ts';
import type { ControlSnapshot } from './control-protocol.ts';
import type { ControlHandlers } from './control-server.ts';

export interface ControlledStore {
  readonly store: Store;
  /** Null where the server runs alone. */
  readonly replica: {
    readonly view: ReplicaView;
    readonly isLeading: boolean;
    handOver(): Promise<void>;
  } | null;
  /** Null where the log keeps everything. */
  readonly archivist: { readonly view: ArchiveView | null } | null;
  readonly folder: string;
  readonly fs: FileSystem;
  /** Resolves with the secret of the new token. */
  createAdminToken(): Promise<string>;
}

export function controlHandlers({
  store,
  replica,
  archivist,
  folder,
  fs,
  createAdminToken,
}: ControlledStore): ControlHandlers {
  const { engine } = store;
  return {
    status: async () => ({
      pid: process.pid,
      lastId: engine.lastId,
      durableId: engine.durableId,
      cluster: replica?.view ?? null,
      archive: archivist?.view ?? null,
    }),
    flush: async () => {
      await engine.journal.flush();
      return { durableId: engine.durableId };
    },
    snapshot: async () => {
      const taken = await store.keeper.take();
      if (taken === null) return newestSnapshot(fs, folder, store.keeper.newestId);
      const { id, path, bytes, durationMs } = taken;
      return { taken: true, id, path, bytes, durationMs };
    },
    'hand-over': async () => {
      if (replica === null)
        throw new Error('This server runs alone; there is no other node to hand over to.');
      if (!replica.isLeading) throw new Error('This node does not lead; ask the node that does.');
      await replica.handOver();
      return {};
    },
    'create-admin-token': async () => ({ secret: await createAdminToken() }),
  };
}

async function newestSnapshot(fs: FileSystem, folder: string, id: number): Promise<ControlSnapshot> {
  if (id === 0) throw new Error('There is nothing to take a snapshot of: no event has been recorded yet.');
  const path = join(dataFolder(folder).snapshots, `${paddedId(id)}${SNAPSHOT_SUFFIX}`);
  const file = await fs.open(path, 'read');
  try {
    return { taken: false, id, path, bytes: await file.size(), durationMs: 0 };
  } finally {
    await file.close();
  }
}
