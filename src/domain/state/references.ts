/**
 * Counts the flags of each project that refer to a segment, a strategy type or a context field:
 * what lists show, and what must not be deleted while it is used. Derived from the flags, so it is in no snapshot:
 * code that puts a flag into the state, or takes one out, calls it.
 */
import { environmentOf, type Flag } from '../flags/flag.ts';
import { exchanged, type Strategy } from '../flags/strategy.ts';
import type { ReferenceKind } from '../kinds/kind.ts';
import { type Edit, PersistentMap } from '../value/persistent-map.ts';

/** Memory of an entry without its characters: a map with one entry, and its place in another. */
const ENTRY_BYTES = 1_400;
/** Bytes of a project in an entry. */
const COUNT_BYTES = 50;
/** Bytes of a `Use`, without its characters. */
const USE_BYTES = 200;
const CHARACTER_BYTES = 2;

const NONE: ReadonlyMap<string, number> = new Map();

/** Flags of a project that refer to something in exactly these environments, whose names are joined: none has a space or a colon. */
interface Use {
  readonly key: string;
  readonly environments: string;
  readonly count: number;
}

type Uses = PersistentMap<string, Use>;
type Counts = PersistentMap<string, number>;

export class References {
  /** Kind and name → project → number of its flags, archived ones included. */
  #counts = PersistentMap.empty<string, Counts>();
  /** Project → environments and key → use: what is left when the project loses an environment is known without its flags. */
  #uses = PersistentMap.empty<string, Uses>();
  #bytes = 0;

  /** About the memory that they take: constraints may name any number of context fields. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The references after a change of a flag. `before` is null for a new flag, `after` for a removed one. */
  replaced(before: Flag | null, after: Flag | null, edit: Edit = {}): References {
    // Most changes concern none of this, and a replay sees hundreds of thousands of them.
    if (before !== null && after !== null && referToTheSame(before.environments, after.environments))
      return this;
    let next: References = this;
    for (const one of exchangedReferences(before, after)) {
      const was = environmentsWith(before, one);
      const is = environmentsWith(after, one);
      if (was === is) continue;
      if (next === this) next = this.#copy();
      const { key } = one;
      if (was !== '') next.#use(before!.project, { key, environments: was, count: -1 }, edit);
      if (is !== '') next.#use(after!.project, { key, environments: is, count: 1 }, edit);
    }
    return next;
  }

