/** The list of add-ons, which is all that this program knows of them. */
import { audit } from '../addons/audit/addon.ts';
import { changeRequests } from '../addons/change-requests/addon.ts';
import { edge } from '../addons/edge/addon.ts';
import { flagsAsCode } from '../addons/flags-as-code/addon.ts';
import { integrations } from '../addons/integrations/addon.ts';
import { migration } from '../addons/migration/addon.ts';
import { nodeHttp } from '../addons/node-http/addon.ts';
import { openfeatureManifest } from '../addons/openfeature-manifest/addon.ts';
import { pages } from '../addons/pages/addon.ts';
import { people } from '../addons/people/addon.ts';
import { playground } from '../addons/playground/addon.ts';
import { repair } from '../addons/repair/addon.ts';
import { replication } from '../addons/replication/addon.ts';
import { reports } from '../addons/reports/addon.ts';
import { sdk } from '../addons/sdk/addon.ts';
import { tracing } from '../addons/tracing/addon.ts';
import { transfer } from '../addons/transfer/addon.ts';
import { usage } from '../addons/usage/addon.ts';
import { registerGuards } from '../domain/decide/event-guard.ts';
import { registerNewProjects } from '../domain/decide/new-project.ts';
import { registerKinds } from '../domain/kinds/addon-kind.ts';
import { registerPendingRequests } from '../domain/state/pending-requests.ts';
import type { Addon, ConfiguredAddon, Setup } from '../host/addon.ts';
import type { Log } from '../process/log.ts';
import type { Environment } from '../process/settings.ts';
import type { Config } from './config.ts';

export const ADDONS: readonly Addon[] = [
  sdk,
  usage,
  people,
  pages,
  playground,
  reports,
  changeRequests,
  integrations,
  tracing,
  nodeHttp,
  replication,
  edge,
  migration,
  audit,
  repair,
  transfer,
  openfeatureManifest,
  flagsAsCode,
];

/** The add-ons that the settings turn on. Rejects with a ConfigError for a value that cannot be used. */
export async function configureAddons(
  env: Environment,
  config: Config,
  log: Log,
  passwordCost?: Setup['passwordCost'],
): Promise<readonly ConfiguredAddon[]> {
  const { basePath, sessions, authType } = config;
  const setup: Setup = { env, log, basePath, sessions, isOpen: authType === 'none', passwordCost };
  const configured = await Promise.all(ADDONS.map(({ configure }) => configure?.(setup) ?? null));
  const addons = configured.filter((one) => one !== null);
  registerKinds(addons.flatMap(({ kinds = [] }) => kinds));
  registerGuards(addons.flatMap(({ guard }) => guard ?? []));
  registerNewProjects(
    addons.find(({ protectNewProject }) => protectNewProject !== undefined)?.protectNewProject,
  );
  registerPendingRequests(addons.find(({ pending }) => pending !== undefined)?.pending);
  return addons;
}
