import { loadUws } from '../../src/http/transport/uws-transport.ts';
import { createLog } from '../../src/process/log.ts';
import { configureAddons } from '../../src/start/addons.ts';
import { readConfig } from '../../src/start/config.ts';

const hasUws = await loadUws().then(
  () => true,
  () => false,
);

/** Why tests of uWebSockets.js are skipped; false where they are not. */
export const NO_UWS = hasUws ? false : `There is no uWebSockets.js binary for Node ${process.version}`;

export type EngineName = 'uws' | 'node';

const configured = await configureAddons({ HTTP_ENGINE: 'node' }, readConfig({}), createLog('silent'));

/** The engine that an add-on brings; null where that was taken away. */
export const OTHER_ENGINE = configured.find(({ engine }) => engine !== undefined)?.engine ?? null;

/** The HTTP engines that the interface is tested over: the same suite, the same counts. */
export const ENGINES: readonly EngineName[] = [
  ...(hasUws ? (['uws'] as const) : []),
  ...(OTHER_ENGINE === null ? [] : (['node'] as const)),
];
