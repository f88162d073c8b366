/** Environment variables that are probably settings with a slip in the name, which would do nothing. */
import { GROWTH_LIMITS } from '../domain/flags/growth-limits.ts';
import { nearestName } from '../domain/json/nearest-name.ts';
import type { Addon } from '../host/addon.ts';
import type { Environment } from '../process/settings.ts';
import { SERVER_SETTINGS } from './setting-rows.ts';

const CHANGES_MAX = 2;

// In shorter names, such as PORT, two letters make another word.
const LENGTH_MIN = 6;

/** Sentences that name the variable and the setting. `addons`: those whose settings are known beside the server's. */
export function misspeltSettings(env: Environment, addons: readonly Addon[]): readonly string[] {
  const rows = [...SERVER_SETTINGS, ...addons.flatMap(({ settings = [] }) => settings)];
  const limits = Object.values(GROWTH_LIMITS).map(({ setting }) => setting);
  const known = new Set([...rows.flatMap(({ names }) => names), ...limits]);
  const compared = [...known].filter(({ length }) => length >= LENGTH_MIN);
  return Object.keys(env).flatMap((name) => {
    if (name.length < LENGTH_MIN || known.has(name)) return [];
    const meant = nearestName(name, compared, CHANGES_MAX);
    return meant === null ? [] : [`There is no setting ${name}, which is ignored. Did you mean ${meant}?`];
  });
}
