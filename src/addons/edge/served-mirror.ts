/**
 * A mirror behind the surfaces of an edge: the dispatcher of a server over a state that only an upstream changes. The surfaces for SDKs
 * ask nothing of the engine but what a mirror has (src/actors/served-state.ts), and write nothing; so there are no histories to read, no
 * passwords, and no mailboxes here.
 */

import { DEFAULT_GROWTH_LIMITS } from '../../domain/flags/growth-limits.ts';
import { Authenticator, digestOf } from '../../http/serving/access.ts';
import { AtLeast } from '../../http/serving/cluster.ts';
import { type Api, createApi } from '../../http/serving/dispatcher.ts';
import type { ApiLog } from '../../http/serving/request-log.ts';
import { SessionCookies } from '../../http/serving/session-cookie.ts';
import type { Surface } from '../../http/serving/surface.ts';
import { VERSION } from '../../process/installation.ts';
import { unrefTimer } from '../../process/timers.ts';
import { Usage } from '../usage/usage.ts';
import type { Feed } from './feed.ts';
import type { Mirror } from './mirror.ts';
import type { Reports } from './reports.ts';
import type { ValidToken } from './upstream-client.ts';

export interface ServedMirrorOptions {
  readonly mirror: Mirror;
  /** Null for a state that nothing keeps new. */
  readonly feed: Feed | null;
  readonly surfaces: readonly Surface[];
  readonly reports: Reports;
  readonly basePath: string;
  readonly origins: readonly string[];
  readonly log: ApiLog;
  now(): number;
  monotonicMs(): number;
}

/** Any value of a type: for what no surface of an edge asks for. */
const NOT_HERE = undefined as never;

export class ServedMirror {
  readonly mirror: Mirror;
  readonly api: Api;
  /** Requests that wait for an event of the upstream. */
  readonly atLeast: AtLeast;
  /** By digest: the tokens that it serves. */
  readonly #secrets = new Map<string, string>();

  constructor(options: ServedMirrorOptions) {
    const { mirror, feed, surfaces, reports, basePath, origins, log, now, monotonicMs } = options;
    this.mirror = mirror;
    this.atLeast = new AtLeast(mirror, unrefTimer);
    this.api = createApi({
      state: mirror,
      ...{ engine: NOT_HERE, reads: NOT_HERE, hashPassword: NOT_HERE },
      instance: {
        ...{ version: VERSION, configuredOrigins: origins, limits: DEFAULT_GROWTH_LIMITS },
        ...{ tokenKey: null, figures: () => NOT_HERE },
      },
      authenticator: new Authenticator({
        ...{ state: mirror, open: false, now, usedAt: () => null, sessionIdleMs: 0 },
        onUse: (digest) => this.#noteUse(digest, reports),
      }),
      cookies: new SessionCookies(basePath, false),
      usage: new Usage({
        // With reports that are shared, it keeps nothing itself, in memory or on disk.
        ...{ state: mirror, feed: mirror.feed, shared: reports, folder: NOT_HERE, now },
        hasRoom: () => false,
        onFault: (error) => mirror.feed.report(error),
        timer: () => undefined,
      }),
      ...{ surfaces, basePath, log, now, monotonicMs, metered: true, tracer: null },
      site: { isOpen: false, basePath, publicOrigin: null },
      // The front has requests wait for an event, and only those that name one.
      cluster: null,
      ...(feed === null ? {} : { ageMs: () => feed.ageMs }),
    });
  }

  addToken({ token, type, projects, environment }: ValidToken): void {
    const digest = digestOf(token);
    this.#secrets.set(digest, token);
    this.mirror.putToken({
      ...{ digest, type, projects: [...projects] },
      // That of the fallback is of no environment, and has the tokens of all.
      environment: this.mirror.environment || environment,
      ...{ tokenName: `${type} token`, createdAt: '', expiresAt: null },
    });
  }

  dropToken(secret: string): void {
    const digest = digestOf(secret);
    this.#secrets.delete(digest);
    this.mirror.dropToken(digest);
  }

  /** The tokens that it serves. */
  get secrets(): Iterable<string> {
    return this.#secrets.values();
  }

  #noteUse(digest: string, reports: Reports): void {
    const secret = this.#secrets.get(digest);
    if (secret !== undefined) reports.sawToken(secret, this.mirror.environment);
  }
}
