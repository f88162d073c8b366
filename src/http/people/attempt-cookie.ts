/**
 * The cookie that a browser keeps from the first half of a sign-in to the second. It comes back with a navigation from the
 * provider, which is another site, so it is SameSite=Lax.
 */
import { Seal } from './sealed.ts';

const NAME = 'flagstaff_sign_in';

/** People look for their second factor. */
const LIFETIME_SECONDS = 600;

export class AttemptCookie<T extends object> {
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

  /** What it holds, by the header Cookie; null without a good one. */
  read(cookie: string, nowMs: number): T | null {
    const sealed = this.#pattern.exec(cookie)?.[1];
    return sealed === undefined ? null : (this.#seal.open(sealed, nowMs) as T | null);
  }

  end(): string {
    return `${this.#name}=${this.#attributes}; Max-Age=0`;
  }
}
