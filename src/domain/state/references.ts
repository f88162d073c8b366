/**
 * Which segments, strategy types and context fields the strategies of flags refer to, as numbers of flags per project:
 * what lists show, and what must not be deleted while it is used. Derived from the flags, so it is in no snapshot:
 * whoever puts a flag into the state, or takes one out, says so here.
 */
import { environmentOf, type Flag } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';

export type ReferenceKind = 'segment' | 'strategy-type' | 'context-field';

/** Memory of an entry without its characters: two maps with one place each. */
const ENTRY_BYTES = 400;
/** Of a project in an entry. */
const COUNT_BYTES = 50;
const CHARACTER_BYTES = 2;

const NONE: ReadonlyMap<string, number> = new Map();

export class References {
  /** Kind and name → project → number of its flags, archived ones included. */
  readonly #counts = new Map<string, Map<string, number>>();
  #bytes = 0;

  /** About the memory that they take: constraints may name any number of context fields. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `before` is null for a flag that is new, `after` for one that is gone. */
  replace(before: Flag | null, after: Flag | null): void {
    // Most changes concern none of this, and a replay sees hundreds of thousands of them.
    if (referToTheSame(before?.environments ?? NO_ENVIRONMENTS, after?.environments ?? NO_ENVIRONMENTS))
      return;
    const [gone, come] = exchangedStrategies(before, after);
    if (gone.length + come.length === 0) return;
    const [old, fresh] = [referencesOf(gone), referencesOf(come)];
    const [isLeft, wasThere] = [lookUpIn(after, old.size), lookUpIn(before, fresh.size)];
    for (const [key, one] of old)
      if (!fresh.has(key) && !isLeft(key, one)) this.#count(key, before!.project, -1);
    for (const [key, one] of fresh)
      if (!old.has(key) && !wasThere(key, one)) this.#count(key, after!.project, 1);
  }

  /** `flagCount` flags of the project refer to `keys`, as `referenceKeys` lists them. */
  addAll(project: string, keys: readonly string[], flagCount: number): void {
    for (const key of keys) this.#count(key, project, flagCount);
  }

  /** Numbers of flags that refer to it, by project id. */
  flagCounts(kind: ReferenceKind, name: string | number): ReadonlyMap<string, number> {
    return this.#counts.get(`${kind}:${name}`) ?? NONE;
  }

  /** Kind and name, as in `segment:3` → project → number of its flags that refer to it. */
  get counts(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#counts;
  }

  clear(): void {
    this.#counts.clear();
    this.#bytes = 0;
  }

  #count(key: string, project: string, change: number): void {
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(key, counts);
      this.#bytes += ENTRY_BYTES + CHARACTER_BYTES * key.length;
    }
    const before = counts.size;
    const count = (counts.get(project) ?? 0) + change;
    if (count < 0) throw new Error(`fewer than no flags of ${project} refer to ${key}`);
    if (count > 0) counts.set(project, count);
    else counts.delete(project);
    this.#bytes += COUNT_BYTES * (counts.size - before);
    if (counts.size > 0) return;
    this.#counts.delete(key);
    this.#bytes -= ENTRY_BYTES + CHARACTER_BYTES * key.length;
  }
}

/** What the flag refers to, each once: kind and name, as in `segment:3`. */
export const referenceKeys = (flag: Flag): string[] => [...referencesOf(strategiesOf(flag)).keys()];

const strategiesOf = (flag: Flag): Strategy[] => flag.environments.flatMap(({ strategies }) => strategies);

const NO_ENVIRONMENTS: Flag['environments'] = [];

/**
 * Whether it is seen at a glance that both refer to the same: they have the same environments, and strategies that share
 * what refers to something, as those of a switch or of a patched rollout do. Makes no objects to find out.
 */
function referToTheSame(before: Flag['environments'], after: Flag['environments']): boolean {
  if (before === after) return true;
  if (before.length !== after.length) return false;
  for (let at = 0; at < before.length; at += 1) {
    const old = before[at]!;
    const fresh = after[at]!;
    if (old.name !== fresh.name || !shareReferences(old.strategies, fresh.strategies)) return false;
  }
  return true;
}

function shareReferences(before: readonly Strategy[], after: readonly Strategy[]): boolean {
  if (before === after) return true;
  if (before.length !== after.length) return false;
  for (let at = 0; at < before.length; at += 1) {
    const old = before[at]!;
    const fresh = after[at]!;
    if (old === fresh) continue;
    const shared = old.segments === fresh.segments && old.constraints === fresh.constraints;
    if (!shared || old.name !== fresh.name) return false;
  }
  return true;
}

/**
 * The strategies that only `before` has, and those that only `after` has. What both share at the start and at the end of
 * a list is skipped: a change of very many events would otherwise look at the whole list for each of them.
 */
function exchangedStrategies(before: Flag | null, after: Flag | null): [Strategy[], Strategy[]] {
  const [gone, come]: [Strategy[], Strategy[]] = [[], []];
  const names = [...(before?.environments ?? []), ...(after?.environments ?? [])].map(({ name }) => name);
  for (const name of new Set(names)) {
    const [old, fresh] = [strategiesIn(before, name), strategiesIn(after, name)];
    if (old === fresh) continue;
    const shorter = Math.min(old.length, fresh.length);
    let start = 0;
    while (start < shorter && old[start] === fresh[start]) start += 1;
    let end = 0;
    while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
    gone.push(...old.slice(start, old.length - end));
    come.push(...fresh.slice(start, fresh.length - end));
  }
  return [gone, come];
}

function strategiesIn(flag: Flag | null, environment: string): readonly Strategy[] {
  return flag === null ? [] : environmentOf(flag, environment).strategies;
}

interface Reference {
  readonly kind: ReferenceKind;
  readonly name: string | number;
}

function referencesOf(strategies: readonly Strategy[]): ReadonlyMap<string, Reference> {
  const found = new Map<string, Reference>();
  for (const { name, segments, constraints } of strategies) {
    add(found, 'strategy-type', name);
    for (const id of segments) add(found, 'segment', id);
    for (const { contextName } of constraints) add(found, 'context-field', contextName);
  }
  return found;
}

function add(found: Map<string, Reference>, kind: ReferenceKind, name: string | number): void {
  found.set(`${kind}:${name}`, { kind, name });
}

/** Up to so many, looking each up in the strategies is quicker than listing what all of them refer to. */
const FEW = 8;

/** Whether strategies of the flag refer to something, for a caller that asks `count` times. */
function lookUpIn(flag: Flag | null, count: number): (key: string, one: Reference) => boolean {
  if (flag === null || count <= FEW) return (_key, one) => refersTo(flag, one);
  const all = referencesOf(strategiesOf(flag));
  return (key) => all.has(key);
}

function refersTo(flag: Flag | null, { kind, name }: Reference): boolean {
  if (flag === null) return false;
  const refers = (strategy: Strategy): boolean => {
    if (kind === 'strategy-type') return strategy.name === name;
    if (kind === 'segment') return strategy.segments.includes(name as number);
    return strategy.constraints.some(({ contextName }) => contextName === name);
  };
  return flag.environments.some(({ strategies }) => strategies.some(refers));
}
