/**
 * The times at which flags were last evaluated, as applications report it, and tokens were last used. Times are those at which reports
 * and requests arrive.
 *
 * The time shown of a flag moves in steps of a minute: otherwise each report would invalidate cached responses.
 */

import type { FlagSeen, FlagsUse } from '../../actors/usage-view.ts';
import { SavedTable } from './saved-table.ts';

/** Within a step, the same time is shown and nothing is written. */
export const STEP_MS = 60_000;

/**
 * One time as it is saved; the environment is null for a token, which is named by its digest. The first time is left out for a
 * token, and for a flag that was revived and not seen since; what an older release saved has none either, and the time stands in for it.
 */
export type SeenRow = readonly [
  name: string,
  environment: string | null,
  atMs: number,
  firstMs?: number | null,
];

export interface LastSeenOptions {
  /** Milliseconds since 1970. */
  now(): number;
  readonly hour: FlagsUse['hour'];
  isFlag(name: string): boolean;
  isToken(digest: string): boolean;
}

export class LastSeen extends SavedTable<SeenRow> implements FlagsUse {
  readonly hour: FlagsUse['hour'];
  readonly #options: LastSeenOptions;
  readonly #flags = new Map<string, FlagSeen>();
  readonly #tokens = new Map<string, number>();
  #version = 0;
  /** Two times are never the same, so that the latest one tells states apart. */
  #latestMs = 0;

  constructor(options: LastSeenOptions) {
    super();
    this.#options = options;
    this.hour = options.hour;
  }

  get step(): number {
    return Math.floor(this.#options.now() / STEP_MS);
  }

  get version(): number {
    return this.#version;
  }

  flag(name: string): FlagSeen | null {
    return this.#flags.get(name) ?? null;
  }

  /** Milliseconds since 1970; null for one that was never used. */
  token(digest: string): number | null {
    return this.#tokens.get(digest) ?? null;
  }

  /** Records a use of a flag that exists: the caller checks that, because reports may name anything. */
  sawFlag(name: string, environment: string, nowMs: number): void {
    const known = this.#flags.get(name);
    const beforeMs = known?.environments.get(environment);
    const isNew = beforeMs === undefined || nowMs < beforeMs || nowMs - beforeMs >= STEP_MS;
    if (!isNew && known?.first.has(environment) === true) return;
    this.#latestMs = Math.max(nowMs, this.#latestMs + 1);
    const environments = new Map(known?.environments).set(environment, this.#latestMs);
    const isFirst = known?.first.has(environment) !== true;
    const first = isFirst ? new Map(known?.first).set(environment, this.#latestMs) : known.first;
    this.#flags.set(name, { atMs: this.#latestMs, environments, first });
    this.#changed();
  }

  sawToken(digest: string, nowMs: number): void {
    const beforeMs = this.#tokens.get(digest);
    if (beforeMs !== undefined && nowMs >= beforeMs && nowMs - beforeMs < STEP_MS) return;
    this.#tokens.set(digest, nowMs);
    this.isSaved = false;
  }

  forgetFlag(name: string): void {
    if (this.#flags.delete(name)) this.#changed();
  }

  /** From now on, the first reports that tell of it are the first. */
  beginAnew(name: string): void {
    const known = this.#flags.get(name);
    if (known === undefined || known.first.size === 0) return;
    const { atMs, environments } = known;
    this.#flags.set(name, { atMs, environments, first: new Map() });
    this.#changed();
  }

  forgetToken(digest: string): void {
    if (this.#tokens.delete(digest)) this.isSaved = false;
  }

  /** Forgets tokens that are gone, once more are remembered than there are. */
  keepTokens(count: number): void {
    if (this.#tokens.size <= count) return;
    for (const digest of this.#tokens.keys()) if (!this.#options.isToken(digest)) this.forgetToken(digest);
  }

  *rows(): Generator<SeenRow> {
    for (const [name, { environments, first }] of this.#flags) {
      for (const [environment, atMs] of environments)
        yield [name, environment, atMs, first.get(environment) ?? null];
    }
    for (const [digest, atMs] of this.#tokens) yield [digest, null, atMs];
  }

  load([name, environment, atMs, firstMs = atMs]: SeenRow): void {
    if (environment === null) {
      if (this.#options.isToken(name)) this.#tokens.set(name, atMs);
      return;
    }
    if (!this.#options.isFlag(name)) return;
    const known = this.#flags.get(name);
    this.#latestMs = Math.max(this.#latestMs, atMs);
    this.#flags.set(name, {
      atMs: Math.max(atMs, known?.atMs ?? 0),
      environments: new Map(known?.environments).set(environment, atMs),
      first: firstMs === null ? (known?.first ?? new Map()) : new Map(known?.first).set(environment, firstMs),
    });
    this.#version += 1;
  }

  #changed(): void {
    this.#version += 1;
    this.isSaved = false;
  }
}
