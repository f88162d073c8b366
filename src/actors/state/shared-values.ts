/**
 * Shares empty lists and equal short strings of flags that are read from disk. A decoded state has a separate string for each
 * `flexibleRollout`, `default` or country code, and a separate list for each strategy without variants; sharing them saves a fifth of a
 * flag's memory. The memory budget counts the state as if nothing were shared.
 */
import type { Flag } from '../../domain/flags/flag.ts';

/** Longer strings are mostly ids and times, which do not repeat. */
const LENGTH_MAX = 23;

const NONE: readonly never[] = Object.freeze([]);

/** Protects memory from strings that do not repeat after all: once it has seen this many different ones, it forgets them. */
const STRINGS_MAX = 1000;

type Parts = Record<string | number, unknown>;

export class SharedValues {
  readonly #strings = new Map<string, string>();

  /** Puts shared strings and lists into an object or a list that was just decoded and that nobody else refers to. */
  shareIn(parts: object): void {
    if (Array.isArray(parts)) {
      for (let at = 0; at < parts.length; at += 1) this.#shareAt(parts as unknown as Parts, at);
    } else for (const key in parts) this.#shareAt(parts as Parts, key);
  }

  #shareAt(parts: Parts, key: string | number): void {
    const part = parts[key];
    if (typeof part === 'string') parts[key] = this.#shared(part);
    else if (Array.isArray(part) && part.length === 0) parts[key] = NONE;
    else if (typeof part === 'object' && part !== null) this.shareIn(part);
  }

  #shared(text: string): string {
    if (text.length > LENGTH_MAX) return text;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size === STRINGS_MAX) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }
}

const shared = new SharedValues();

/** To be called with a flag that was just decoded, and that nobody else refers to. */
export const shareInFlag = (flag: Flag): void => shared.shareIn(flag);
