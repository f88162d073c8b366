/** The surfaces that a server has, with every add-on as it is without settings. */

import type { Route } from '../../src/http/serving/route.ts';
import { createLog } from '../../src/process/log.ts';
import { configureAddons } from '../../src/start/addons.ts';
import { readConfig } from '../../src/start/config.ts';
import { surfacesOf } from '../../src/start/surfaces.ts';

export const SURFACES = surfacesOf(await configureAddons({}, readConfig({}), createLog('silent')));

const [admin] = SURFACES;
export const ADMIN_SURFACE = admin!;

/** Routes of the administrative interface. */
export const ADMIN_ROUTES = ADMIN_SURFACE.routes as readonly Route[];
