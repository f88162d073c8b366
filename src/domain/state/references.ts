/**
 * Counts the flags of each project that refer to a segment, a strategy type or a context field:
 * what lists show, and what must not be deleted while it is used. Derived from the flags, so it is in no snapshot:
 * code that puts a flag into the state, or takes one out, calls it.
 */
import { environmentOf, type Flag } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';
import type { ReferenceKind } from '../kinds/kind.ts';
import { addStep, isRecording } from './reversible.ts';

/** Memory of an entry without its characters: two maps with one place each. */
const ENTRY_BYTES = 400;
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
  count: number;
}

export class References {
  /** Kind and name → project → number of its flags, archived ones included. */
  readonly #counts = new Map<string, Map<string, number>>();
  /** Project → environments and key → use: what is left when the project loses an environment is known without its flags. */
  readonly #uses = new Map<string, Map<string, Use>>();
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
    const exchanged = new Map([...referencesOf(gone), ...referencesOf(come)]);
    const [oldUse, freshUse] = [lookUpIn(before, exchanged.size), lookUpIn(after, exchanged.size)];
    for (const [key, one] of exchanged) {
      const [old, fresh] = [oldUse(key, one), freshUse(key, one)];
      if (old.length === fresh.length && old.every((name, at) => name === fresh[at])) continue;
      if (old.length > 0) this.#use(before!.project, { key, environments: old }, -1);
      if (fresh.length > 0) this.#use(after!.project, { key, environments: fresh }, 1);
    }
  }

  /** All flags of the project lose what they have in the environment. */
  dropEnvironment(project: string, environment: string): void {
    for (const { key, environments, count } of [...(this.#uses.get(project)?.values() ?? [])]) {
      if (!environments.includes(environment)) continue;
      const left = environments.filter((name) => name !== environment);
      this.#use(project, { key, environments }, -count);
      if (left.length > 0) this.#use(project, { key, environments: left }, count);
    }
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
    this.#uses.clear();
    this.#bytes = 0;
  }

  #use(project: string, used: Omit<Use, 'count'>, change: number): void {
    this.#changeUse(project, used, change);
    if (!isRecording()) return;
    addStep({
      undo: () => this.#changeUse(project, used, -change),
      redo: () => this.#changeUse(project, used, change),
    });
  }

  #changeUse(project: string, { key, environments }: Omit<Use, 'count'>, change: number): void {
    this.#count(key, project, change);
    let uses = this.#uses.get(project);
    if (uses === undefined) {
      uses = new Map();
      this.#uses.set(project, uses);
    }
    const id = useId({ key, environments });
    const use = uses.get(id) ?? { key, environments, count: 0 };
    if (use.count === 0) {
      uses.set(id, use);
      this.#bytes += USE_BYTES + CHARACTER_BYTES * id.length;
    }
    use.count += change;
    if (use.count < 0) throw new Error(`fewer than no flags of ${project} refer to ${key}`);
    if (use.count > 0) return;
    uses.delete(id);
    this.#bytes -= USE_BYTES + CHARACTER_BYTES * id.length;
    if (uses.size === 0) this.#uses.delete(project);
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
