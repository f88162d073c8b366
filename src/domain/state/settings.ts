/** Settings of the service that were changed through the interface, each under an id of its own. */
import type { FrontendSetting } from './frontend-origins.ts';
import { type Refusal, refuse } from './refusal.ts';

export const MAINTENANCE_SETTING_ID = 'maintenance';

/** While it is on, nobody changes anything (docs/specification/companions.md#maintenance). */
export interface MaintenanceSetting {
  readonly id: typeof MAINTENANCE_SETTING_ID;
  readonly enabled: boolean;
}

export type Setting = FrontendSetting | MaintenanceSetting;
export type Settings = ReadonlyMap<Setting['id'], Setting>;

/** The setting with this id; undefined where it was never changed. */
export function settingOf<Id extends Setting['id']>(
  settings: Settings,
  id: Id,
): Extract<Setting, { readonly id: Id }> | undefined {
  return settings.get(id) as Extract<Setting, { readonly id: Id }> | undefined;
}

export const isInMaintenance = (settings: Settings): boolean =>
  settingOf(settings, MAINTENANCE_SETTING_ID)?.enabled === true;

/** Null: changes are accepted. */
export function refuseInMaintenance(settings: Settings): Refusal | null {
  if (!isInMaintenance(settings)) return null;
  return refuse(
    'ServiceUnavailableError',
    'The server is in maintenance, so nothing is changed. An Admin ends it by POST /maintenance with { "enabled": false }.',
  );
}
