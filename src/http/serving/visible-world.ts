/**
 * The state as one caller sees it: without the projects that are private to others, and without their flags
 * (docs/specification/rights.md#private-projects). Routes read from it, so a hidden project is answered for as one that does not exist.
 */
import { ADMIN_ROLE_ID, type Role } from '../../domain/access/roles.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import { type Caller, rolesIn } from './access.ts';

/** The state itself for whoever sees all of it. */
export function worldSeenBy(world: World, caller: Caller): World {
  if (seesAll(caller)) return world;
  let seen = seenIn.get(world);
  if (seen === undefined) {
    seen = new WeakMap();
    seenIn.set(world, seen);
  }
  let part = seen.get(caller);
  if (part === undefined) {
    part = partOf(world, caller);
    seen.set(caller, part);
  }
  return part;
}

/** API tokens, whose scope limits what they see, and where no token is needed; of users, those with a role in all projects. */
export const seesAll = ({ user, roles }: Caller): boolean => user === null || roles.some(isHeldEverywhere);

/** Admins see everything, and an Owner or a Member of all projects is one of each. */
const isHeldEverywhere = ({ id, type }: Role): boolean => id === ADMIN_ROLE_ID || type === 'project';

/** By caller: each caller is a new object once anybody's rights change. */
const seenIn = new WeakMap<World, WeakMap<Caller, World>>();

function partOf(world: World, caller: Caller): World {
  const { lineage, directory, addonRecords, references, served, favoredBy, memoryBytes, identity, edit } =
    world;
  const sees = (project: ProjectState): boolean =>
    project.settings.mode !== 'private' || rolesIn(world, caller, project).length > 0;
  const whole = world.projects;
  const seesNamed = (id: string | null): boolean => {
    const project = id === null ? undefined : whole.get(id);
    return project === undefined || sees(project);
  };
  const projects = new PartOfMap(whole, sees);
  const parts = {
    segments: new PartOfMap(directory.segments, ({ project }) => seesNamed(project)),
    apiTokens: new PartOfMap(directory.apiTokens, ({ projects: of }) => of.every(seesNamed)),
  };
  // A part is only read, and has all that a reader of a map needs.
  const flagProjects = new ProjectsOfFlags(world.flagProjects, projects);
  const readable = { projects, flagProjects, directory: { ...directory, ...parts } } as unknown as Pick<
    World,
    'projects' | 'flagProjects' | 'directory'
  >;
  return { lineage, addonRecords, references, served, favoredBy, memoryBytes, identity, edit, ...readable };
}

/** Gives the view for a caller from whom something is hidden; null for all others. */
export const partSeenBy = (world: World, caller: Caller): World | null =>
  hiddenProjects(world, caller).length === 0 ? null : worldSeenBy(world, caller);

/** Lists the ids of the projects that are there and that the caller does not see. */
export function hiddenProjects(world: World, caller: Caller): readonly string[] {
  const seen = worldSeenBy(world, caller);
  return seen === world ? [] : [...world.projects.keys()].filter((id) => !seen.projects.has(id));
}

/** The entries of a map whose values may be seen. It is read only. */
class PartOfMap<K, V> extends Map<K, V> {
  readonly #whole: ReadonlyMap<K, V>;
  readonly #isSeen: (value: V) => boolean;

  constructor(whole: ReadonlyMap<K, V>, isSeen: (value: V) => boolean) {
    super();
    this.#whole = whole;
    this.#isSeen = isSeen;
  }

  override get size(): number {
    return [...this.entries()].length;
  }

  override get(key: K): V | undefined {
    const value = this.#whole.get(key);
    return value === undefined || !this.#isSeen(value) ? undefined : value;
  }

  override has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  override *entries(): Generator<[K, V], undefined> {
    for (const entry of this.#whole) if (this.#isSeen(entry[1])) yield entry;
  }

  override *keys(): Generator<K, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  override *values(): Generator<V, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  override [Symbol.iterator](): Generator<[K, V], undefined> {
    return this.entries();
  }

  override forEach(use: (value: V, key: K, map: Map<K, V>) => void): void {
    for (const [key, value] of this.entries()) use(value, key, this);
  }

  override set(): never {
    throw new Error('what a caller sees of the state is not the place to change it');
  }

  override delete(): never {
    return this.set();
  }

  override clear(): never {
    return this.set();
  }
}

/** Flag name → project id. There may be a million flags, most of them hidden, so what is seen is found by its projects. */
class ProjectsOfFlags extends PartOfMap<string, string> {
  readonly #projects: ReadonlyMap<string, ProjectState>;

  constructor(whole: ReadonlyMap<string, string>, projects: ReadonlyMap<string, ProjectState>) {
    super(whole, (id) => projects.has(id));
    this.#projects = projects;
  }

  override get size(): number {
    let size = 0;
    for (const { flags } of this.#projects.values()) size += flags.size;
    return size;
  }

  override *entries(): Generator<[string, string], undefined> {
    for (const [id, { flags }] of this.#projects) for (const name of flags.keys()) yield [name, id];
  }
}
