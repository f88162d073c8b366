/**
 * The mirror of each token. A client token gets the mirror of one that covers as much in the same environment, or else one of its
 * own, for which the upstream is asked with it. A frontend token cannot be used to ask, so it is served where a client token has brought
 * what it covers, and otherwise told so.
 */
import type { MirrorSource } from './feed.ts';
import type { ServedMirror } from './served-mirror.ts';
import type { ValidToken } from './upstream-client.ts';

/** Mirrors, each with a connection to the upstream. */
export const HOMES_MAX = 200;

/** A mirror, and what keeps it new. */
export interface Home {
  /** With which the upstream is asked. */
  readonly token: ValidToken;
  readonly served: ServedMirror;
  readonly feed: MirrorSource;
  /** Resolves once there is something to serve. */
  readonly filled: Promise<void>;
}

export interface HomesOptions {
  /** Makes and starts one. */
  open(token: ValidToken): Home;
  /** Bytes that all mirrors may take together. */
  readonly bytesMax: number;
}

export type Lodging = Home | 'uncovered' | 'full';

export class Homes {
  readonly #options: HomesOptions;
  readonly #homes = new Set<Home>();
  readonly #bySecret = new Map<string, Home>();

  constructor(options: HomesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#homes.size;
  }

  [Symbol.iterator](): IterableIterator<Home> {
    return this.#homes.values();
  }

  /** The home of a token that has one. */
  of(secret: string): Home | undefined {
    return this.#bySecret.get(secret);
  }

  /** The home of a valid token. */
  lodge(token: ValidToken): Lodging {
    const known = this.#bySecret.get(token.token);
    if (known !== undefined) return known;
    const found = [...this.#homes].find((home) => covers(home.token, token));
    if (found !== undefined) return this.#admit(found, token);
    if (token.type === 'frontend') return 'uncovered';
    if (this.isFull) return 'full';
    const fresh = this.#options.open(token);
    this.#homes.add(fresh);
    return this.#admit(fresh, token);
  }

  /** A home that a copy on disk has. */
  restore(token: ValidToken, open: () => Home): void {
    const home = open();
    this.#homes.add(home);
    this.#admit(home, token);
  }

  get isFull(): boolean {
    return this.#homes.size >= HOMES_MAX || this.bytes > this.#options.bytesMax;
  }

  get bytes(): number {
    let bytes = 0;
    for (const { served } of this.#homes) bytes += served.mirror.bytes;
    return bytes;
  }

  /** A token that is not valid any more: its streams end, and so does the mirror that was asked for with it. Returns the tokens that lost their home. */
  evict(secret: string): readonly string[] {
    const home = this.#bySecret.get(secret);
    if (home === undefined) return [];
    const leaving = home.token.token === secret ? [...home.served.secrets] : [secret];
    for (const one of leaving) {
      home.served.dismiss(one);
      this.#bySecret.delete(one);
    }
    if (home.token.token === secret) {
      home.feed.stop();
      this.#homes.delete(home);
    }
    return leaving;
  }

  stop(): void {
    for (const { feed } of this.#homes) feed.stop();
  }

  #admit(home: Home, token: ValidToken): Home {
    home.served.admit(token);
    this.#bySecret.set(token.token, home);
    return home;
  }
}

function covers(wide: ValidToken, narrow: ValidToken): boolean {
  if (wide.environment !== narrow.environment) return false;
  return wide.projects.includes('*') || narrow.projects.every((project) => wide.projects.includes(project));
}
