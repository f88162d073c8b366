/** Chooses the HTTP engine: uWebSockets.js, unless an add-on brings another one that is preferred, or there is no binary of it. */
import type { Transport, TransportOptions } from './transport.ts';
import { createUwsTransport } from './uws-transport.ts';

/** An engine that an add-on brings. */
export interface OtherEngine {
  /** The name in messages. */
  readonly name: string;
  /** False: only where there is no binary of uWebSockets.js. */
  readonly isPreferred: boolean;
  open(options: TransportOptions): Promise<Transport>;
}

export async function openTransport(
  options: TransportOptions,
  other: OtherEngine | null,
  createUws: (options: TransportOptions) => Promise<Transport> = createUwsTransport,
): Promise<Transport> {
  if (other?.isPreferred === true) return other.open(options);
  try {
    return await createUws(options);
  } catch (error) {
    const where = `${process.platform}/${process.arch} with Node ${process.version}`;
    if (other === null) {
      const advice = 'use a Node version that has one, or another HTTP engine (docs/settings.md)';
      throw new Error(`There is no uWebSockets.js binary for ${where}: ${advice}.`, { cause: error });
    }
    // Operators: what it says
    options.log.warn(
      { err: error },
      `There is no uWebSockets.js binary for ${where}; the server uses the slower ${other.name}.`,
    );
    return other.open(options);
  }
}
