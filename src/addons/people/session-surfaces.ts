/**
 * Signing in and out of the pages (docs/specification/rights.md#sessions). POST turns the token in the header
 * Authorization into a session, so that it is checked, logged and limited as any other; a page of another site cannot
 * send that header. DELETE ends the session, whether or not it is still good.
 */

import * as v from 'valibot';
import { isOfSame, type Session } from '../../domain/access/sessions.ts';
import { type Command, ownCommand, sentWith } from '../../domain/decide/decide.ts';
import { described, titled } from '../../domain/json/schema.ts';
import { isRefusal, notFound } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { KnownPasswordSchema } from '../../http/admin/bodies.ts';
import { ADMIN_ACCESS, ROUTES } from '../../http/admin/surface.ts';
import { CompanionUserSchema, companionUserView } from '../../http/admin/views.ts';
import { actorOf, type Caller, digestOf, NOBODY, secretIn } from '../../http/serving/access.ts';
import { COMMON_ERRORS } from '../../http/serving/errors.ts';
import { makeSecret, secretOf } from '../../http/serving/fresh-secret.ts';
import { EMPTY_HEADERS, JSON_HEADERS, jsonResponse } from '../../http/serving/json-response.ts';
import {
  type RequestContext,
  type Route,
  type RouteDraft,
  readRoute,
  underTag,
  writeRoute,
} from '../../http/serving/route.ts';
import type { SessionCookies } from '../../http/serving/session-cookie.ts';
import { FOR_ALL, type Surface, type SurfaceAccess } from '../../http/serving/surface.ts';
import { BodyPieces, bytesOf } from '../../http/transport/response.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';
import type { Passwords } from './passwords.ts';
import {
  type BeginSession,
  beginSession,
  endSession,
  endSessions,
  type SessionSecret,
} from './session-commands.ts';

/** The header with the address at which the browser signs out at the provider too. */
const SIGN_OUT_HEADER = 'flagstaff-sign-out-at';

const SessionsSchema = titled('Sessions', {
  sessions: v.array(
    v.object({
      id: v.number(),
      begunWith: v.picklist(['token', 'password', 'provider']),
      createdAt: v.string(),
      seenAt: v.string(),
      expiresAt: v.string(),
      isCurrent: described(v.boolean(), 'Whether this very request carries it.'),
    }),
  ),
});

/** `signOutAddress`: where browsers go that have signed out here, of sessions that a provider began; null for nowhere. */
export function sessionSurfaces(
  start: SessionStart,
  signOutAddress: () => string | null = () => null,
): readonly Surface[] {
  const surface = { prefix: '/auth', errors: COMMON_ERRORS, description: null };
  const access = ADMIN_ACCESS;
  // A session cannot begin another, or it would never end.
  const byHeader: SurfaceAccess = { ...access, takesSessions: false };
  const optional: SurfaceAccess = { ...access, isOptional: true };
  const ofAnybody = [endRoute(start, signOutAddress), ...consoleRoutes(ROUTES)];
  return [
    { ...surface, access: byHeader, routes: underTag('Sessions', [beginRoute(start)]) },
    { ...surface, access: optional, routes: underTag('Sessions', ofAnybody) },
    { ...surface, access, routes: ownSessionsRoutes(start) },
  ];
}

function beginRoute(start: SessionStart): RouteDraft {
  return writeRoute('POST /session', {
    permission: 'self',
    operationId: 'beginSession',
    summary: 'Begin a session with the token in the header Authorization.',
    success: { status: 204, schema: null },
    command: (context) => {
      const { user, kind } = context.caller;
      // No token is needed, so neither is a session.
      if (kind === 'anyone') return NO_SESSION;
      const tokenDigest = digestOf(secretIn(context.header('authorization')) ?? '');
      return start.command(context, { userId: user?.id ?? null, tokenDigest, begunWith: 'token' });
    },
    respond: (context, events) =>
      events.length === 0 ? cookieResponse([]) : cookieResponse([start.cookie(context)]),
  });
}

function endRoute(start: SessionStart, signOutAddress: () => string | null): RouteDraft {
  return writeRoute('DELETE /session', {
    permission: 'self',
    operationId: 'endSession',
    summary: 'End the session of this browser.',
    success: { status: 204, schema: null },
    command: (context) => sessionEnd(start.digestIn(context) ?? ''),
    respond: (context, [event]) => {
      const response = cookieResponse(start.ended(context));
      const isOfProvider =
        event?.type === 'pat-deleted' && 'session' in event.preData && event.preData.session === 'provider';
      const address = isOfProvider ? signOutAddress() : null;
      if (address === null) return response;
      return { ...response, headers: response.headers.with(SIGN_OUT_HEADER, address) };
    },
  });
}

