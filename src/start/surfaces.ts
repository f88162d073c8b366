/** The surfaces that programs talk to, all of which the description lists. */
import type { ConfiguredAddon } from '../host/addon.ts';
import { adminSurface } from '../http/admin/surface.ts';
import type { Phase } from '../http/serving/probes.ts';
import type { Surface } from '../http/serving/surface.ts';
import { type OtherEngine, openTransport } from '../http/transport/select-transport.ts';
import type { RequestHandlers, Transport } from '../http/transport/transport.ts';
import type { Log } from '../process/log.ts';
import type { Config } from './config.ts';

/** The surfaces that programs talk to, with those of add-ons. One without routes is switched off, and gets none from elsewhere. */
export function surfacesOf(addons: readonly ConfiguredAddon[]): readonly Surface[] {
  const surfaces = [adminSurface, ...addons.flatMap((addon) => addon.surfaces ?? [])];
  return surfaces.map((surface) => {
    const more = addons.flatMap(({ routes }) => routes?.[surface.prefix] ?? []);
    if (surface.routes.length === 0 || more.length === 0) return surface;
    return { ...surface, routes: [...surface.routes, ...more] };
  });
}

/** The full paths of the routes that SDKs poll. */
function polledPaths(surfaces: readonly Surface[], basePath: string): readonly string[] {
  return surfaces.flatMap(({ prefix, routes }) =>
    routes.flatMap((route) =>
      route.kind === 'read' && route.isPolled === true ? basePath + prefix + route.path : [],
    ),
  );
}

// The listener, from before there is anything to respond with.

interface ListenerOptions {
  readonly config: Config;
  readonly log: Log;
  readonly surfaces: readonly Surface[];
  /** The engine that an add-on brings. */
  readonly engine: OtherEngine | null;
}

/** The listener is open before the store is, and the handlers change with it. */
export type RequestRouter = { phase: Phase } & {
  -readonly [Name in keyof RequestHandlers]: RequestHandlers[Name];
};

export function listen(
  handlers: RequestHandlers,
  { config, log, surfaces, engine }: ListenerOptions,
): Promise<Transport> {
  const { host, port, trustedProxies, streamsMax, basePath } = config;
  const options = {
    ...{ host, port, log, trustedProxies, handlers },
    polledPaths: polledPaths(surfaces, basePath),
    limits: { streamsMax },
  };
  return openTransport(options, engine);
}
