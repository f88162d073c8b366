/** The ways to sign in to the pages, as the server puts them together. The client of a provider is loaded only where one is set. */
import { performance } from 'node:perf_hooks';
import { offeredSurface } from '../http/people/offered-surface.ts';
import { CALLBACK_PATH, LOGIN_PATH, oidcSurface } from '../http/people/oidc-surface.ts';
import { passwordSurface } from '../http/people/password-surface.ts';
import { Provider } from '../http/people/provider.ts';
import { SessionStart } from '../http/people/session-start.ts';
import { sessionSurfaces } from '../http/people/session-surfaces.ts';
import type { SessionCookies } from '../http/serving/session-cookie.ts';
import type { Surface } from '../http/serving/surface.ts';
import type { Log } from '../process/log.ts';
import type { Config } from './config.ts';

export interface SignInParts {
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
