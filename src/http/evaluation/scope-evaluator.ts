/**
 * The evaluator of one scope, brought up to date before each use. It follows the state by revisions: of the projects
 * that changed it looks at the shelves of flags that changed, for the flags that did, and compiles only those.
 */
import type { ALL } from '../../domain/decide/token-commands.ts';
import { Evaluator } from '../../domain/evaluation/evaluator.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { ShelvedFlags } from '../../domain/state/project-flags.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';

export interface Scope {
  readonly environment: string;
  readonly projects: readonly string[] | typeof ALL;
}

/** What an evaluator shows of one project. */
interface Seen {
  readonly revision: number;
  readonly shelves: readonly ShelvedFlags[];
  /** Flags that are not archived. */
  readonly flagCount: number;
}

/** Of flags that are not archived, by the shelf as it was at one moment. */
const flagCounts = new WeakMap<ShelvedFlags, number>();

function flagCountOf(shelved: ShelvedFlags): number {
  let count = flagCounts.get(shelved);
  if (count === undefined) {
    count = 0;
    for (const { archivedAt } of shelved.flags) if (archivedAt === null) count += 1;
    flagCounts.set(shelved, count);
  }
  return count;
}

export class ScopeEvaluator {
  readonly scope: Scope;
  /** Of the scope: equal for equal ones. */
  readonly key: string;
  readonly #world: World;
  #evaluator: Evaluator | null = null;
  #isEnabled = false;
  #seen = new Map<ProjectState, Seen>();
  #checkedId = -1;
  #revision = 0;

  constructor(world: World, scope: Scope) {
    this.#world = world;
    this.scope = scope;
    this.key = keyOf(scope);
  }

  /** The newest event that an outcome can show: a reader waits until that is durable. */
  get revision(): number {
    return this.#revision;
  }

  get evaluator(): Evaluator {
    if (this.#evaluator === null) throw new Error('an evaluator is brought up to date before it is used');
    return this.#evaluator;
  }

  /** Of all projects in the scope, archived ones included. */
  get flagCount(): number {
    let count = 0;
    for (const { flags } of this.#projects()) count += flags.size;
    return count;
  }

  /** Whether it shows the state as it is after the event `lastId`. */
  isCurrent(lastId: number): boolean {
    return lastId === this.#checkedId;
  }

  /** Flags that changed since the last update: what that has to compile. */
  changedFlags(): Flag[] {
    const changed: Flag[] = [];
    for (const project of this.#projects()) {
      const known = this.#seen.get(project);
      const since = known?.revision ?? -1;
      if (project.revision <= since) continue;
      const shelves = new Set(known?.shelves);
      for (const shelved of project.flags.shelved()) {
        if (shelves.has(shelved)) continue;
        for (const { flag, revision } of shelved.records) if (revision > since) changed.push(flag);
      }
    }
    return changed;
  }

  /** Shows the state as it is after the event `lastId`. */
  update(lastId: number, changed: readonly Flag[] = this.changedFlags()): void {
    if (lastId === this.#checkedId) return;
    const projects = [...this.#projects()];
    const seen = new Map(projects.map((project) => [project, this.#look(project)]));
    const flagCount = [...seen.values()].reduce((sum, one) => sum + one.flagCount, 0);
    const isEnabled = this.#isEnvironmentEnabled();
    if (this.#evaluator !== null && isEnabled === this.#isEnabled) {
      for (const flag of changed) this.#evaluator.set(flag);
    }
    // A flag that was deleted, or a project, leaves more flags behind than there are.
    if (this.#evaluator?.size !== flagCount || isEnabled !== this.#isEnabled)
      this.#rebuild(projects, isEnabled);
    this.#seen = seen;
    this.#checkedId = lastId;
    this.#revision = Math.max(this.#world.directory.revision, ...projects.map(({ revision }) => revision));
  }

  #rebuild(projects: readonly ProjectState[], isEnabled: boolean): void {
    const { segments } = this.#world.directory;
    this.#evaluator = new Evaluator({
      environment: this.scope.environment,
      environmentEnabled: isEnabled,
      flags: flagsOf(projects),
      segments,
    });
    this.#isEnabled = isEnabled;
  }

  #look(project: ProjectState): Seen {
    const { revision, flags } = project;
    const known = this.#seen.get(project);
    if (known?.revision === revision) return known;
    const shelves = flags.shelved();
    const flagCount = shelves.reduce((sum, shelved) => sum + flagCountOf(shelved), 0);
    return { revision, shelves, flagCount };
  }

  #projects(): Iterable<ProjectState> {
    const { projects } = this.scope;
    if (projects === '*') return this.#world.projects.values();
    return projects.flatMap((id) => this.#world.projects.get(id) ?? []);
  }

  #isEnvironmentEnabled(): boolean {
    const { environments } = this.#world.directory;
    return environments.find(({ name }) => name === this.scope.environment)?.enabled === true;
  }
}

export function keyOf(scope: Scope): string {
  return JSON.stringify(scope);
}

function* flagsOf(projects: Iterable<ProjectState>): Generator<Flag> {
  for (const { flags } of projects) for (const { flag } of flags.values()) yield flag;
}
