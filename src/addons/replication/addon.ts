/** Several servers as one: a cluster, whose nodes share a log on NATS JetStream. */
import type { Addon } from '../../host/addon.ts';
import { row } from '../../process/setting-row.ts';
import { LOG_BYTES } from './cluster-config.ts';

export const replication: Addon = {
  name: 'replication',
  settings: [
    row(
      'REPLICATION_URL',
      null,
      'NATS servers, `nats://host:port` or `tls://host:port`, separated by commas; the first may have a user and password',
    ),
    row(
      'REPLICATION_CLUSTER',
      null,
      'name of the cluster, the same on all its nodes; clusters can share NATS servers',
    ),
    {
      names: ['REPLICATION_NODE'],
      initial: "the machine's name",
      purpose: 'name of this node, for operators',
    },
    row(
      'REPLICATION_ADDRESS',
      'http://<machine>:<port>',
      'address for other nodes, which forward writes to it; use a private network or https',
    ),
    row(
      'REPLICATION_DURABILITY',
      'disk',
      '`disk`: the stream has three replicas in files, or the start is refused. `memory`: one server is enough, and its loss loses acknowledged events',
    ),
    row(
      'REPLICATION_ARCHIVE',
      'on',
      '`off`: the log keeps everything, and a node that lost its disk reads all of it',
    ),
    row(
      'REPLICATION_LOG_BYTES',
      LOG_BYTES,
      'bytes of archived journal that the log keeps for nodes that were down',
    ),
    row('REPLICATION_CREDENTIALS', null, 'NATS credentials file (`.creds`); not tested yet'),
    row(
      'REPLICATION_TLS_CA REPLICATION_TLS_CERT REPLICATION_TLS_KEY',
      null,
      "PEM files for `tls://`; the first defaults to Node's CA certificates",
    ),
  ],
  verbs: { cluster: async () => (await import('./command.ts')).addCluster },
  copies: { archive: async () => (await import('./archive-copy.ts')).withArchive },
  configure: async (setup) => (await import('./configure.ts')).configureReplication(setup),
};
