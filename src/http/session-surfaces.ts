/**
 * Signing in and out of the pages (docs/specification/rights.md#sessions). POST turns the token in the header
 * Authorization into a session, so that it is checked, logged and limited as any other; a page of another site cannot
 * send that header. DELETE ends the session, whether or not its token is still good.
 */
import { adminSurface } from './admin/surface.ts';
import { secretIn } from './dispatch/access.ts';
import { COMMON_ERRORS } from './dispatch/errors.ts';
import { EMPTY_HEADERS } from './dispatch/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute } from './dispatch/route.ts';
import type { Surface, SurfaceAccess } from './dispatch/surface.ts';
import { type CookieScope, endedSessionCookie, sessionCookie } from './session/session-cookie.ts';

const SESSION = {
  path: '/session',
  tag: 'Session',
  permission: 'self',
  success: { status: 204, schema: null },
} as const;

type Context = RequestContext<unknown>;

/** `basePath`: `BASE_URI_PATH`. */
export function sessionSurfaces(basePath: string): readonly Surface[] {
  const surface = { prefix: '/auth', errors: COMMON_ERRORS, description: null };
  const begin = readRoute({
    ...SESSION,
    method: 'POST',
    operationId: 'beginSession',
    summary: 'Begin a session with the token in the header Authorization.',
    read: (context) => cookieResponse(sessionCookie(tokenOf(context), scopeOf(context, basePath))),
  });
  const end = readRoute({
    ...SESSION,
    method: 'DELETE',
    operationId: 'endSession',
    summary: 'End the session.',
    read: (context) => cookieResponse(endedSessionCookie(scopeOf(context, basePath))),
  });
  return [
    { ...surface, access: accessByHeader(), routes: [begin] },
    { ...surface, access: null, routes: [end] },
  ];
}

/** As for the administrative interface, but that a session cannot begin another. */
function accessByHeader(): SurfaceAccess {
  const { access } = adminSurface;
  if (access === null) throw new Error('the administrative interface asks for no token');
  return { ...access, takesSessions: false };
}

/** Empty where authentication is off and none was sent: such a session is as good as none. */
function tokenOf(context: Context): string {
  return secretIn(context.header('authorization')) ?? '';
}

/** Browsers name the origin of the page that signs in. A proxy in between may have ended HTTPS. */
function scopeOf(context: Context, basePath: string): CookieScope {
  return { basePath, secure: context.header('origin').startsWith('https://') };
}

/** It shows no state, so it waits for nothing. */
function cookieResponse(cookie: string): ReadResponse {
  return {
    revision: 0,
    response: { status: 204, headers: EMPTY_HEADERS.with('set-cookie', cookie), body: null },
  };
}
