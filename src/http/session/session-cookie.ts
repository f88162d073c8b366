/**
 * The session of a browser: a cookie that carries the token which somebody signed in with, so that it survives reloads
 * and new tabs, works on every node, and ends when the token does. No script can read it (HttpOnly).
 *
 * No page of another site can use it. Browsers send it with requests that pages of this site make only
 * (SameSite=Strict), and a change that carries it is refused unless the browser says that a page of this very origin
 * made it (src/http/serving/cross-site.ts), since another port of the same host is the same site.
 */

const NAME = 'flagstaff_session';

/** A token has at most 300 characters; base64url makes 400 of them. */
const COOKIE_PATTERN = /(?:^|;\s*)flagstaff_session=([A-Za-z0-9_-]{1,400})(?:;|$)/;

/** The token in the header Cookie; empty without one. */
export function tokenInCookie(cookie: string): string {
  const value = cookie === '' ? undefined : COOKIE_PATTERN.exec(cookie)?.[1];
  return value === undefined ? '' : Buffer.from(value, 'base64url').toString('latin1');
}

export interface CookieScope {
  /** `BASE_URI_PATH`. */
  readonly basePath: string;
  /** Whether it must be sent over HTTPS only. */
  readonly secure: boolean;
}

/** The header Set-Cookie that begins a session. It lasts until the browser is closed. */
export function sessionCookie(token: string, scope: CookieScope): string {
  return `${NAME}=${Buffer.from(token, 'latin1').toString('base64url')}${attributesOf(scope)}`;
}

/** The header Set-Cookie that ends the session. */
export function endedSessionCookie(scope: CookieScope): string {
  return `${NAME}=${attributesOf(scope)}; Max-Age=0`;
}

function attributesOf({ basePath, secure }: CookieScope): string {
  return `; Path=${basePath}/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}
