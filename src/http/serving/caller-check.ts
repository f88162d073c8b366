/**
 * Identifies the caller and checks the caller's rights: 401 and 403. Runs when the request arrives, and again in its
 * turn after a wait.
 */
import { isIP } from 'node:net';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World, WorldOwner } from '../../domain/state/world.ts';
import type { TransportRequestHead } from '../transport/transport.ts';
import { type Asked, type Authenticator, type Caller, NOBODY } from './access.ts';
import type { BoundRoute } from './call.ts';
import type { Params } from './params.ts';
import type { Route, Site } from './route.ts';
import type { SessionCookie, SessionCookies } from './session-cookie.ts';
import type { Surface, SurfaceAccess } from './surface.ts';
import { worldSeenBy } from './visible-world.ts';

/** One response for all of them, so that guesses learn nothing. */
const UNKNOWN_TOKEN = refuse(
  'AuthenticationRequired',
  'The token in the header Authorization is unknown, revoked or expired.',
);
const UNKNOWN_SESSION = refuse('AuthenticationRequired', 'The session has ended. Sign in again.');

interface CallerCheckOptions {
  readonly authenticator: Authenticator;
  readonly cookies: SessionCookies;
  readonly site: Pick<Site, 'publicOrigin'>;
}

export class CallerCheck {
  readonly #state: WorldOwner;
  readonly #authenticator: Authenticator;
  readonly #cookies: SessionCookies;
  readonly #publicOrigin: string | null;

  constructor(state: WorldOwner, { authenticator, cookies, site }: CallerCheckOptions) {
    this.#state = state;
    this.#authenticator = authenticator;
    this.#cookies = cookies;
    this.#publicOrigin = site.publicOrigin;
  }

  /** The caller, or why it may not use the route: 401 or 403. */
  identify(head: TransportRequestHead, route: BoundRoute<Route>, params: Params): Caller | Refusal {
    const { access } = route.surface;
    const caller = this.#authenticate(head, route);
    if (isRefusal(caller) || access === null || caller === NOBODY) return caller;
    const world = worldSeenBy(this.#state.world, caller);
    return access.refuse(world, caller, route, askedOf(world, params)) ?? caller;
  }

  /**
   * The caller where the project that gave the right is no more, or the flag that led to it; null otherwise. Whether it
   * had the right is unknown, so it may only get a response again that it got before, under its own key.
   */
  identifyWithoutProject(
    head: TransportRequestHead,
    route: BoundRoute<Route>,
    params: Params,
  ): Caller | null {
    if (params.projectId === undefined && params.featureName === undefined) return null;
    const { world } = this.#state;
    const { projectId } = askedOf(world, params);
    if (projectId !== null && world.projects.has(projectId)) return null;
    const caller = this.#authenticate(head, route);
    return isRefusal(caller) ? null : caller;
  }

  #authenticate(head: TransportRequestHead, route: BoundRoute<Route>): Caller | Refusal {
    const { access } = route.surface;
    if (access === null) return NOBODY;
    const authorization = head.header('authorization');
    const session = this.#sessionOf(head, access, authorization);
    const caller =
      session === null
        ? this.#authenticator.authenticate(authorization)
        : this.#authenticator.authenticateSession(session.secret);
    if (caller === null) {
      if (access.isOptional !== true)
        return authorization !== ''
          ? UNKNOWN_TOKEN
          : session === null
            ? access.unauthenticated
            : UNKNOWN_SESSION;
      return (isChange(route) ? refuseCrossSite(head, NOBODY) : null) ?? NOBODY;
    }
    const foreign = caller.kind === 'anyone' ? refuseForeignHost(head, this.#publicOrigin) : null;
    if (foreign !== null) return foreign;
    // Any page could make a browser send what it sends automatically.
    const isAmbient = session !== null || caller.kind === 'anyone';
    const crossSite = isAmbient && isChange(route) ? refuseCrossSite(head, caller) : null;
    return crossSite ?? caller;
  }

  /** The event that began the request's session, where the session is not known here; null otherwise. */
  unknownSession(head: TransportRequestHead, { access }: Surface): number | null {
    const session = access === null ? null : this.#sessionOf(head, access, head.header('authorization'));
    if (session === null || this.#authenticator.authenticateSession(session.secret) !== null) return null;
    return session.eventId;
  }

  /** The cookie's session, which is ignored when the request has a token. */
  #sessionOf(
    head: TransportRequestHead,
    { takesSessions }: SurfaceAccess,
    authorization: string,
  ): SessionCookie | null {
    if (takesSessions !== true || authorization !== '') return null;
    return this.#cookies.read(head.header('cookie'));
  }
}

/** The flag determines the project where the path does not name it. */
function askedOf(world: World, { projectId, featureName, environment }: Partial<Params>): Asked {
  const ofFlag = projectId === undefined && featureName !== undefined;
  const asked = ofFlag ? world.flagProjects.get(featureName) : projectId;
  return { projectId: asked ?? null, environment: environment ?? null };
}

/** Whether callers who may only read must not use it. Applications report without a page, or from pages of any site. */
function isChange(route: Route): boolean {
  return route.kind === 'write' || (route.kind === 'read' && route.changesUsage === true);
}

// Requests that pages of other sites have a browser send.
//
// With `AUTH_TYPE=none` a browser needs no token, and with a session it sends one automatically. So any page
// could make the browser write here. Browsers name the origin of a request: by `Sec-Fetch-Site`, which no page can set, and older
// ones by `Origin`. Programs send neither, and are let through.
//
// A page may also have the name of its own site lead to this server (DNS rebinding): to the browser, it is of this very origin then.
// Such a name is in the header Host, so where no token is needed the server accepts only names that no stranger can own.

/** Reserved, or used by networks of containers: no name that ends so can be registered. */
const LOCAL_NAME_PATTERN = /^[^.]+\.?$|\.(?:localhost|local|internal|svc)\.?$/;

/** For a server that needs no token. `publicOrigin`: the address configured by the operator. */
export function refuseForeignHost(head: TransportRequestHead, publicOrigin: string | null): Refusal | null {
  const host = head.host().toLowerCase();
  const name = host.replace(/:\d*$/, '');
  const isAddress = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  const isPublic = publicOrigin !== null && name === new URL(publicOrigin).hostname;
  if (isAddress || isPublic || LOCAL_NAME_PATTERN.test(name)) return null;
  return refuse(
    'NoAccessError',
    `This server asks for no token (AUTH_TYPE=none), so it does not answer to the name "${name.slice(0, 200)}", which anybody may own; the operator can name it with PUBLIC_URL.`,
  );
}

const OWN_SITES = ['same-origin', 'none'];

function refuseCrossSite(head: TransportRequestHead, caller: Caller): Refusal | null {
  const site = head.header('sec-fetch-site');
  const origin = head.header('origin');
  const isOwn = site === '' ? origin === '' || isOriginOf(head.host(), origin) : OWN_SITES.includes(site);
  if (isOwn) return null;
  const from = origin === '' ? 'another site' : `"${origin.slice(0, 200)}"`;
  return refuse('NoAccessError', `A page of ${from} must not write to this server, ${reasonFor(caller)}.`);
}

/** A sign-in from another site would make a user work under another user's name. */
function reasonFor(caller: Caller): string {
  if (caller === NOBODY) return 'nor sign in to it';
  return caller.kind === 'anyone'
    ? 'which asks for no token (AUTH_TYPE=none)'
    : 'where this browser is signed in';
}

/** `null`, the origin of a sandboxed page, matches no host. */
function isOriginOf(host: string, origin: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
