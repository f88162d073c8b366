/** A node of a cluster, as its settings have it. */
import type { ConfiguredAddon, JoiningNode, Setup } from '../../host/addon.ts';
import { ConfigError, text } from '../../process/settings.ts';
import { clusterConfig } from './cluster-config.ts';
import type { OpenCluster } from './open-cluster.ts';

/** Null where the server is to run alone. */
export function configureReplication({ env, log, basePath }: Setup): ConfiguredAddon | null {
  const config = clusterConfig(env);
  if (config === null) return null;
  // An import that its leader did not finish would be known to its folder alone, while others lead on what they have of it.
  if (text(env, 'IMPORT_FILE') !== undefined)
    throw new ConfigError(
      'IMPORT_FILE cannot be used with REPLICATION_URL; start the cluster without it, and import through the interface.',
    );
  return nodeAddon(async (joining) =>
    // A server that runs alone loads none of it.
    (await import('./open-cluster.ts')).joinCluster({ ...joining, config, log, basePath }),
  );
}

/** An add-on whose node joins its cluster by `join`. */
export function nodeAddon(join: (joining: JoiningNode) => Promise<OpenCluster>): ConfiguredAddon {
  let node: OpenCluster | null = null;
  return {
    join: async (joining) => {
      node = await join(joining);
      return node;
    },
    open: async () => (node === null ? {} : (await import('./node-parts.ts')).nodeParts(node)),
  };
}
