/**
 * Which segments, strategy types and context fields the strategies of flags refer to, as numbers of flags per project:
 * what lists show, and what must not be deleted while it is used. Derived from the flags, so it is in no snapshot:
 * whoever puts a flag into the state, or takes one out, says so here.
 */
import type { Flag } from '../flags/flag.ts';

export type ReferenceKind = 'segment' | 'strategy-type' | 'context-field';

const NONE: ReadonlyMap<string, number> = new Map();

export class References {
  /** Kind and name → project → number of its flags, archived ones included. */
  readonly #counts = new Map<string, Map<string, number>>();

  /** `before` is null for a flag that is new, `after` for one that is gone. */
  replace(before: Flag | null, after: Flag | null): void {
    if (before !== null && after !== null && sameStrategies(before, after)) return;
    const old = before === null ? null : keysOf(before);
    const fresh = after === null ? null : keysOf(after);
    for (const key of old ?? []) if (fresh === null || !fresh.has(key)) this.#count(key, before!.project, -1);
    for (const key of fresh ?? []) if (old === null || !old.has(key)) this.#count(key, after!.project, 1);
  }

  /** Numbers of flags that refer to it, by project id. */
  flagCounts(kind: ReferenceKind, name: string | number): ReadonlyMap<string, number> {
    return this.#counts.get(`${kind}:${name}`) ?? NONE;
  }

  clear(): void {
    this.#counts.clear();
  }

  #count(key: string, project: string, change: 1 | -1): void {
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(key, counts);
    }
    const count = (counts.get(project) ?? 0) + change;
    if (count < 0) throw new Error(`fewer than no flags of ${project} refer to ${key}`);
    if (count > 0) counts.set(project, count);
    else counts.delete(project);
    if (counts.size === 0) this.#counts.delete(key);
  }
}

/** Most changes, switches above all, leave the lists of strategies as they are: then no reference changed. */
function sameStrategies(before: Flag, after: Flag): boolean {
  if (before.environments === after.environments) return true;
  if (before.environments.length !== after.environments.length) return false;
  for (let at = 0; at < after.environments.length; at += 1) {
    if (before.environments[at]!.strategies !== after.environments[at]!.strategies) return false;
  }
  return true;
}

function keysOf(flag: Flag): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { strategies } of flag.environments) {
    for (const { name, segments, constraints } of strategies) {
      keys.add(`strategy-type:${name}`);
      for (const id of segments) keys.add(`segment:${id}`);
      for (const { contextName } of constraints) keys.add(`context-field:${contextName}`);
    }
  }
  return keys;
}