function ownSessionsRoutes(start: SessionStart): readonly Route[] {
  return underTag('Sessions', [
    readRoute('GET /sessions', {
      permission: 'self',
      operationId: 'getSessions',
      summary: "List the caller's sessions.",
      success: { status: 200, schema: SessionsSchema },
      read: (context) => {
        const { world, usage } = context;
        const current = start.digestIn(context);
        const sessions = ownSessions(world, callerOf(context)).map(
          ({ id, digest, begunWith, createdAt, expiresAt }) => {
            const seenAtMs = Math.max(usage.seen.token(digest) ?? 0, Date.parse(createdAt));
            const seenAt = new Date(seenAtMs).toISOString();
            return { id, begunWith, createdAt, seenAt, expiresAt, isCurrent: digest === current };
          },
        );
        return { revision: world.directory.sessionsRevision, response: jsonResponse(200, { sessions }) };
      },
    }),
    writeRoute('DELETE /sessions', {
      permission: 'self',
      operationId: 'endSessions',
      summary: "End all of the caller's sessions.",
      success: { status: 204, schema: null },
      command: (context) => ownCommand({ sent: callerOf(context), decide: endSessions, ...ENDS_SESSIONS }),
      respond: (context) => cookieResponse(start.ended(context)),
    }),
    writeRoute('DELETE /sessions/:id', {
      permission: 'self',
      operationId: 'endOneSession',
      summary: "End one of the caller's sessions.",
      success: { status: 204, schema: null },
      refusals: ['NotFoundError'],
      command: (context) => {
        const { id } = context.params;
        const found = ownSessions(context.world, callerOf(context)).find((one) => String(one.id) === id);
        return found === undefined
          ? notFound(`There is no session ${id} of yours.`)
          : sessionEnd(found.digest);
      },
      respond: () => cookieResponse([]),
    }),
  ]);
}

/** The parts of what the console begins with, by the operation of the administrative interface that says each. */
const CONSOLE_PARTS = {
  profile: 'getProfile',
  me: 'getMe',
  projects: 'getProjects',
  environments: 'getAllEnvironments',
} as const;

const ConsoleSchema = titled('ConsoleStart', {
  newestEventId: described(v.number(), 'An event from before the rest of this response was read.'),
  ...{ profile: v.unknown(), me: v.unknown(), projects: v.unknown(), environments: v.unknown() },
});

/** A first visit is no refusal, which browsers would show in red and the log would count among guesses. */
const NOBODY_SIGNED_IN = { newestEventId: 0, profile: null, me: null, projects: null, environments: null };

/** All that the console needs before it can show anything: over a slow line, each further request takes as long as this one. */
function consoleRoutes(routes: Surface['routes']): readonly RouteDraft[] {
  const reads = Object.entries(CONSOLE_PARTS).map(([name, operationId]) => {
    const route = routes.find((one) => 'operationId' in one && one.operationId === operationId);
    if (route?.kind !== 'read') throw new Error(`there is no operation ${operationId} that reads`);
    return { name, read: route.read.bind(route) };
  });
  return [
    readRoute('GET /console', {
      operationId: 'getConsoleStart',
      summary: 'Read what the console begins with; null without a session.',
      success: { status: 200, schema: ConsoleSchema },
      async read(context) {
        if (context.caller === NOBODY) return { revision: 0, response: jsonResponse(200, NOBODY_SIGNED_IN) };
        const newestEventId = context.engine.durableId;
        const pieces: Uint8Array[] = [Buffer.from(`{"newestEventId":${newestEventId}`)];
        let revision = 0;
        for (const { name, read } of reads) {
          const part = await read(context, {});
          if (isRefusal(part)) return part;
          revision = Math.max(revision, part.revision);
          const { body } = part.response;
          pieces.push(Buffer.from(`,"${name}":`), ...(body instanceof BodyPieces ? body : [bytesOf(body)]));
        }
        pieces.push(Buffer.from('}'));
        const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
        const body = new BodyPieces(pieces, bytes);
        return { revision, response: { status: 200, headers: JSON_HEADERS, body } };
      },
    }),
  ];
}

type Owner = Pick<Session, 'userId' | 'tokenDigest'>;

/** The owner of the caller's sessions: a user, or an API token. */
function callerOf({ caller }: { readonly caller: Caller }): Owner {
  return { userId: caller.user?.id ?? null, tokenDigest: caller.token?.digest ?? null };
}

function ownSessions({ directory }: World, owner: Owner): readonly Session[] {
  return [...directory.sessions.values()].filter((one) => isOfSame(one, owner));
}

