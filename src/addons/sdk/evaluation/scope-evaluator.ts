/**
 * The evaluator of one scope, brought up to date before each use. It follows the state by revisions: of the projects
 * that changed it looks at the chunks of flags that changed, for the flags that did, and compiles only those. An evaluator is never
 * changed: an update makes the next one, of the state at one moment, and may take its time.
 */

import type { Flag } from '../../../domain/flags/flag.ts';
import type { FlagChunk } from '../../../domain/state/project-flags.ts';
import type { ALL, DirectoryState, ProjectState, World, WorldOwner } from '../../../domain/state/world.ts';
import { Evaluator } from './evaluator.ts';
import { compileSegment, type SegmentSource } from './segment-test.ts';

export interface Scope {
  readonly environment: string;
  readonly projects: readonly string[] | typeof ALL;
}

/** An evaluator and the newest event that it shows. */
export interface ShownScope {
  readonly evaluator: Evaluator;
  /** The newest event that an outcome can show: a reader waits until that is durable. */
  readonly revision: number;
}

/** Everything that a scope looks at, as it was at one moment. */
interface Moment {
  /** The newest event then. */
  readonly lastId: number;
  /** The newest event that changed it. */
  readonly revision: number;
  readonly directoryRevision: number;
  readonly projects: SeenProjects;
}

const NOTHING_SEEN: Moment = { lastId: -1, revision: -1, directoryRevision: -1, projects: new Map() };

/** An update under way, and what the evaluator shows afterwards. */
export interface NextEvaluator {
  /** To be taken before it is adopted: each looks at a chunk of flags or a block of them at most. */
  readonly steps: Iterator<void, void>;
  readonly evaluator: Evaluator;
  readonly moment: Moment;
}

export class ScopeEvaluator {
  readonly scope: Scope;
  /** The key of the scope, equal for equal ones. */
  readonly key: string;
  readonly #state: WorldOwner;
  #seen = NOTHING_SEEN;
  #shown: ShownScope;

  constructor(state: WorldOwner, scope: Scope) {
    this.#state = state;
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
    for (const { flags } of this.#projectsIn(this.#state.world)) count += flags.size;
    return count;
  }

  shows(eventId: number): boolean {
    return this.#seen.lastId >= eventId;
  }

  /**
   * The evaluator after the event `lastId`, which is the newest one, and its update. It shows everything as it is at
   * the moment of the call.
   */
  next(lastId: number): NextEvaluator {
    const { world } = this.#state;
    const { directory } = world;
    const seen = this.#seen;
    const projects = new Map(
      [...this.#projectsIn(world)].map((project) => [project.settings.id, this.#look(project)]),
    );
    const isDirectoryNew = seen.directoryRevision !== directory.revision;
    const segments = isDirectoryNew ? new Map(directory.segments) : new Map();
    const evaluator = this.#shown.evaluator.copy(
      isDirectoryNew ? { environmentEnabled: this.#isEnvironmentEnabled(directory), segments } : {},
    );
    const revisions = [...projects.values()].map(({ revision }) => revision);
    return {
      steps: stepsOf({ evaluator, before: seen.projects, after: projects, segments }),
      evaluator,
      moment: {
        lastId,
        revision: revisions.reduce((a, b) => Math.max(a, b), directory.revision),
        directoryRevision: directory.revision,
        projects,
      },
    };
  }

  /** Shows the evaluator whose steps are taken, unless it shows something newer by now. */
  adopt({ evaluator, moment }: NextEvaluator): void {
    if (this.shows(moment.lastId)) return;
    this.#seen = moment;
    this.#shown = { evaluator, revision: moment.revision };
  }

  #look(project: ProjectState): SeenProject {
    const { revision, flags } = project;
    const known = this.#seen.projects.get(project.settings.id);
    return known?.revision === revision ? known : { revision, chunks: flags.chunks };
  }

  #projectsIn(world: World): Iterable<ProjectState> {
    const { projects } = this.scope;
    if (projects === '*') return world.projects.values();
    return projects.flatMap((id) => world.projects.get(id) ?? []);
  }

  #isEnvironmentEnabled({ environments }: DirectoryState): boolean {
    return environments.find(({ name }) => name === this.scope.environment)?.enabled === true;
  }
}

export function keyOf(scope: Scope): string {
  return JSON.stringify(scope);
}

// From an evaluator to the next one, step by step: what is gone from the chunks that changed leaves it, what is in them now is
// compiled and put in, and then the columns are made by which lists are evaluated.

/** The flags of a project at one moment. */
interface SeenProject {
  readonly revision: number;
  readonly chunks: readonly FlagChunk[];
}

/** By project id. */
type SeenProjects = ReadonlyMap<string, SeenProject>;

interface ScopeUpdateOptions {
  /** Has the flags of before, and becomes the next evaluator. */
  readonly evaluator: Evaluator;
  readonly before: SeenProjects;
  readonly after: SeenProjects;
  /** Segments, which may not be compiled yet. */
  readonly segments: ReadonlyMap<number, SegmentSource>;
}

function* stepsOf({ evaluator, before, after, segments }: ScopeUpdateOptions): Generator<void, void> {
  for (const segment of segments.values()) {
    compileSegment(segment);
    yield;
  }
  const changes = [...changesOf(before, after)];
  // What is gone goes first: a flag may have left one chunk or project for another.
  for (const { known, next } of changes) {
    for (let at = sameNames(known, next); at < known.length; at += 1) evaluator.delete(known[at]!.name);
    yield;
  }
  for (const { known, next } of changes) {
    for (let at = 0; at < next.length; at += 1) {
      if (next[at] === known[at]) continue;
      evaluator.set(next[at]!);
      yield;
    }
  }
  for (const block of evaluator.blocks) {
    if (block.hasColumns) continue;
    void block.columns;
    yield;
  }
}

/** The flags of a chunk before and after. */
interface ChunkChange {
  readonly known: readonly Flag[];
  readonly next: readonly Flag[];
}

function* changesOf(before: SeenProjects, after: SeenProjects): Generator<ChunkChange, void> {
  for (const [project, seen] of after) {
    const known = before.get(project);
    if (known !== seen) yield* changedChunks(known?.chunks ?? [], seen.chunks);
  }
  for (const [project, { chunks }] of before) if (!after.has(project)) yield* changedChunks(chunks, []);
}

function* changedChunks(
  before: readonly FlagChunk[],
  after: readonly FlagChunk[],
): Generator<ChunkChange, void> {
  let at = 0;
  // Nearly all stand where they stood.
  while (at < after.length && before[at]?.slot === after[at]!.slot) {
    if (before[at] !== after[at]) yield { known: flagsIn(before[at]!), next: flagsIn(after[at]!) };
    at += 1;
  }
  const others = new Map(before.slice(at).map((chunk) => [chunk.slot, chunk]));
  for (const next of after.slice(at)) {
    const known = others.get(next.slot);
    others.delete(next.slot);
    if (known !== next) yield { known: known === undefined ? [] : flagsIn(known), next: flagsIn(next) };
  }
  for (const gone of others.values()) yield { known: flagsIn(gone), next: [] };
}

const flagsIn = ({ values }: FlagChunk): Flag[] => values.map(({ flag }) => flag);

/** How many flags in a row, from the first on, still stand where they stood: the same ones, or as they have become. */
function sameNames(known: readonly Flag[], next: readonly Flag[]): number {
  const end = Math.min(known.length, next.length);
  let at = 0;
  while (at < end && (known[at] === next[at] || known[at]!.name === next[at]!.name)) at += 1;
  return at;
}
