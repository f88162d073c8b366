/**
 * Shares equal short strings of flags that are read from disk. A decoded state has a separate string for each `flexibleRollout`,
 * `default` or country code of each strategy; sharing them saves an eighth of a flag's memory. The memory budget counts the state as if
 * nothing were shared.
 */
import assert from 'node:assert/strict';
import type { Flag } from '../../domain/flags/flag.ts';

/** Longer strings are mostly ids and times, which do not repeat. */
const LENGTH_MAX = 23;

/** Protects memory from strings that do not repeat after all: the first ones seen are shared, later ones are not. */
const STRINGS_MAX = 10_000;

export class SharedStrings {
  readonly #strings = new Map<string, string>();

  /** Replaces strings by shared ones in an object that was just decoded and that nobody else refers to. */
  shareIn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const parts = value as Record<string, unknown>;
    for (const key of Object.keys(parts)) {
      const part = parts[key];
      if (typeof part === 'string') parts[key] = this.#shared(part);
      else this.shareIn(part);
    }
  }

  #shared(text: string): string {
    if (text.length > LENGTH_MAX) return text;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size < STRINGS_MAX) this.#strings.set(text, text);
    assert(this.#strings.size <= STRINGS_MAX, 'strings that do not repeat take bounded memory');
    return text;
  }
}

const strings = new SharedStrings();

/** To be called with a flag that was just decoded, and that nobody else refers to. */
export const shareInFlag = ({ environments }: Flag): void => strings.shareIn(environments);