function cookieResponse(cookies: readonly string[]): HttpResponse {
  const headers = EMPTY_HEADERS.with(...cookies.flatMap((cookie) => ['set-cookie', cookie]));
  return { status: 204, headers, body: null };
}

// Tells the sign-in page how people can sign in, which is public.

const SignInsSchema = titled('SignIns', {
  token: v.boolean(),
  password: v.boolean(),
  provider: v.nullable(v.object({ button: v.string(), path: v.string() })),
});

interface SignInsOffered {
  /** The label of the button that leads to the provider, and its path; null without a provider. */
  readonly provider: { readonly button: string; readonly path: string } | null;
  /** Whether authentication is off. */
  readonly areOpen: boolean;
}

export function offeredSurface({ provider, areOpen }: SignInsOffered): Surface {
  const route = readRoute('GET /sign-ins', {
    operationId: 'getSignIns',
    summary: 'Say how people can sign in.',
    permission: 'scope',
    success: { status: 200, schema: SignInsSchema },
    read: ({ world }) => ({
      revision: world.directory.accessRevision,
      response: jsonResponse(200, {
        ...{ token: !areOpen, password: !areOpen && world.directory.passwords.size > 0, provider },
      }),
    }),
  });
  return {
    prefix: '/auth',
    access: null,
    errors: COMMON_ERRORS,
    routes: underTag('Sessions', [route]),
    description: null,
  };
}

// Signing in with a username or email and a password, as clients of the Unleash Admin API do (docs/specification/rights.md#sessions).

/** Longer than any username or email that is accepted. */
const NAME_LENGTH_MAX = 1_000;
const NAME_PHRASE = 'the username or the email of a user';

const SignInBody = titled('SignIn', {
  username: v.pipe(v.string(NAME_PHRASE), v.maxLength(NAME_LENGTH_MAX, NAME_PHRASE)),
  password: KnownPasswordSchema,
});

export function passwordSurface(start: SessionStart, passwords: Passwords): Surface {
  const route = writeRoute('POST /simple/login', {
    operationId: 'login',
    summary: 'Begin a session with a username or email and a password.',
    permission: 'scope',
    body: SignInBody,
    success: { status: 200, schema: CompanionUserSchema },
    refusals: ['AuthenticationRequired', 'TooManyRequestsError'],
    secretsInBody: ['password'],
    command: async (context) => {
      const { username, password } = context.body;
      const address = context.remoteAddress();
      const user = await passwords.signIn(context, { name: username, password, address });
      if (isRefusal(user)) return user;
      return start.command(context, { userId: user.id, tokenDigest: null, begunWith: 'password' });
    },
    actor: (world, command) => actorOf(world, sentWith(command, beginSession)?.userId ?? null),
    respond: (context, _, command) => {
      const { world, usage } = context;
      const user = world.directory.users.get(sentWith(command, beginSession)?.userId ?? 0);
      if (user === undefined) throw new Error('a session was begun without a user');
      const headers = JSON_HEADERS.with('set-cookie', start.cookie(context));
      return { status: 200, headers, body: JSON.stringify(companionUserView(user, usage.signIns)) };
    },
  });
  return {
    prefix: '/auth',
    access: FOR_ALL,
    errors: COMMON_ERRORS,
    routes: underTag('Sessions', [route]),
    description: null,
  };
}

// How a session begins and ends for a browser: its secret, its command and its cookie, whichever way its user signs in.

export interface SessionSettings {
  /** Milliseconds after which a session ends, however much it is used. */
  readonly lifetimeMs: number;
  /** Whether browsers reach the server over HTTPS alone. */
  readonly isSecureOnly: boolean;
}

type Context = RequestContext<unknown>;

/** Nobody is kept from signing out: what it writes is bounded by the sessions that began, which count. */
const ENDS_SESSIONS = { duringMaintenance: true, isFree: true } as const;

const sessionEnd = (digest: string) => ownCommand({ sent: { digest }, decide: endSession, ...ENDS_SESSIONS });

/** The command of a request that begins no session. It changes nothing. */
export const NO_SESSION = sessionEnd('');

export class SessionStart {
  readonly #cookies: SessionCookies;
  readonly #settings: SessionSettings;

  constructor(cookies: SessionCookies, settings: SessionSettings) {
    this.#cookies = cookies;
    this.#settings = settings;
  }

  /** The command that begins a session for the person who has been recognised. */
  command(context: Context, who: Pick<BeginSession, 'userId' | 'tokenDigest' | 'begunWith'>): Command {
    const sent = { ...this.secret(context), ...who };
    return ownCommand({ sent, decide: beginSession, duringMaintenance: true });
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
