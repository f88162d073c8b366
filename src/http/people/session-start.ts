/** How a session begins and ends for a browser: its secret, its command and its cookie, whichever way its user signs in. */
import type { BeginSession, SessionSecret } from '../../domain/people/session-commands.ts';
import { digestOf } from '../serving/access.ts';
import { makeSecret, secretOf } from '../serving/fresh-secret.ts';
import type { RequestContext } from '../serving/route.ts';
import type { SessionCookies } from '../serving/session-cookie.ts';

export interface SessionSettings {
  /** Milliseconds after which a session ends, however much it is used. */
  readonly lifetimeMs: number;
  /** Whether browsers reach the server over HTTPS alone. */
  readonly isSecureOnly: boolean;
}

type Context = RequestContext<unknown>;

/** The command of a request that begins no session. It changes nothing. */
export const NO_SESSION = { type: 'end-session', digest: '' } as const;

export class SessionStart {
  readonly #cookies: SessionCookies;
  readonly #settings: SessionSettings;

  constructor(cookies: SessionCookies, settings: SessionSettings) {
    this.#cookies = cookies;
    this.#settings = settings;
  }

  /** The command that begins a session for the person who has been recognised. */
  command(context: Context, who: Pick<BeginSession, 'userId' | 'tokenDigest' | 'begunWith'>): BeginSession {
    return { type: 'begin-session', ...this.secret(context), ...who };
  }

  /** The part of a command that begins a session, among other things. */
  secret(context: Context): SessionSecret {
    const digest = makeSecret(context, '', 'base64url');
    return { digest, lifetimeMs: this.#settings.lifetimeMs };
  }

  /** The header Set-Cookie of the session that the command of this request has begun. */
  cookie(context: Context, isSecure = this.#isSecure(context)): string {
    const eventId = context.world.directory.sessionsRevision;
    return this.#cookies.begin({ secret: secretOf(context), eventId }, isSecure);
  }

  /** The digest of the session that the request carries; null for none. */
  digestIn(context: Context): string | null {
    const cookie = this.#cookies.read(context.header('cookie'));
    return cookie === null ? null : digestOf(cookie.secret);
  }

  /** The headers Set-Cookie that make a browser forget its session. */
  ended(context: Context): readonly string[] {
    return this.#cookies.end(this.#isSecure(context));
  }

  /** Browsers name the origin of the page that signs in. A proxy in between may have ended HTTPS. */
  #isSecure(context: Context): boolean {
    return this.#settings.isSecureOnly || context.header('origin').startsWith('https://');
  }
}
