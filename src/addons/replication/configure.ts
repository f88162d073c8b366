/** A node of a cluster, as its settings have it. */
import type { ConfiguredAddon, Setup } from '../../host/addon.ts';
import { ConfigError, text } from '../../process/settings.ts';
import { clusterConfig } from './cluster-config.ts';

/** Null where the server is to run alone. */
export function configureReplication({ env, log, basePath }: Setup): ConfiguredAddon | null {
  const config = clusterConfig(env);
  if (config === null) return null;
  // An import that its leader did not finish would be known to its folder alone, while others lead on what they have of it.
  if (text(env, 'IMPORT_FILE') !== undefined)
    throw new ConfigError(
      'IMPORT_FILE cannot be used with REPLICATION_URL; start the cluster without it, and import through the interface.',
    );
  return {
    // A server that runs alone loads none of it.
    join: async (node) => (await import('./open-cluster.ts')).joinCluster({ ...node, config, log, basePath }),
  };
}
