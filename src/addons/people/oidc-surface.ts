/**
 * Signing in with OpenID Connect (docs/specification/rights.md#openid-connect). The first half sends the browser to the
 * provider, the second takes it back and begins a session. In between the browser keeps what only it and this server may know, sealed,
 * in a cookie of ten minutes: a sign-in that was begun in another browser is refused, so a link cannot sign a user in as
 * another.
 *
 * The second half is a write, so in a cluster the node that leads does all of it. It is a navigation: what goes wrong sends
 * the browser to the sign-in page, which says so in words of its own.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { ownCommand, sentWith } from '../../domain/decide/decide.ts';
import { SYSTEM } from '../../domain/state/decision.ts';
import { isRefusal } from '../../domain/state/refusal.ts';
import { actorOf } from '../../http/serving/access.ts';
import { EMPTY_HEADERS } from '../../http/serving/json-response.ts';
import {
  type RequestContext,
  type RouteDraft,
  readRoute,
  underTag,
  writeRoute,
} from '../../http/serving/route.ts';
import { OPEN_AT_ROOT, type Surface } from '../../http/serving/surface.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';
import {
  type Attempt,
  type OidcSettings,
  type Provider,
  ProviderError,
  type SignInProblem,
} from './provider.ts';
import {
  refuseSignIn,
  type SignInByProvider,
  signInByProvider,
  userOfIdentity,
} from './provider-commands.ts';
import { NO_SESSION, type SessionStart } from './session-surfaces.ts';

export const LOGIN_PATH = '/auth/oidc/login';
export const CALLBACK_PATH = '/auth/oidc/callback';

/** Requests to the provider that run at once. Any caller who begins a sign-in can cause one. */
export const RUNNING_MAX = 20;

/** Failed sign-ins logged in each period; otherwise, many of them would fill the disk. */
const LOGGED_MAX = 10;
const LOGGED_PERIOD_MS = 60_000;

/** The place of the console to come back to, which stands behind `#`. */
const PLACE_PATTERN = /^\/[\x21-\x7e]{0,500}$/;

export interface OidcOptions {
  readonly settings: OidcSettings;
  readonly provider: Provider;
  readonly start: SessionStart;
  /** `BASE_URI_PATH`. */
  readonly basePath: string;
  monotonicMs(): number;
  /** Called with the reason of a failed sign-in, without secrets. */
  warn(fields: object, message: string): void;
}

type Context = RequestContext<unknown>;

interface Kept extends Attempt {
  readonly place: string;
}

/** The outcome of a request's sign-in. */
type Outcome =
  | { readonly place: string; readonly identity: SignInByProvider['identity'] }
  | { readonly place: string; readonly problem: SignInProblem };

export function oidcSurface(options: OidcOptions): Surface {
  const signIn = new SignInByOidc(options);
  const routes = underTag('Sessions', [signIn.login(), signIn.callback()]);
  return { ...OPEN_AT_ROOT, routes };
}

class SignInByOidc {
  readonly #options: OidcOptions;
  readonly #cookie: AttemptCookie<Kept>;
  readonly #outcomes = new WeakMap<object, Outcome>();
  #running = 0;
  #loggedSince = Number.NEGATIVE_INFINITY;
  #loggedCount = 0;

  constructor(options: OidcOptions) {
    this.#options = options;
    const { settings, basePath } = options;
    const isSecure = settings.origin.startsWith('https:');
    this.#cookie = new AttemptCookie(settings.clientSecret, { basePath, isSecure });
  }

