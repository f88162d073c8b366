/**
 * The evaluator of one scope, brought up to date before each use. It follows the state by revisions: of the projects
 * that changed it looks at the shelves of flags that changed, for the flags that did, and compiles only those. An evaluator is never
 * changed: an update makes the next one, of the state at one moment, and may take its time.
 */
import type { ALL } from '../../../domain/decide/token-commands.ts';
import { Evaluator } from '../../../domain/evaluation/evaluator.ts';
import type { ProjectState, World } from '../../../domain/state/world.ts';
import { ScopeUpdate, type SeenProject } from './scope-update.ts';

export interface Scope {
  readonly environment: string;
  readonly projects: readonly string[] | typeof ALL;
}

/** What an evaluator shows. */
export interface ShownScope {
  readonly evaluator: Evaluator;
  /** The newest event that an outcome can show: a reader waits until that is durable. */
  readonly revision: number;
}

/** Everything that a scope looks at, as it was at one moment. */
interface Moment {
  /** The newest event then. */
  readonly lastId: number;
  /** The newest event that changed anything of it. */
  readonly revision: number;
  readonly directoryRevision: number;
  readonly projects: ReadonlyMap<ProjectState, SeenProject>;
}

const NOTHING_SEEN: Moment = { lastId: -1, revision: -1, directoryRevision: -1, projects: new Map() };

/** An update under way, and what the evaluator shows afterwards. */
export interface NextEvaluator {
  readonly update: ScopeUpdate;
  readonly moment: Moment;
}

export class ScopeEvaluator {
  readonly scope: Scope;
  /** The key of the scope, equal for equal ones. */
  readonly key: string;
  readonly #world: World;
  #seen = NOTHING_SEEN;
  #shown: ShownScope;

  constructor(world: World, scope: Scope) {
    this.#world = world;
    this.scope = scope;
    this.key = keyOf(scope);
    const { environment } = scope;
    const nothing = { environmentEnabled: false, flags: [], segments: new Map() };
    this.#shown = { evaluator: new Evaluator({ environment, ...nothing }), revision: NOTHING_SEEN.revision };
  }

  /** To be asked for after an update. */
  get shown(): ShownScope {
    return this.#shown;
  }

  /** The number of flags of all projects in the scope, archived ones included. */
  get flagCount(): number {
    let count = 0;
    for (const { flags } of this.#projects()) count += flags.size;
    return count;
  }

  /** Whether it shows at least what was there after the event. */
  shows(eventId: number): boolean {
    return this.#seen.lastId >= eventId;
  }

  /** What it has to show after the event `lastId`, which is the newest one: everything as it is at the moment of the call. */
  next(lastId: number): NextEvaluator {
    const { directory } = this.#world;
    const seen = this.#seen;
    const projects = new Map([...this.#projects()].map((project) => [project, this.#look(project)]));
    const isDirectoryNew = seen.directoryRevision !== directory.revision;
    const segments = isDirectoryNew ? new Map(directory.segments) : new Map();
    const evaluator = this.#shown.evaluator.copy(
      isDirectoryNew ? { environmentEnabled: this.#isEnvironmentEnabled(), segments } : {},
    );
    const revisions = [...projects.values()].map(({ revision }) => revision);
    return {
      update: new ScopeUpdate({ evaluator, before: seen.projects, after: projects, segments }),
      moment: {
        lastId,
        revision: revisions.reduce((a, b) => Math.max(a, b), directory.revision),
        directoryRevision: directory.revision,
        projects,
      },
    };
  }

  /** Shows what the update has made, which is done, unless it shows something newer by now. */
  adopt({ update, moment }: NextEvaluator): void {
    if (this.shows(moment.lastId)) return;
    this.#seen = moment;
    this.#shown = { evaluator: update.evaluator, revision: moment.revision };
  }

  #look(project: ProjectState): SeenProject {
    const { revision, flags } = project;
    const known = this.#seen.projects.get(project);
    return known?.revision === revision ? known : { revision, shelves: flags.shelved() };
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
