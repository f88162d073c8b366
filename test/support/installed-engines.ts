import { loadUws } from '../../src/http/transport/uws-transport.ts';

const hasUws = await loadUws().then(
  () => true,
  () => false,
);

/** Why tests of uWebSockets.js are skipped; false where they are not. */
export const NO_UWS = hasUws ? false : `There is no uWebSockets.js binary for Node ${process.version}`;

export type EngineName = 'uws' | 'node';

/** The HTTP engines that the interface is tested over: the same suite, the same counts. */
export const ENGINES: readonly EngineName[] = hasUws ? ['uws', 'node'] : ['node'];
