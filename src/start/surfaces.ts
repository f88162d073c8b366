/** The surfaces that programs talk to, all of which the description lists. */
import { performance } from 'node:perf_hooks';
import type { ConfiguredAddon } from '../host/addon.ts';
import { adminSurface } from '../http/admin/surface.ts';
import { inviteSurface, resetSurface } from '../http/people/link-surfaces.ts';
import { CALLBACK_PATH, LOGIN_PATH, oidcSurface } from '../http/people/oidc-surface.ts';
import { Provider } from '../http/people/provider.ts';
import {
  offeredSurface,
  passwordSurface,
  SessionStart,
  sessionSurfaces,
} from '../http/people/session-surfaces.ts';
import type { Api } from '../http/serving/dispatcher.ts';
import type { Phase } from '../http/serving/probes.ts';
import type { SessionCookies } from '../http/serving/session-cookie.ts';
import type { Surface } from '../http/serving/surface.ts';
import { selectTransport } from '../http/transport/select-transport.ts';
import type { Transport, TransportOptions } from '../http/transport/transport.ts';
import type { Log } from '../process/log.ts';
import type { Config } from './config.ts';

/** The surfaces that programs talk to, with those of add-ons. */
export function surfacesOf(addons: readonly ConfiguredAddon[]): readonly Surface[] {
  const routes = addons.flatMap(({ adminRoutes = [] }) => adminRoutes);
  const surfaces = addons.flatMap((addon) => addon.surfaces ?? []);
  return [adminSurface(routes), ...surfaces, resetSurface, inviteSurface];
}

/** The full paths of the routes that SDKs poll. */
function polledPaths(surfaces: readonly Surface[], basePath: string): readonly string[] {
  return surfaces.flatMap(({ prefix, routes }) =>
    routes.flatMap((route) =>
      route.kind === 'read' && route.isPolled === true ? basePath + prefix + route.path : [],
    ),
  );
}

// The ways to sign in to the pages, as the server puts them together. The client of a provider is loaded only where one is set.

interface SignInParts {
  readonly config: Config;
  readonly cookies: SessionCookies;
  readonly log: Log;
}

export function signInSurfaces({ config, cookies, log }: SignInParts): readonly Surface[] {
  const { basePath, oidc, sessions, authType } = config;
  const start = new SessionStart(cookies, sessions);
  const areOpen = authType === 'none';
  if (oidc === null) {
    return [...sessionSurfaces(start), passwordSurface(start), offeredSurface({ provider: null, areOpen })];
  }
  const page = `${oidc.origin}${basePath}`;
  const monotonicMs = (): number => performance.now();
  const provider = new Provider(oidc, `${page}${CALLBACK_PATH}`, monotonicMs);
  const warn = (fields: object, message: string): void => log.warn(fields, message);
  // Operators: look at `err`
  provider
    .prepare()
    .catch((err: unknown) => warn({ err }, 'the provider of OpenID Connect cannot be used yet'));
  // The page is at the path of the server, and links below it.
  const offered = { button: oidc.button, path: LOGIN_PATH.slice(1) };
  return [
    ...sessionSurfaces(start, () => provider.signOutAddress(`${page}/`)),
    passwordSurface(start),
    offeredSurface({ provider: offered, areOpen }),
    oidcSurface({ ...{ settings: oidc, provider, start, basePath, warn }, monotonicMs }),
  ];
}

// The listener, from before there is anything to respond with.

interface FrontOptions {
  readonly config: Config;
  readonly log: Log;
  readonly surfaces: readonly Surface[];
}

/**
 * The part in front of the store, which is open from the first moment. Its handler changes once the store is open.
 */
export interface Front {
  phase: Phase;
  handle: Api['handle'];
  admit: Api['admit'];
  refuse: Api['refuse'];
  handedOnFor: Required<TransportOptions>['handedOnFor'];
}

export function createFront(front: Front, { config, log, surfaces }: FrontOptions): Promise<Transport> {
  const { host, port, trustedProxies, streamsMax, connectionsPerAddressMax, basePath } = config;
  return selectTransport(config.httpEngine, {
    ...{ host, port, log, trustedProxies },
    handle: (request, response) => front.handle(request, response),
    admit: (head) => front.admit(head),
    refuse: (...refused) => front.refuse(...refused),
    handedOnFor: (request) => front.handedOnFor(request),
    polledPaths: polledPaths(surfaces, basePath),
    limits: { streamsMax, ...(connectionsPerAddressMax !== null && { connectionsPerAddressMax }) },
  });
}
