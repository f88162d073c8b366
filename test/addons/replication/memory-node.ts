/** A server as a node of a cluster, over a log and an archive in memory. */
import { clusterConfig } from '../../../src/addons/replication/cluster-config.ts';
import { nodeAddon } from '../../../src/addons/replication/configure.ts';
import type { FileArchive } from '../../../src/addons/replication/file-archive.ts';
import { joinCluster } from '../../../src/addons/replication/open-cluster.ts';
import type { ReplicatedLog } from '../../../src/addons/replication/replicated-log.ts';
import type { ConfiguredAddon } from '../../../src/host/addon.ts';
import { createLog } from '../../../src/process/log.ts';

export function memoryNode(
  node: string,
  replicatedLog: ReplicatedLog,
  replicatedArchive?: FileArchive,
): ConfiguredAddon {
  const config = clusterConfig({
    REPLICATION_URL: 'nats://nowhere:4222',
    REPLICATION_CLUSTER: 'test',
    REPLICATION_NODE: node,
    HTTP_HOST: '127.0.0.1',
  })!;
  const archive = replicatedArchive === undefined ? {} : { replicatedArchive };
  const shared = { config, log: createLog('silent'), basePath: '', replicatedLog, ...archive };
  return nodeAddon((joining) => joinCluster({ ...joining, ...shared }));
}
