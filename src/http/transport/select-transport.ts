/**
 * Chooses the HTTP engine. `auto` takes uWebSockets.js when there is a binary for this platform and version of Node,
 * and otherwise node:http, with one warning.
 */
import { createNodeTransport } from './node-transport.ts';
import type { Transport, TransportOptions } from './transport.ts';
import { createUwsTransport } from './uws-transport.ts';

export const HTTP_ENGINES = ['auto', 'uws', 'node'] as const;
export type HttpEngine = (typeof HTTP_ENGINES)[number];

export async function selectTransport(
  engine: HttpEngine,
  options: TransportOptions,
  createUws: (options: TransportOptions) => Promise<Transport> = createUwsTransport,
): Promise<Transport> {
  if (engine === 'node') return createNodeTransport(options);
  try {
    return await createUws(options);
  } catch (error) {
    const where = `${process.platform}/${process.arch} with Node ${process.version}`;
    if (engine === 'uws') {
      const advice = 'set HTTP_ENGINE=auto, or use a Node version that has one';
      throw new Error(`There is no uWebSockets.js binary for ${where}: ${advice}.`, { cause: error });
    }
    // Operators: what it says
    options.log.warn(
      { err: error },
      `There is no uWebSockets.js binary for ${where}; the server uses the slower node:http.`,
    );
    return createNodeTransport(options);
  }
}
