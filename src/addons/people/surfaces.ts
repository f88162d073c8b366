/** The ways to sign in to the pages. The client of a provider is loaded only where one is set. */
import { performance } from 'node:perf_hooks';
import type { ConfiguredAddon, Setup } from '../../host/addon.ts';
import type { HashPassword } from '../../http/serving/route.ts';
import { SessionCookies } from '../../http/serving/session-cookie.ts';
import { API_PREFIX } from '../../http/serving/surface.ts';
import { linkSurfaces } from './link-surfaces.ts';
import { oidcConfig } from './oidc-config.ts';
import { CALLBACK_PATH, LOGIN_PATH, oidcSurface } from './oidc-surface.ts';
import { invitationRoutes, passwordRoutes } from './password-routes.ts';
import { Passwords } from './passwords.ts';
import { Provider } from './provider.ts';
import { ScryptQueue } from './scrypt-queue.ts';
import { offeredSurface, passwordSurface, SessionStart, sessionSurfaces } from './session-surfaces.ts';
import { signOnRoutes } from './sign-on-settings.ts';

export function configurePeople({
  env,
  log,
  basePath,
  isOpen,
  sessions,
  passwordCost,
}: Setup): ConfiguredAddon {
  const oidc = oidcConfig(env, isOpen);
  const start = new SessionStart(new SessionCookies(basePath, sessions.isSecureOnly), sessions);
  const monotonicMs = (): number => performance.now();
  const passwords = new Passwords(new ScryptQueue(passwordCost), monotonicMs);
  const hashPassword: HashPassword = (password, sender) => passwords.hash(password, sender);
  const routes = { [API_PREFIX]: [...passwordRoutes(passwords), ...invitationRoutes, ...signOnRoutes(oidc)] };
  const surfaces = [...linkSurfaces(passwords), passwordSurface(start, passwords)];
  if (oidc === null) {
    const offered = offeredSurface({ provider: null, areOpen: isOpen });
    return { routes, hashPassword, surfaces: [...surfaces, ...sessionSurfaces(start), offered] };
  }
  const page = `${oidc.origin}${basePath}`;
  const provider = new Provider(oidc, `${page}${CALLBACK_PATH}`, monotonicMs);
  const warn = (fields: object, message: string): void => log.warn(fields, message);
  // The page is at the path of the server, and links below it.
  const offered = { button: oidc.button, path: LOGIN_PATH.slice(1) };
  return {
    routes,
    hashPassword,
    surfaces: [
      ...surfaces,
      ...sessionSurfaces(start, () => provider.signOutAddress(`${page}/`)),
      offeredSurface({ provider: offered, areOpen: isOpen }),
      oidcSurface({ ...{ settings: oidc, provider, start, basePath, warn }, monotonicMs }),
    ],
    publicOrigin: oidc.origin,
    open: () => {
      // Operators: look at `err`
      provider
        .prepare()
        .catch((err: unknown) => warn({ err }, 'the provider of OpenID Connect cannot be used yet'));
      return {};
    },
  };
}
