/**
 * The mirror of each token. A client token gets the mirror of one that covers as much in the same environment, or else one of its
 * own, for which the upstream is asked with it. A frontend token cannot be used to ask, so it is served where a client token has brought
 * what it covers, and otherwise told so.
 */
import type { Feed } from './feed.ts';
import type { ServedMirror } from './served-mirror.ts';
import type { ValidToken } from './upstream-client.ts';

/** Mirrors, each with a connection to the upstream. */
export const MIRRORS_MAX = 200;

export interface FedMirror {
  /** With which the upstream is asked. */
  readonly token: ValidToken;
  readonly served: ServedMirror;
  readonly feed: Feed;
}

export interface MirrorsOptions {
  open(token: ValidToken): FedMirror;
  readonly bytesMax: number;
}

export type Assigned = FedMirror | 'uncovered' | 'full';

export class Mirrors {
  readonly #options: MirrorsOptions;
  readonly #mirrors = new Set<FedMirror>();
  readonly #bySecret = new Map<string, FedMirror>();

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#mirrors.size;
  }

  [Symbol.iterator](): IterableIterator<FedMirror> {
    return this.#mirrors.values();
  }

  of(secret: string): FedMirror | undefined {
    return this.#bySecret.get(secret);
  }

  /** The mirror of a valid token, opened for it where no other covers it; or why it gets none. */
  assign(token: ValidToken): Assigned {
    const known = this.#bySecret.get(token.token);
    if (known !== undefined) return known;
    const found = [...this.#mirrors].find((fed) => covers(fed.token, token));
    if (found !== undefined) return this.#admit(found, token);
    if (token.type === 'frontend') return 'uncovered';
    if (this.isFull) return 'full';
    const fresh = this.#options.open(token);
    this.#mirrors.add(fresh);
    return this.#admit(fresh, token);
  }

  /** Adds one that a copy on disk has. */
  restore(token: ValidToken, open: () => FedMirror): void {
    const fed = open();
    this.#mirrors.add(fed);
    this.#admit(fed, token);
  }

  get isFull(): boolean {
    return this.#mirrors.size >= MIRRORS_MAX || this.bytes > this.#options.bytesMax;
  }

  get bytes(): number {
    let bytes = 0;
    for (const { served } of this.#mirrors) bytes += served.mirror.bytes;
    return bytes;
  }

  /**
   * A token that is not valid any more: its streams end, and so does the mirror that was asked for with it. Returns the other tokens that
   * were served by that mirror, which need another one.
   */
  revoke(secret: string): readonly string[] {
    const fed = this.#bySecret.get(secret);
    if (fed === undefined) return [];
    const leaving = fed.token.token === secret ? [...fed.served.secrets] : [secret];
    for (const one of leaving) {
      fed.served.dropToken(one);
      this.#bySecret.delete(one);
    }
    if (fed.token.token === secret) {
      fed.feed.stop();
      this.#mirrors.delete(fed);
    }
    return leaving.filter((one) => one !== secret);
  }

  stop(): void {
    for (const { feed } of this.#mirrors) feed.stop();
  }

  #admit(fed: FedMirror, token: ValidToken): FedMirror {
    fed.served.addToken(token);
    this.#bySecret.set(token.token, fed);
    return fed;
  }
}

function covers(wide: ValidToken, narrow: ValidToken): boolean {
  if (wide.environment !== narrow.environment) return false;
  return wide.projects.includes('*') || narrow.projects.every((project) => wide.projects.includes(project));
}
