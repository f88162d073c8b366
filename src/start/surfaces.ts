/** The surfaces that programs talk to, all of which the description lists. */
import type { ConfiguredAddon } from '../host/addon.ts';
import { adminSurface } from '../http/admin/surface.ts';
import type { Api } from '../http/serving/dispatcher.ts';
import type { Phase } from '../http/serving/probes.ts';
import type { Surface } from '../http/serving/surface.ts';
import { selectTransport } from '../http/transport/select-transport.ts';
import type { Transport, TransportOptions } from '../http/transport/transport.ts';
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
}

/**
 * The handlers of requests. The listener is open before the store is, and they change with it.
 */
export interface RequestRouter {
  phase: Phase;
  handle: Api['handle'];
  admit: Api['admit'];
  refuse: Api['refuse'];
  handedOnFor: Required<TransportOptions>['handedOnFor'];
}

export function listen(
  router: RequestRouter,
  { config, log, surfaces }: ListenerOptions,
): Promise<Transport> {
  const { host, port, trustedProxies, streamsMax, connectionsPerAddressMax, basePath } = config;
  return selectTransport(config.httpEngine, {
    ...{ host, port, log, trustedProxies },
    handle: (request, response) => router.handle(request, response),
    admit: (head) => router.admit(head),
    refuse: (...refused) => router.refuse(...refused),
    handedOnFor: (request) => router.handedOnFor(request),
    polledPaths: polledPaths(surfaces, basePath),
    limits: { streamsMax, ...(connectionsPerAddressMax !== null && { connectionsPerAddressMax }) },
  });
}
