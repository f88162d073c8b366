/**
 * The session of a browser: a cookie that carries the secret of a session (domain/access/sessions.ts), and the id of the event
 * that began it, so that a node that does not have that event yet waits for it. No script can read it (HttpOnly).
 *
 * No page of another site can use it. Browsers send it with requests that pages of this site make only
 * (SameSite=Strict), and a change that carries it is refused where the browser does not say that a page of this very origin
 * made it (src/http/serving/caller-check.ts), since another port of the same host is the same site.
 *
 * Over HTTPS its name begins with `__Host-`. Browsers take such a cookie from this host alone, and never over plain HTTP, so
 * no other host of the domain, and no proxy, can plant one. It is for all paths then, so the name holds the path.
 */

const NAME = 'flagstaff_session';

/** The form of the value: an event id, and a secret of 256 bits in base64url. */
const VALUE = '([0-9]{1,15})-([A-Za-z0-9_-]{43})';

export interface SessionCookie {
  readonly secret: string;
  /** The id of the event that began the session. */
  readonly eventId: number;
}

/** The cookies of the server at one path. */
export class SessionCookies {
  readonly #basePath: string;
  readonly #names: { readonly secure: string; readonly plain: string };
  readonly #patterns: readonly RegExp[];

  /** `basePath`: `BASE_URI_PATH`. `isSecureOnly`: whether the server is reached over HTTPS alone. */
  constructor(basePath: string, isSecureOnly: boolean) {
    this.#basePath = basePath;
    const suffix = basePath.replaceAll('/', '.');
    this.#names = { secure: `__Host-${NAME}${suffix}`, plain: NAME };
    const taken = isSecureOnly ? [this.#names.secure] : [this.#names.secure, this.#names.plain];
    this.#patterns = taken.map((name) => new RegExp(`(?:^|;\\s*)${escaped(name)}=${VALUE}(?:;|$)`));
  }

  /** The cookie of the request; null without one. One that no other host can have planted goes first. */
  read(cookie: string): SessionCookie | null {
    if (cookie === '') return null;
    for (const pattern of this.#patterns) {
      const [, eventId, secret] = pattern.exec(cookie) ?? [];
      if (secret !== undefined) return { secret, eventId: Number(eventId) };
    }
    return null;
  }

  /** The header Set-Cookie that begins a session. The browser forgets it when it is closed. */
  begin({ secret, eventId }: SessionCookie, isSecure: boolean): string {
    return `${this.#nameOf(isSecure)}=${eventId}-${secret}${this.#attributes(isSecure)}`;
  }

  /** The headers Set-Cookie that end it, under whichever name it is. */
  end(isSecure: boolean): readonly string[] {
    const names = isSecure ? [true, false] : [false];
    return names.map((secure) => `${this.#nameOf(secure)}=${this.#attributes(secure)}; Max-Age=0`);
  }

  #nameOf(isSecure: boolean): string {
    return isSecure ? this.#names.secure : this.#names.plain;
  }

  #attributes(isSecure: boolean): string {
    return isSecure
      ? '; Path=/; HttpOnly; SameSite=Strict; Secure'
      : `; Path=${this.#basePath}/; HttpOnly; SameSite=Strict`;
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
