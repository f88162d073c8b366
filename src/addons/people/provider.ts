/**
 * The provider of OpenID Connect, as `openid-client` speaks to it: authorization code flow with PKCE, state and nonce. Nothing here
 * touches the state of the service.
 *
 * On failure: each request to the provider ends after 10 s, replies are bounded, and every fault becomes a
 * `ProviderError` that says what the user who signs in can do about it. What the provider says of itself is kept for an
 * hour; where asking failed, it is asked again no sooner than 2 s later, so that people who try again do not flood it.
 */
import type * as Client from 'openid-client';
import { isVisible, tidyName } from '../../domain/people/look-alike.ts';

/** Why a sign-in failed; the sign-in page has a sentence for each (web/console/views/sign-in.jsx). */
export type SignInProblem = 'unreachable' | 'denied' | 'expired' | 'failed' | 'busy' | 'refused' | 'taken';

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

/** The secrets that the browser keeps between the two halves of a sign-in. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The person who has signed in, as the provider describes them. */
export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  /** Only where the provider has verified it. */
  readonly email: string | null;
  /** The name of a user without such an email. */
  readonly username: string | null;
  readonly name: string | null;
  readonly groups: readonly string[];
}

const TIMEOUT_SECONDS = 10;
const KEPT_MS = 60 * 60 * 1000;
const RETRY_MS = 2_000;

/** Clocks differ. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** OpenID Connect Core, section 2. */
const SUBJECT_LENGTH_MAX = 255;

/** Protects the state: of texts that become part of a user. */
const TEXT_LENGTH_MAX = 250;
/** Directories list hundreds of groups for some people. */
const GROUPS_MAX = 1_000;

export class Provider {
  readonly #settings: OidcSettings;
  readonly #redirectUri: string;
  readonly #now: () => number;
  #known: { readonly atMs: number; readonly config: Client.Configuration } | null = null;
  #asking: Promise<Client.Configuration> | null = null;
  #failure: { readonly atMs: number; readonly error: unknown } | null = null;

  /** `now`: milliseconds, monotonic. */
  constructor(settings: OidcSettings, redirectUri: string, now: () => number) {
    this.#settings = settings;
    this.#redirectUri = redirectUri;
    this.#now = now;
  }

  /** The address at which the browser signs in, and the attempt that it keeps meanwhile. */
  async begin(): Promise<{ readonly address: string; readonly attempt: Attempt }> {
    const client = await load();
    const config = await this.#configuration();
    const attempt = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: this.#redirectUri,
      scope: this.#settings.scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return { address: address.href, attempt };
  }

