/** The list of add-ons, which is all that this program knows of them. */
import { edge } from '../addons/edge/addon.ts';
import { migration } from '../addons/migration/addon.ts';
import { tracing } from '../addons/tracing/addon.ts';
import type { Addon, AddonParts, Host, OpenAddon } from '../host/addon.ts';
import type { Environment } from '../process/settings.ts';

export const ADDONS: readonly Addon[] = [edge, migration, tracing];

/** The add-ons that the settings turn on. Rejects with a ConfigError for a value that cannot be used. */
export async function configureAddons(env: Environment): Promise<readonly OpenAddon[]> {
  const configured = await Promise.all(ADDONS.map(({ configure }) => configure?.(env) ?? null));
  return configured.filter((open) => open !== null);
}

export async function openAddons(
  host: Host,
  configured: readonly OpenAddon[] = [],
): Promise<readonly AddonParts[]> {
  return Promise.all(configured.map((open) => open(host)));
}
