/**
 * A surface: a group of paths with its own callers, its own rights and its own shape of errors. The dispatcher serves a
 * list of them; what they have in common, the order of the checks above all, is the dispatcher's alone.
 */
import type { Need } from '../../domain/access/permissions.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { Asked, Caller } from './access.ts';
import { COMMON_ERRORS, type ErrorShape } from './errors.ts';
import type { PlainRoute, Route } from './route.ts';

/** The prefix of the administrative interface. */
export const API_PREFIX = '/api/admin';

export interface Surface {
  /** The prefix of the paths of all its routes; empty for none. */
  readonly prefix: string;
  /** Null: every client may call, and tokens are ignored. */
  readonly access: SurfaceAccess | null;
  readonly errors: ErrorShape;
  readonly routes: readonly (Route | PlainRoute)[];
  /** Whether pages of other origins may call it, by headers for browsers. */
  readonly isForPages?: boolean;
  /** Whether responses to reads are compressed for clients that take that. */
  readonly compresses?: boolean;
  /** Its purpose, in a paragraph of the interface's description; null: it is not described there. */
  readonly description: string | null;
}

/** The common part of surfaces at the root that every client may call, and that the description leaves out. */
export const OPEN_AT_ROOT = { prefix: '', access: null, errors: COMMON_ERRORS, description: null } as const;

/** The access rules of a surface, and its refusals of callers who do not meet them. */
export interface SurfaceAccess {
  /** The refusal of a caller without a token. */
  readonly unauthenticated: Refusal;
  /** A refusal where `caller` may not use a route that needs this on its path; null: it may. */
  refuse(world: World, caller: Caller, need: Need, asked: Asked): Refusal | null;
  /** For the description: in a few words, who may use a route that needs this. */
  whoMay(need: Need): string;
  /** Whether the session of a browser may stand in for the header Authorization (session-cookie.ts). */
  readonly takesSessions?: boolean;
  /** Whether callers without a valid token are let in, without rights. */
  readonly isOptional?: boolean;
  /** For the description: what the header Authorization holds. */
  readonly credentials: string;
}

/** The access of a surface for those who are not signed in, on which pages of other sites must not write all the same. */
export const FOR_ALL: SurfaceAccess = {
  unauthenticated: refuse('AuthenticationRequired', 'Sign in first.'),
  refuse: () => null,
  whoMay: () => 'Everybody.',
  isOptional: true,
  credentials: 'Nothing is needed.',
};

/** The surface that a path belongs to, whether or not one of its routes matches: that of the longest prefix. */
export function surfaceAt<S extends Pick<Surface, 'prefix'>>(
  surfaces: readonly S[],
  path: string,
): S | undefined {
  let found: S | undefined;
  for (const surface of surfaces) {
    const { prefix } = surface;
    const isBelow = prefix === '' || path === prefix || path.startsWith(`${prefix}/`);
    if (isBelow && prefix.length >= (found?.prefix.length ?? 0)) found = surface;
  }
  return found;
}

/** Surfaces with `basePath` before every prefix. */
export function surfaceBelow<S extends Pick<Surface, 'prefix'>>(
  surfaces: readonly S[],
  basePath: string,
  path: string,
): S | undefined {
  return surfaceAt(surfaces, path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path);
}
