/** A node as probes, metrics, `flagstaff status` and the control channel show it. */
import type { AddonParts } from '../../host/addon.ts';
import type { AddonMetrics } from '../../http/serving/metrics.ts';
import type { AddonHealth } from '../../http/serving/probes.ts';
import { type ArchiveView, LAG_MS_MAX, type ReplicaView } from './node-view.ts';
import type { OpenCluster } from './open-cluster.ts';
import { roleText } from './role-text.ts';

/** The result of the control command `cluster`. */
export interface ClusterStatus {
  readonly view: ReplicaView;
  /** The archive as the leader knows it; null on other nodes, and where there is none. */
  readonly archive: ArchiveView | null;
}

export function nodeParts({ replica, archivist }: OpenCluster): AddonParts {
  return {
    health: () => healthOf(replica.view),
    metrics: clusterMetrics(() => replica.view),
    status: () => ({ name: 'cluster', text: roleText(replica.view), view: replica.view }),
    control: {
      cluster: async (): Promise<ClusterStatus> => ({
        view: replica.view,
        archive: archivist?.view ?? null,
      }),
      'hand-over': async () => {
        if (!replica.isLeading) throw new Error('This node does not lead; ask the node that does.');
        await replica.handOver();
        return {};
      },
    },
  };
}

/** No addresses, because the path is public. */
export function healthOf(view: ReplicaView): AddonHealth {
  const { node, role, epoch, leader, history, problem, warnings } = view;
  const lagMs = Math.round(view.lagMs);
  const warning = [problem, ...warnings].filter((one) => one !== null).join(' ');
  return {
    warning: warning === '' ? null : warning,
    shown: {
      cluster: {
        ...{ node, role, epoch, leader: leader?.node ?? null, lagMs, history },
        ...(problem !== null && { problem }),
      },
    },
    readiness: { isReady: view.lagMs <= LAG_MS_MAX && problem === null, shown: { role, lagMs } },
  };
}

export const clusterMetrics = (view: () => ReplicaView): AddonMetrics => ({
  gauges: [
    [
      'flagstaff_cluster_leading',
      '1 on the node that takes writes. 0 on all nodes: there is no leader.',
      () => (view().isLeading ? 1 : 0),
    ],
    ['flagstaff_cluster_epoch', 'How often a node has taken over.', () => view().epoch],
    [
      'flagstaff_cluster_lag_seconds',
      'Time since this node was last up to date with the log. `/ready` is 503 beyond 4 seconds.',
      () => view().lagMs / 1000,
    ],
    [
      'flagstaff_cluster_lag_records',
      'Records of the replicated log not applied yet. Growing: the node cannot keep up, or lost the log.',
      () => view().lagRecords,
    ],
    ['flagstaff_cluster_peers', 'Other nodes seen recently.', () => view().peers.length],
    [
      'flagstaff_cluster_warnings',
      'Faults of the log, the addresses and the clocks, as this node sees them. `flagstaff cluster status` names them.',
      () => view().warnings.length + (view().problem === null ? 0 : 1),
    ],
  ],
});