  /** The references when all flags of the project have lost what they have in the environment. */
  withoutEnvironment(project: string, environment: string, edit: Edit): References {
    const next = this.#copy();
    for (const { key, environments, count } of [...(this.#uses.get(project)?.values() ?? [])]) {
      const names = environments.split(' ');
      if (!names.includes(environment)) continue;
      const left = names.filter((name) => name !== environment).join(' ');
      next.#use(project, { key, environments, count: -count }, edit);
      if (left !== '') next.#use(project, { key, environments: left, count }, edit);
    }
    return next;
  }

  /** Numbers of flags that refer to it, by project id. */
  flagCounts(kind: ReferenceKind, name: string | number): ReadonlyMap<string, number> {
    return this.#counts.get(keyOf(kind, name)) ?? NONE;
  }

  /** Environments of the project in which flags refer to it, some of them more than once. */
  environmentsOf(kind: ReferenceKind, name: string | number, project: string): readonly string[] {
    const key = keyOf(kind, name);
    const uses = [...(this.#uses.get(project)?.values() ?? [])];
    return uses.flatMap((use) => (use.key === key ? use.environments.split(' ') : []));
  }

  /** Kind and name, as in `segment:3` → project → number of its flags that refer to it. */
  get counts(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#counts;
  }

  #copy(): References {
    const copy = new References();
    copy.#counts = this.#counts;
    copy.#uses = this.#uses;
    copy.#bytes = this.#bytes;
    return copy;
  }

  /** Adds this many flags to those of the use. */
  #use(project: string, use: Use, edit: Edit): void {
    this.#count(use.key, project, use.count, edit);
    const id = `${use.environments} ${use.key}`;
    let uses = this.#uses.get(project) ?? PersistentMap.empty<string, Use>();
    const before = uses.get(id)?.count ?? 0;
    const count = before + use.count;
    if (count < 0) throw new Error(`fewer than no flags of ${project} refer to ${use.key}`);
    const bytes = USE_BYTES + CHARACTER_BYTES * id.length;
    this.#bytes += bytes * (Number(count > 0) - Number(before > 0));
    uses = count > 0 ? uses.with(id, { ...use, count }, edit) : uses.without(id, edit);
    this.#uses = uses.size > 0 ? this.#uses.with(project, uses, edit) : this.#uses.without(project, edit);
  }

  #count(key: string, project: string, change: number, edit: Edit): void {
    const known = this.#counts.get(key);
    let counts = known ?? PersistentMap.empty<string, number>();
    const size = counts.size;
    const count = (counts.get(project) ?? 0) + change;
    if (count < 0) throw new Error(`fewer than no flags of ${project} refer to ${key}`);
    counts = count > 0 ? counts.with(project, count, edit) : counts.without(project, edit);
    const bytes = ENTRY_BYTES + CHARACTER_BYTES * key.length;
    this.#bytes += bytes * (Number(counts.size > 0) - Number(known !== undefined));
    this.#bytes += COUNT_BYTES * (counts.size - size);
    this.#counts = counts.size > 0 ? this.#counts.with(key, counts, edit) : this.#counts.without(key, edit);
  }
}

/** Whether it is seen at a glance: a switch or a patched rollout shares with the flag before it what refers to something. */
function referToTheSame(before: Flag['environments'], after: Flag['environments']): boolean {
  if (before === after) return true;
  return (
    before.length === after.length &&
    before.every(({ name, strategies }, at) => {
      const fresh = after[at]!;
      return name === fresh.name && shareReferences(strategies, fresh.strategies);
    })
  );
}

function shareReferences(before: readonly Strategy[], after: readonly Strategy[]): boolean {
  if (before === after) return true;
  return (
    before.length === after.length &&
    before.every(({ name, segments, constraints }, at) => {
      const fresh = after[at]!;
      return name === fresh.name && segments === fresh.segments && constraints === fresh.constraints;
    })
  );
}

interface Reference {
  /** The kind and name, in one. */
  readonly key: string;
  readonly kind: ReferenceKind;
  readonly name: string | number;
}

/** The things that strategies refer to which only one of the flags has. */
function exchangedReferences(before: Flag | null, after: Flag | null): Iterable<Reference> {
  const found = new Map<string, Reference>();
  for (const { name, strategies } of after?.environments ?? [])
    for (const list of exchanged(strategiesIn(before, name), strategies)) addAll(found, list);
  for (const { name, strategies } of before?.environments ?? [])
    if (strategiesIn(after, name).length === 0) addAll(found, strategies);
  return found.values();
}

function addAll(found: Map<string, Reference>, strategies: readonly Strategy[]): void {
  for (const { name, segments, constraints } of strategies) {
    add(found, 'strategy-type', name);
    for (const id of segments) add(found, 'segment', id);
    for (const { contextName } of constraints) add(found, 'context-field', contextName);
  }
}

function add(found: Map<string, Reference>, kind: ReferenceKind, name: string | number): void {
  const key = keyOf(kind, name);
  if (!found.has(key)) found.set(key, { key, kind, name });
}

const strategiesIn = (flag: Flag | null, environment: string): readonly Strategy[] =>
  flag === null ? [] : environmentOf(flag, environment).strategies;

/** Names of the environments in which the flag refers to it, in their order. */
function environmentsWith(flag: Flag | null, reference: Reference): string {
  let names = '';
  for (const { name, strategies } of flag?.environments ?? [])
    if (strategies.some((strategy) => refersTo(strategy, reference)))
      names = names === '' ? name : `${names} ${name}`;
  return names;
}

function refersTo(strategy: Strategy, { kind, name }: Reference): boolean {
  if (kind === 'strategy-type') return strategy.name === name;
  if (kind === 'segment') return strategy.segments.includes(name as number);
  return strategy.constraints.some(({ contextName }) => contextName === name);
}

const keyOf = (kind: ReferenceKind, name: string | number): string => `${kind}:${name}`;
