/**
 * The tokens of callers. The upstream alone says which are valid and what they cover: the edge asks once for each that it has not seen,
 * and again for all of them from time to time. No caller has proved a right before that, so what waits for an answer, and what
 * is remembered of tokens that are not valid, is bounded in bytes, and many made-up tokens cost the upstream one request at a time.
 *
 * An upstream that is away says nothing: a token that is known stays good, and one that is not gets "ask again", never "forbidden",
 * because SDKs stop for good at that.
 */
import { LRUCache } from 'lru-cache';
import { digestOf } from '../../http/serving/access.ts';
import { Quota } from './quota.ts';
import { environmentIn, type ValidToken } from './upstream-client.ts';

/** The form in which upstreams take a token apart. Anything else is no token, and causes no request. */
const TOKEN_PATTERN = /^[^:]{1,250}:[^.]{1,100}\.[\x21-\x7e]{1,250}$/;

const TOKEN_LENGTH_MAX = 300;

/** Tokens that wait for an answer of the upstream: 300 KB. Requests with the same token wait together. */
export const WAITING_MAX = 1_000;

/** Tokens of one request to the upstream. */
const ASKED_TOGETHER_MAX = 200;

/** Digests of tokens that are not valid, each asked again after this time: 2 MB. */
export const INVALID_MAX = 10_000;
export const INVALID_FOR_MS = 60_000;

/** Valid tokens: 10 MB. */
export const VALID_MAX = 10_000;

export type Verdict = 'valid' | 'invalid' | 'unknown' | 'too-many';

export interface TokensOptions {
  /** Finds those that are valid of the given ones. Rejects where the upstream does not say. */
  validate(tokens: readonly string[]): Promise<readonly ValidToken[]>;
  /** Whether only those that the settings name are let in. */
  readonly isStrict: boolean;
  /** Secrets that the settings name, valid or not: the upstream says. */
  readonly named?: ReadonlySet<string>;
  /** Told of each token that is valid from now on. */
  onValid(token: ValidToken): void;
  /** Told of a token that the upstream does not know any more. */
  onRevoked(token: ValidToken): void;
  onFault(error: unknown): void;
  monotonicMs(): number;
}

interface Waiting {
  readonly verdict: Promise<Verdict>;
  readonly resume: (verdict: Verdict) => void;
}

export class Tokens {
  readonly #options: TokensOptions;
  readonly #valid = new Map<string, ValidToken>();
  /** Valid for as long as the process runs, without validation by the upstream. */
  readonly #trusted = new Set<string>();
  /** By digest: the time at which it is asked again. */
  readonly #invalid: LRUCache<string, number>;
  /** By secret, in the order in which they are asked. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #room = new Quota(WAITING_MAX);
  #isAsking = false;
  #askedCount = 0;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#invalid = new LRUCache({ max: INVALID_MAX });
  }

  get validCount(): number {
    return this.#valid.size;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  get askedCount(): number {
    return this.#askedCount;
  }

  get(secret: string): ValidToken | undefined {
    return this.#valid.get(secret);
  }

  values(): Iterable<ValidToken> {
    return this.#valid.values();
  }

  /** A token that needs no question. `isTrusted`: nor ever will. */
  add(token: ValidToken, isTrusted = false): void {
    if (isTrusted) this.#trusted.add(token.token);
    this.#valid.set(token.token, token);
    this.#options.onValid(token);
  }

  /** Without the upstream: null where only it knows. */
  known(secret: string): Verdict | null {
    if (this.#valid.has(secret)) return 'valid';
    const { isStrict, named } = this.#options;
    if (
      (isStrict && named?.has(secret) !== true) ||
      secret.length > TOKEN_LENGTH_MAX ||
      !TOKEN_PATTERN.test(secret)
    )
      return 'invalid';
    const until = this.#invalid.get(digestOf(secret));
    return until !== undefined && until > this.#options.monotonicMs() ? 'invalid' : null;
  }

  /** Asks the upstream, together with all others that wait, for a caller at this address. Never rejects. */
  find(secret: string, address: string): Promise<Verdict> {
    const known = this.known(secret);
    if (known !== null) return Promise.resolve(known);
    const waiting = this.#waiting.get(secret);
    if (waiting !== undefined) return waiting.verdict;
    const leave = this.#valid.size >= VALID_MAX ? null : this.#room.take(address);
    if (leave === null) return Promise.resolve('too-many');
    let resume: Waiting['resume'] = () => undefined;
    const verdict = new Promise<Verdict>((resolve) => {
      resume = (found) => {
        this.#waiting.delete(secret);
        leave();
        resolve(found);
      };
    });
    this.#waiting.set(secret, { verdict, resume });
    void this.#ask();
    return verdict;
  }

  /** Forgets the token, which is asked for again when it comes again. */
  forget(secret: string): void {
    if (!this.#trusted.has(secret)) this.#valid.delete(secret);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    // What comes in the same moment is asked together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const asked = [...this.#waiting].slice(0, ASKED_TOGETHER_MAX);
      const answered = await this.#validated(asked.map(([secret]) => secret));
      for (const [secret, { resume }] of asked)
        resume(answered ? (this.known(secret) ?? 'invalid') : 'unknown');
    }
    this.#isAsking = false;
  }

  async #validated(secrets: readonly string[]): Promise<boolean> {
    try {
      this.#askedCount += 1;
      const valid = await this.#options.validate(secrets);
      for (const token of valid) this.add(token);
      const until = this.#options.monotonicMs() + INVALID_FOR_MS;
      for (const secret of secrets) if (!this.#valid.has(secret)) this.#invalid.set(digestOf(secret), until);
      return true;
    } catch (error) {
      this.#options.onFault(error);
      return false;
    }
  }

  /** Asks for all tokens again; those that the upstream does not know any more are forgotten. Never rejects. */
  async revalidate(): Promise<void> {
    const secrets = [...this.#valid.keys()].filter((secret) => !this.#trusted.has(secret));
    for (let at = 0; at < secrets.length; at += ASKED_TOGETHER_MAX) {
      const asked = secrets.slice(at, at + ASKED_TOGETHER_MAX);
      try {
        const valid = new Set((await this.#options.validate(asked)).map(({ token }) => token));
        for (const secret of asked) if (!valid.has(secret)) this.#revoke(secret);
      } catch (error) {
        this.#options.onFault(error);
      }
    }
  }

  #revoke(secret: string): void {
    const token = this.#valid.get(secret);
    if (token === undefined) return;
    this.#valid.delete(secret);
    this.#options.onRevoked(token);
  }
}

/** A token of the settings that is trusted without a question, `secret@environment` or one that names what it covers; null for anything else. */
export function trustedToken(text: string): ValidToken | null {
  const at = text.lastIndexOf('@');
  if (at > 0)
    return { token: text.slice(0, at), type: 'frontend', projects: ['*'], environment: text.slice(at + 1) };
  if (!TOKEN_PATTERN.test(text)) return null;
  const project = text.slice(0, text.indexOf(':'));
  const environment = environmentIn(text);
  return project === '[]' ? null : { token: text, type: 'frontend', projects: [project], environment };
}
