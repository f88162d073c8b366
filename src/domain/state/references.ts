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

/** Flags of a project that refer to something in exactly these environments. */
interface Use {
  readonly key: string;
  readonly environments: readonly string[];
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

  /** The references after a change of a flag. `before` is null for a flag that is new, `after` for one that is gone. */
  replaced(before: Flag | null, after: Flag | null, edit: Edit = {}): References {
    // Most changes concern none of this, and a replay sees hundreds of thousands of them.
    if (referToTheSame(before?.environments ?? NO_ENVIRONMENTS, after?.environments ?? NO_ENVIRONMENTS))
      return this;
    const [gone, come] = exchangedStrategies(before, after);
    if (gone.length + come.length === 0) return this;
    const references = new Map([...referencesOf(gone), ...referencesOf(come)]);
    const [oldUse, freshUse] = [lookUpIn(before, references.size), lookUpIn(after, references.size)];
    const next = this.#copy();
    for (const [key, one] of references) {
      const [old, fresh] = [oldUse(key, one), freshUse(key, one)];
      if (old.length === fresh.length && old.every((name, at) => name === fresh[at])) continue;
      if (old.length > 0) next.#use(before!.project, { key, environments: old, count: -1 }, edit);
      if (fresh.length > 0) next.#use(after!.project, { key, environments: fresh, count: 1 }, edit);
    }
    return next;
  }

  /** The references when all flags of the project have lost what they have in the environment. */
  withoutEnvironment(project: string, environment: string, edit: Edit): References {
    const next = this.#copy();
    for (const { key, environments, count } of [...(this.#uses.get(project)?.values() ?? [])]) {
      if (!environments.includes(environment)) continue;
      const left = environments.filter((name) => name !== environment);
      next.#use(project, { key, environments, count: -count }, edit);
      if (left.length > 0) next.#use(project, { key, environments: left, count }, edit);
    }
    return next;
  }

  /** Numbers of flags that refer to it, by project id. */
  flagCounts(kind: ReferenceKind, name: string | number): ReadonlyMap<string, number> {
    return this.#counts.get(`${kind}:${name}`) ?? NONE;
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

  /** Adds so many flags to those of the use. */
  #use(project: string, use: Use, edit: Edit): void {
    this.#count(use.key, project, use.count, edit);
    const id = useId(use);
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

/** No name of an environment has a space or a colon in it. */
const useId = ({ key, environments }: Omit<Use, 'count'>): string => `${environments.join(' ')} ${key}`;

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

/** The exchanged strategies of all environments. */
function exchangedStrategies(before: Flag | null, after: Flag | null): [Strategy[], Strategy[]] {
  const [gone, come]: [Strategy[], Strategy[]] = [[], []];
  const names = [...(before?.environments ?? []), ...(after?.environments ?? [])].map(({ name }) => name);
  for (const name of new Set(names)) {
    const [old, fresh] = [strategiesIn(before, name), strategiesIn(after, name)];
    if (old === fresh) continue;
    const [left, added] = exchanged(old, fresh);
    gone.push(...left);
    come.push(...added);
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

/** Names of the environments in which the flag refers to something, in their order, for a caller that asks `count` times. */
function lookUpIn(flag: Flag | null, count: number): (key: string, one: Reference) => readonly string[] {
  if (flag === null) return () => [];
  const { environments } = flag;
  if (count <= FEW) {
    return (_key, one) =>
      environments.filter(({ strategies }) => referTo(strategies, one)).map(({ name }) => name);
  }
  const all = environments.map(({ name, strategies }) => ({ name, references: referencesOf(strategies) }));
  return (key) => all.filter(({ references }) => references.has(key)).map(({ name }) => name);
}

function referTo(strategies: readonly Strategy[], { kind, name }: Reference): boolean {
  if (kind === 'strategy-type') return strategies.some((strategy) => strategy.name === name);
  if (kind === 'segment') return strategies.some(({ segments }) => segments.includes(name as number));
  return strategies.some(({ constraints }) => constraints.some(({ contextName }) => contextName === name));
}