  login(): RouteDraft {
    return readRoute(`GET ${LOGIN_PATH}`, {
      permission: 'self',
      operationId: 'beginOidcSignIn',
      summary: 'Go to the provider of OpenID Connect to sign in.',
      success: { status: 302, schema: null },
      read: async (context) => ({ revision: 0, response: await this.#begin(context) }),
    });
  }

  callback(): RouteDraft {
    return writeRoute(`GET ${CALLBACK_PATH}`, {
      permission: 'self',
      operationId: 'finishOidcSignIn',
      summary: 'Come back from the provider of OpenID Connect, signed in.',
      success: { status: 303, schema: null },
      command: (context) => this.#finish(context),
      actor: (world, command) => {
        const sent = sentWith(command, signInByProvider);
        const user = sent === null ? null : userOfIdentity(world, sent.identity);
        return user === null ? SYSTEM : actorOf(world, user.id);
      },
      respond: (context) => this.#respond(context),
    });
  }

  async #begin(context: Context): Promise<HttpResponse> {
    const wanted = context.query('place');
    const place = PLACE_PATTERN.test(wanted) ? wanted : '';
    try {
      const { address, attempt } = await this.#options.provider.begin();
      return redirect(302, address, [this.#cookie.begin({ ...attempt, place }, context.now())]);
    } catch (error) {
      return redirect(302, this.#pageOf({ place, problem: this.#problemOf(error) }), []);
    }
  }

  async #finish(context: Context) {
    const kept = this.#cookie.read(context.header('cookie'), context.now());
    const place = kept?.place ?? '';
    try {
      const command = await this.#recognise(context, kept);
      const refusal = refuseSignIn(context.world, command);
      if (isRefusal(refusal)) {
        throw new ProviderError(
          refusal.name === 'NameExistsError' ? 'taken' : 'refused',
          `the user is not let in: ${refusal.message}`,
        );
      }
      this.#outcomes.set(context, { place, identity: command.identity });
      return ownCommand({ sent: command, decide: signInByProvider, duringMaintenance: true });
    } catch (error) {
      this.#outcomes.set(context, { place, problem: this.#problemOf(error) });
      return NO_SESSION;
    }
  }

  async #recognise(context: Context, kept: Kept | null): Promise<SignInByProvider> {
    const { provider, start, settings } = this.#options;
    if (kept === null) {
      throw new ProviderError('expired', 'the sign-in was begun in another browser, or too long ago');
    }
    if (this.#running >= RUNNING_MAX) throw new ProviderError('busy', 'too many sign in at once');
    this.#running += 1;
    try {
      const { issuer, subject, groups, ...profile } = await provider.finish(context.rawQuery, kept);
      const session = start.secret(context);
      return { identity: { issuer, subject }, profile, groups, rules: settings, session };
    } finally {
      this.#running -= 1;
    }
  }

  #respond(context: Context): HttpResponse {
    const outcome = this.#outcomes.get(context) ?? { place: '', problem: 'failed' };
    const cookies = [this.#cookie.end()];
    if ('identity' in outcome) {
      const user = userOfIdentity(context.world, outcome.identity);
      if (user !== null) context.usage.signInTried(user.id, true);
      const isSecure = this.#options.settings.origin.startsWith('https:');
      cookies.push(this.#options.start.cookie(context, isSecure));
    }
    return redirect(303, this.#pageOf(outcome), cookies);
  }

  #problemOf(error: unknown): SignInProblem {
    const problem = error instanceof ProviderError ? error.problem : 'failed';
    const now = this.#options.monotonicMs();
    if (now - this.#loggedSince >= LOGGED_PERIOD_MS) {
      this.#loggedSince = now;
      this.#loggedCount = 0;
    }
    this.#loggedCount += 1;
    if (this.#loggedCount <= LOGGED_MAX)
      // Operators: look at [`problem`](docs/specification/rights.md#openid-connect) and `err`
      this.#options.warn({ problem, err: error }, 'a sign-in with OpenID Connect failed');
    return problem;
  }

  /** The console, at the place that was left for signing in, or with what went wrong. */
  #pageOf(outcome: Outcome): string {
    const { settings, basePath } = this.#options;
    const query = 'problem' in outcome ? `?problem=${outcome.problem}` : '';
    const place = outcome.place === '' ? '' : `#${outcome.place}`;
    return `${settings.origin}${basePath}/${query}${place}`;
  }
}

function redirect(status: 302 | 303, to: string, cookies: readonly string[]): HttpResponse {
  const headers = ['location', to, ...cookies.flatMap((cookie) => ['set-cookie', cookie])];
  return { status, headers: EMPTY_HEADERS.with(...headers), body: null };
}

// The cookie that a browser keeps from the first half of a sign-in to the second. It comes back with a navigation from the
// provider, which is another site, so it is SameSite=Lax.

const NAME = 'flagstaff_sign_in';

/** People look for their second factor. */
const LIFETIME_SECONDS = 600;

class AttemptCookie<T extends object> {
  readonly #seal: Seal;
  readonly #name: string;
  readonly #attributes: string;
  readonly #pattern: RegExp;

  constructor(
    secret: string,
    { basePath, isSecure }: { readonly basePath: string; readonly isSecure: boolean },
  ) {
    this.#seal = new Seal(secret);
    this.#name = isSecure ? `__Host-${NAME}${basePath.replaceAll('/', '.')}` : NAME;
    const scope = isSecure ? '; Path=/; Secure' : `; Path=${basePath}/`;
    this.#attributes = `${scope}; HttpOnly; SameSite=Lax`;
    this.#pattern = new RegExp(`(?:^|;\\s*)${this.#name.replaceAll('.', '\\.')}=([\\w-]{1,3000})(?:;|$)`);
  }

  /** The header Set-Cookie. */
  begin(kept: T, nowMs: number): string {
    const sealed = this.#seal.seal(kept, nowMs + LIFETIME_SECONDS * 1000);
    return `${this.#name}=${sealed}${this.#attributes}; Max-Age=${LIFETIME_SECONDS}`;
  }

  /** Reads its content from the header Cookie; null without a valid one. */
  read(cookie: string, nowMs: number): T | null {
    const sealed = this.#pattern.exec(cookie)?.[1];
    return sealed === undefined ? null : (this.#seal.open(sealed, nowMs) as T | null);
  }

  end(): string {
    return `${this.#name}=${this.#attributes}; Max-Age=0`;
  }
}

// Values that a browser keeps for the server and can neither read nor change: AES-256-GCM under a key that is derived from the
// client's secret, which all nodes of a cluster have. A value names the moment at which it is over.

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class Seal {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'flagstaff sign-in', KEY_BYTES));
  }

  seal(value: object, untilMs: number): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, iv);
    const text = JSON.stringify({ untilMs, value });
    return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  }

  /** Null for what was not sealed here, was changed, or is over. */
  open(sealed: string, nowMs: number): unknown {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([
        decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)),
        decipher.final(),
      ]).toString();
      const { untilMs, value } = JSON.parse(text) as { untilMs: number; value: unknown };
      return untilMs > nowMs ? value : null;
    } catch {
      return null;
    }
  }
}