  /** The person who came back. `query`: from the address that the provider sent the browser to. */
  async finish(query: string, { state, nonce, verifier }: Attempt): Promise<Claims> {
    const client = await load();
    const config = await this.#configuration();
    try {
      const tokens = await client.authorizationCodeGrant(config, new URL(`?${query}`, this.#redirectUri), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the provider sent no ID token');
      const hasMore = config.serverMetadata().userinfo_endpoint !== undefined;
      const more = hasMore ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : {};
      return claimsOf(claims, more, this.#settings.groupsClaim);
    } catch (error) {
      throw problemOf(client, error);
    }
  }

  /** Asks the provider what it offers, so that the first sign-in does not have to. */
  async prepare(): Promise<void> {
    await this.#configuration();
  }

  /** The address at which a browser that has signed out here signs out at the provider too; null where there is none. */
  signOutAddress(returnTo: string): string | null {
    const endpoint = this.#known?.config.serverMetadata().end_session_endpoint;
    if (endpoint === undefined || !URL.canParse(endpoint)) return null;
    const address = new URL(endpoint);
    address.searchParams.set('client_id', this.#settings.clientId);
    address.searchParams.set('post_logout_redirect_uri', returnTo);
    return address.href;
  }

  /** Requests that come while it is asked share the answer. */
  async #configuration(): Promise<Client.Configuration> {
    const now = this.#now();
    if (this.#known !== null && now - this.#known.atMs < KEPT_MS) return this.#known.config;
    if (this.#failure !== null && now - this.#failure.atMs < RETRY_MS)
      return this.#afterFailure(this.#failure);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<Client.Configuration> {
    const client = await load();
    try {
      const config = await this.#discover(client);
      this.#known = { atMs: this.#now(), config };
      this.#failure = null;
      return config;
    } catch (error) {
      this.#failure = { atMs: this.#now(), error };
      return this.#afterFailure(this.#failure);
    }
  }

  /** Returns the configuration that the provider gave earlier, which most likely still holds; without one, throws. */
  #afterFailure({ error }: { readonly error: unknown }): Client.Configuration {
    if (this.#known !== null) return this.#known.config;
    const { issuer } = this.#settings;
    throw new ProviderError('unreachable', `the provider ${issuer} does not say what it offers`, error);
  }

  #discover(client: typeof Client): Promise<Client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const basic = client.ClientSecretBasic(clientSecret);
    const post = client.ClientSecretPost(clientSecret);
    const authenticate: Client.ClientAuth = (server, ...rest) => {
      const methods = server.token_endpoint_auth_methods_supported;
      const takesBasic = methods === undefined || methods.includes('client_secret_basic');
      return (takesBasic ? basic : post)(server, ...rest);
    };
    const server = new URL(issuer);
    return client.discovery(
      server,
      clientId,
      { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticate,
      {
        timeout: TIMEOUT_SECONDS,
        [client.customFetch]: boundedFetch,
        execute: [
          client.enableNonRepudiationChecks,
          // The settings allow it for this machine only.
          ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
        ],
      },
    );
  }
}

/** Loaded by servers that use it, at its first use. */
const load = (): Promise<typeof Client> => import('openid-client');

function problemOf(client: typeof Client, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof client.AuthorizationResponseError) {
    return new ProviderError('denied', `the provider refused the sign-in: ${error.error}`, error);
  }
  const cause = (error as { cause?: { code?: unknown } | undefined }).cause;
  const isOfNetwork = error instanceof TypeError || (error as Error).name === 'TimeoutError';
  const code = (error as { code?: unknown }).code ?? cause?.code;
  if (isOfNetwork || code === 'OAUTH_TIMEOUT' || code === 'ECONNREFUSED') {
    return new ProviderError('unreachable', 'the provider did not answer', error);
  }
  return new ProviderError('failed', `the provider's answer is not good: ${(error as Error).message}`, error);
}

type Said = Readonly<Record<string, unknown>>;

/** Both are of the same user. An email counts as verified where the same of them says so. */
function claimsOf(idToken: Said, userInfo: Said, groupsClaim: string): Claims {
  const { iss, sub } = idToken;
  const said = { ...userInfo, ...idToken };
  const ofEmail = idToken['email'] === undefined ? userInfo : idToken;
  if (typeof iss !== 'string' || typeof sub !== 'string' || sub.length > SUBJECT_LENGTH_MAX) {
    throw new Error('the provider does not say who has signed in');
  }
  const email = lineIn(ofEmail, 'email');
  return {
    issuer: iss,
    subject: sub,
    email: ofEmail['email_verified'] === true ? email : null,
    username: lineIn(said, 'preferred_username') ?? email,
    name: lineIn(said, 'name'),
    groups: groupsIn(said[groupsClaim]),
  };
}

/** A text that can be shown; null for none. */
function lineIn(said: Said, name: string): string | null {
  const given = said[name];
  if (typeof given !== 'string' || given.length > TEXT_LENGTH_MAX) return null;
  const text = tidyName(given);
  const isGood = isVisible(text) && text.length <= TEXT_LENGTH_MAX && !/[\p{Cc}\p{Cs}]/u.test(text);
  return isGood ? text : null;
}

/** A missing claim means no groups. Some providers send one group as a text. */
function groupsIn(said: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(said) ? said : [said];
  return list
    .filter((one): one is string => typeof one === 'string' && one !== '' && one.length <= TEXT_LENGTH_MAX)
    .slice(0, GROUPS_MAX);
}

// `fetch` for a server that is trusted with identities, and not with this server's memory.

/** Bytes of a reply. The largest, keys and the provider's description, have some tens of KiB. */
export const REPLY_BYTES_MAX = 1024 * 1024;

/** Rejects once a reply is longer. Redirects are not followed: an endpoint stands where its provider says. */
async function boundedFetch(url: string, options: object): Promise<Response> {
  const request = new Request(url, options as RequestInit);
  // Sign-ins are minutes apart: the provider may close a connection in the moment in which the next request takes it.
  request.headers.set('connection', 'close');
  const response = await fetch(request);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > REPLY_BYTES_MAX) {
      throw new Error(`the reply from ${new URL(url).origin} is longer than ${REPLY_BYTES_MAX} bytes`);
    }
    pieces.push(piece);
  }
  const { status, statusText, headers } = response;
  const isBodiless = [101, 204, 205, 304].includes(status);
  return new Response(isBodiless ? null : Buffer.concat(pieces), { status, statusText, headers });
}

/** The operator's settings for the provider of OpenID Connect (src/addons/people/oidc-config.ts reads them from the environment). */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The origin at which browsers reach this server, such as `https://flags.example`. */
  readonly origin: string;
  readonly scopes: string;
  /** The claim that lists a user's groups. */
  readonly groupsClaim: string;
  /** Pairs of a group and the name of a root role; the first that applies does. Empty: groups decide nothing about root roles. */
  readonly roles: readonly (readonly [group: string, role: string])[];
  /** The root role of users whom no group gives one; null: they are turned away. */
  readonly defaultRole: string | null;
  /** Emails that the provider has verified, and subjects, of users who are Admins. */
  readonly admins: readonly string[];
  /** The label of the button. */
  readonly button: string;
}
