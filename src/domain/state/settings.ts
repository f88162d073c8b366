/** Settings of the service that were changed through the interface, each under its own id. */
import { type FlagType, LIFETIME_DAYS, type Lifetimes, type SetLifetimes } from '../flags/metadata.ts';
import type { ProjectRules } from '../flags/project-rules.ts';
import { type Refusal, refuse } from './refusal.ts';

export const MAINTENANCE_SETTING_ID = 'maintenance';

/** While it is on, changes are refused (docs/specification/companions.md#maintenance). */
export interface MaintenanceSetting {
  readonly id: typeof MAINTENANCE_SETTING_ID;
  readonly enabled: boolean;
}

export const LIFETIMES_SETTING_ID = 'lifetimes';

/** The lifetimes of types that were set, by `feature-type-updated` (docs/specification/flags.md#staleness). */
export interface LifetimesSetting {
  readonly id: typeof LIFETIMES_SETTING_ID;
  readonly days: SetLifetimes;
}

export type Setting = FrontendSetting | MaintenanceSetting | LifetimesSetting;
export type Settings = ReadonlyMap<Setting['id'], Setting>;

/** The setting with this id; undefined where it was never changed. */
export function settingOf<Id extends Setting['id']>(
  settings: Settings,
  id: Id,
): Extract<Setting, { readonly id: Id }> | undefined {
  return settings.get(id) as Extract<Setting, { readonly id: Id }> | undefined;
}

/** By what was set, for each value that it stands before. Readers compare lifetimes by identity, to see whether they have changed. */
const lifetimes = new WeakMap<Lifetimes, WeakMap<SetLifetimes, Lifetimes>>();

function withSet(before: Lifetimes, set: SetLifetimes | undefined): Lifetimes {
  if (set === undefined) return before;
  const known = lifetimes.get(before) ?? new WeakMap<SetLifetimes, Lifetimes>();
  lifetimes.set(before, known);
  const after = known.get(set) ?? { ...before, ...set };
  known.set(set, after);
  return after;
}

/** The lifetimes of types in projects that have none of their own. */
export const lifetimesOf = (settings: Settings): Lifetimes =>
  withSet(LIFETIME_DAYS, settingOf(settings, LIFETIMES_SETTING_ID)?.days);

interface LifetimeSources {
  readonly directory: { readonly settings: Settings };
  readonly projects: { get(id: string): { readonly settings: ProjectRules } | undefined };
}

/** The lifetimes of types in a project. */
export const lifetimesIn = ({ directory, projects }: LifetimeSources, project: string): Lifetimes =>
  withSet(lifetimesOf(directory.settings), projects.get(project)?.settings.lifetimes);

/** The setting once a type has another lifetime. */
export function withLifetime(settings: Settings, type: FlagType, days: number | null): LifetimesSetting {
  const known = settingOf(settings, LIFETIMES_SETTING_ID)?.days;
  return { id: LIFETIMES_SETTING_ID, days: { ...known, [type]: days } };
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

// The origins of pages that may call the surfaces for pages: as the operator configured them, until they are set through the
// interface, which then counts (docs/specification/surfaces.md#what-pages-get).

export const ANY_ORIGIN = '*';

export const FRONTEND_SETTING_ID = 'frontend';

interface FrontendSetting {
  readonly id: typeof FRONTEND_SETTING_ID;
  readonly frontendApiOrigins: readonly string[];
}

/** Describes an origin in messages. */
export const ORIGIN_PHRASE =
  'an origin in ASCII such as https://shop.example or https://xn--caf-dma.example, or *';

/** Takes visible ASCII only, as browsers send origins and as headers carry them. */
export function isOrigin(text: string): boolean {
  return text === ANY_ORIGIN || /^[a-z][a-z0-9+.-]*:\/\/(?:(?![/?#@])[\x21-\x7e])+$/.test(text);
}

/** `configured`: those that count while none were set. Versions before 0.3.0 stored some that are no origins. */
export function frontendOrigins(
  setting: FrontendSetting | undefined,
  configured: readonly string[],
): readonly string[] {
  return setting?.frontendApiOrigins ?? configured;
}
