/** The settings that choose between the HTTP engines. */
import type { OtherEngine } from '../../http/transport/select-transport.ts';
import { ConfigError, countOf, type Environment, oneOf, text } from '../../process/settings.ts';

export const HTTP_ENGINES = ['auto', 'uws', 'node'] as const;
export type HttpEngine = (typeof HTTP_ENGINES)[number];

export const CONNECTIONS_PER_ADDRESS_MAX = 1_000_000;

/** uWebSockets.js does not tell whose connection has ended, so a limit for each address takes this engine. */
export function engineOf(env: Environment): OtherEngine | null {
  const name = 'CONNECTIONS_PER_ADDRESS';
  const engine = oneOf(env, 'HTTP_ENGINE', HTTP_ENGINES, 'auto');
  if (text(env, name) === undefined) return nodeEngine(engine);
  if (engine !== 'uws') return nodeEngine('node', countOf(env, name, 1, CONNECTIONS_PER_ADDRESS_MAX));
  throw new ConfigError(
    `${name} cannot be used with HTTP_ENGINE=uws, which does not tell whose connection ends; remove one of the two.`,
  );
}

export function nodeEngine(
  engine: HttpEngine,
  connectionsPerAddressMax = Number.POSITIVE_INFINITY,
): OtherEngine | null {
  if (engine === 'uws') return null;
  return {
    name: 'node:http',
    isPreferred: engine === 'node',
    open: async (options) => {
      const { createNodeTransport } = await import('./node-transport.ts');
      return createNodeTransport(options, connectionsPerAddressMax);
    },
  };
}
