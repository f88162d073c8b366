/** Decisions on settings of the service. */
import { jsonEqual } from '../json/json.ts';
import { ABOUT_NOTHING } from '../state/events.ts';
import { FRONTEND_SETTING_ID, type Setting } from '../state/frontend-origins.ts';
import type { World } from '../state/world.ts';
import { type Decision, UNCHANGED } from './decision.ts';

export interface SetFrontendOrigins {
  readonly type: 'set-frontend-origins';
  readonly origins: readonly string[];
}

export function setFrontendOrigins(world: World, { origins }: SetFrontendOrigins): Decision {
  const preData = world.directory.settings.get(FRONTEND_SETTING_ID);
  const data: Setting = { id: FRONTEND_SETTING_ID, frontendApiOrigins: [...new Set(origins)] };
  if (preData === undefined) return [{ type: 'setting-created', ...ABOUT_NOTHING, data, preData: null }];
  return jsonEqual(data, preData)
    ? UNCHANGED
    : [{ type: 'setting-updated', ...ABOUT_NOTHING, data, preData }];
}
