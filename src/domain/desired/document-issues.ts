/**
 * The issues of a state document that its schema cannot find: duplicate names, references to things that do not
 * exist, and broken rules between two things. A document without such issues can be imported completely. Each
 * is reported with a JSON pointer.
 */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { canBeInProject, canBeRoot, ROLES, type Role } from '../access/roles.ts';
import { ISSUES_MAX, type Issue, issuesOf } from '../json/issues.ts';
import { checkStorable } from '../json/json.ts';
import { addonKind, upgradedContent, versionOf } from '../kinds/addon-kind.ts';
import { type Referred, referencesOf } from '../kinds/kind.ts';
import { DOCUMENT_KIND_NAMES, type KindName, kindOf, SECRET_KIND_NAMES } from '../kinds/kinds.ts';
import {
  type CredentialsDocument,
  FLAG_DEPTH_MAX,
  type FlagDocument,
  FlagSchema,
  type ProjectDocument,
  type StateDocument,
  StateDocumentSchema,
} from './state-document.ts';
import { ImportEvents } from './state-import.ts';

/** Positions in the lists of the document. */
export interface FlagPosition {
  readonly project: number;
  readonly index: number;
}

/** The JSON pointer of a flag. */
export const flagPointer = ({ project, index }: FlagPosition): string =>
  `/projects/${project}/flags/${index}`;

/** The properties of a flag that checks of other flags in the document need. */
interface FlagOutline {
  readonly project: number;
  readonly isArchived: boolean;
  readonly hasParents: boolean;
}

/** The part of an item that no other item has; null when none needs to be its own. */
type Identified = readonly [path: string, identity: string | number] | null;

interface Child {
  readonly project: number;
  readonly path: string;
  readonly flag: Pick<FlagDocument, 'name' | 'archivedAt' | 'dependencies'>;
}

/** A flag of the document, not checked yet. */
export interface SentFlag extends FlagPosition {
  readonly value: unknown;
}

/**
 * Finds issues in a document that arrives flag by flag: `frame` is all of it with empty lists of flags, then comes each
 * flag in its order, and `end` checks what only all flags together show. It keeps of each flag its name, and more only
 * where other flags depend on it, so a document of any size takes no more memory than its largest flag, and the names of all.
 */
export class DocumentIssues {
  readonly #frame: StateDocument;
  /** At most ISSUES_MAX. */
  readonly #issues: Issue[] = [];
  /** Whether a flag could not be read. */
  #lacksFlags = false;
  readonly #environments: ReadonlySet<string>;
  readonly #userIds: ReadonlySet<number>;
  /** By name: predefined ones, and those of the document. */
  readonly #roles: ReadonlyMap<string, Role>;
  readonly #groupIds: ReadonlySet<number>;
  readonly #projectIds: ReadonlySet<string>;
  /** By flag name, unique over the whole service. */
  readonly #flags = new Map<string, FlagOutline>();
  readonly #children: Child[] = [];

  private constructor(frame: StateDocument) {
    this.#frame = frame;
    this.#environments = new Set(frame.environments.map((one) => one.name));
    this.#roles = new Map([...ROLES, ...frame.roles].map((role) => [role.name, role]));
    this.#groupIds = new Set(frame.groups.map((one) => one.id));
    this.#userIds = new Set(frame.users.map((one) => one.id));
    this.#projectIds = new Set(frame.projects.map((one) => one.id));
    this.#findInFrame();
  }

  /** Returns what is wrong with the shape of the frame instead. */
  static begin(frame: unknown): DocumentIssues | readonly Issue[] {
    const issue = checkStorable(frame);
    if (issue !== null) return [issue];
    const parsed = v.safeParse(StateDocumentSchema, frame);
    return parsed.success ? new DocumentIssues(parsed.output) : issuesOf(parsed.issues);
  }

  /** False when enough is wrong already. */
  check({ value, ...position }: SentFlag): boolean {
    const path = flagPointer(position);
    const unstorable = checkStorable(value, FLAG_DEPTH_MAX);
    const parsed = unstorable === null ? v.safeParse(FlagSchema, value) : null;
    if (parsed?.success) this.#addFlag(position, parsed.output);
    else {
      this.#lacksFlags = true;
      const issues = unstorable === null ? issuesOf(parsed?.issues ?? [], 'The flag') : [unstorable];
      for (const one of issues) this.#addIssue(`${path}${one.path}`, one.message);
    }
    return this.#issues.length < ISSUES_MAX;
  }

  #addFlag(position: FlagPosition, flag: FlagDocument): void {
    const { project } = position;
    const owner = this.#frame.projects[project];
    assert(owner !== undefined, 'a flag is in a project of the document');
    const path = flagPointer(position);
    const holder = this.#flags.get(flag.name);
    if (holder === undefined) this.#flags.set(flag.name, outlineOf(flag, project));
    else {
      const message = `A flag named "${flag.name}" is in the project "${this.#frame.projects[holder.project]?.id}" already.`;
      this.#addIssue(`${path}/name`, message);
    }
    this.#findInEnvironments(owner, flag, path);
    this.#unique(flag.tags, `${path}/tags`, (tag) => ['', `${tag.type}:${tag.value}`]);
    if (flag.dependencies.length > 0) {
      const { name, archivedAt, dependencies } = flag;
      const child = { name, archivedAt, dependencies };
      this.#children.push({ project, path: `${path}/dependencies`, flag: child });
    }
  }

  /** Pointers and sentences; empty when the document can be imported. */
  end(): readonly Issue[] {
    // What a flag that could not be read leaves open would be reported of others.
    if (this.#lacksFlags) return this.#issues;
    for (const child of this.#children) this.#findInDependencies(child);
    for (const [index, { flags }] of this.#frame.favorites.entries()) {
      for (const [at, name] of flags.entries())
        this.#existing(this.#flags, name, `/favorites/${index}/flags/${at}`, 'flag');
    }
    return this.#issues;
  }

  /** To be called once there are no issues. */
  events(): ImportEvents {
    return new ImportEvents(this.#frame);
  }

  #findInFrame(): void {
    const { environments, projects, credentials, groups, settings } = this.#frame;
    this.#unique(environments, '/environments', (one) => ['/name', one.name]);
    this.#unique(projects, '/projects', (one) => ['/id', one.id]);
    for (const name of DOCUMENT_KIND_NAMES) this.#findInKind(name, this.#frame[name], `/${name}`);
    this.#unique(settings, '/settings', (one) => ['/id', one.id]);
    for (const [index, { users }] of groups.entries())
      this.#unique(users, `/groups/${index}/users`, (id) => ['', id]);
    this.#findInFavorites();
    for (const [index, project] of projects.entries()) this.#findInProject(project, `/projects/${index}`);
    this.#findInAddonRecords(this.#frame);
    if (credentials !== undefined) this.#findInCredentials(credentials);
  }

  #findInKind(name: KindName, records: readonly object[], path: string): void {
    const { unique, uniqueFolded = [] } = kindOf(name);
    const predefined = name === 'roles' ? ROLES : [];
    for (const field of [...unique, ...uniqueFolded]) {
      const isFolded = uniqueFolded.includes(field);
      const identify = (one: object): Identified => {
        const value = (one as Readonly<Record<string, string | number | null>>)[field] ?? null;
        if (value === null) return null;
        return [`/${field}`, isFolded ? String(value).toLowerCase() : value];
      };
      const taken = predefined.flatMap((one) => identify(one)?.[1] ?? []);
      this.#unique(records, path, identify, taken);
    }
    if (unique.length === 0) this.#unique(records, path, (one) => ['', kindOf(name).idOf(one)]);
    for (const [index, one] of records.entries()) {
      for (const { path: place, referred, value } of referencesOf(kindOf(name), one))
        this.#findReferred(referred, value, `${path}/${index}${place}`);
    }
  }

  #findInAddonRecords({ addonRecords }: StateDocument): void {
    this.#unique(addonRecords, '/addonRecords', ({ kind, id }) => ['/id', `${kind} ${id}`]);
    for (const [index, { kind: name, id, version, data, secrets = {} }] of addonRecords.entries()) {
      const path = `/addonRecords/${index}`;
      const kind = addonKind(name);
      if (kind === undefined)
        this.#addIssue(`${path}/kind`, `This server has no add-on for the kind "${name}".`);
      else if (version > versionOf(kind))
        this.#addIssue(`${path}/version`, `This server knows the version ${versionOf(kind)} of this kind.`);
      else if (data.id !== undefined && data.id !== id)
        this.#addIssue(`${path}/data/id`, `The id of this record is ${id}.`);
      else
        for (const one of kind.issuesOf(upgradedContent(kind, { data, secrets }, version)))
          this.#addIssue(`${path}${one.path}`, one.message);
    }
  }

  #findReferred(referred: Referred, value: string | number, path: string): void {
    if (referred === 'root role') return this.#findInRoot(String(value), path);
    const known: ReadonlySet<string | number> = {
      user: this.#userIds,
      project: this.#projectIds,
      environment: this.#environments,
    }[referred];
    this.#existing(known, value, path, referred);
  }

  #addIssue(path: string, message: string): void {
    if (this.#issues.length < ISSUES_MAX) this.#issues.push({ path, message });
  }

  /** `identify` returns what must be unique and where in the item it stands, or null when nothing must be; `taken` are others. */
  #unique<T>(
    items: readonly T[],
    path: string,
    identify: (item: T) => Identified,
    taken: readonly (string | number)[] = [],
  ): void {
    const seen = new Set<string | number>(taken);
    for (const [index, item] of items.entries()) {
      const identified = identify(item);
      if (identified === null) continue;
      const [place, identity] = identified;
      if (seen.has(identity)) this.#addIssue(`${path}/${index}${place}`, `"${identity}" is there already.`);
      seen.add(identity);
    }
  }

  #findInRoot(name: string, path: string): void {
    const role = this.#roles.get(name);
    if (role !== undefined && canBeRoot(role)) return;
    this.#addIssue(path, `"${name}" must be one of ${this.#namesOf(canBeRoot)}.`);
  }

  #findInProjectRole(name: string, path: string): void {
    const role = this.#roles.get(name);
    if (role !== undefined && canBeInProject(role)) return;
    this.#addIssue(path, `"${name}" must be one of ${this.#namesOf(canBeInProject)}.`);
  }

  #namesOf(isWanted: (role: Role) => boolean): string {
    return [...this.#roles.values()]
      .filter(isWanted)
      .map(({ name }) => name)
      .join(', ');
  }

  #findInFavorites(): void {
    const { favorites } = this.#frame;
    this.#unique(favorites, '/favorites', ({ userId }) => ['/userId', userId]);
    for (const [index, { userId, projects, flags }] of favorites.entries()) {
      const path = `/favorites/${index}`;
      this.#existing(this.#userIds, userId, `${path}/userId`, 'user');
      this.#unique(projects, `${path}/projects`, (id) => ['', id]);
      this.#unique(flags, `${path}/flags`, (name) => ['', name]);
      for (const [at, id] of projects.entries())
        this.#existing(this.#projectIds, id, `${path}/projects/${at}`, 'project');
    }
  }

  #findInProject(project: ProjectDocument, path: string): void {
    this.#unique(project.environments, `${path}/environments`, (name) => ['', name]);
    this.#unique(project.members, `${path}/members`, ({ userId }) => ['/userId', userId]);
    for (const [index, name] of project.environments.entries()) {
      this.#existing(this.#environments, name, `${path}/environments/${index}`, 'environment');
    }
    this.#unique(project.defaultStrategies, `${path}/defaultStrategies`, (one) => [
      '/environment',
      one.environment,
    ]);
    const environments = new Set(project.environments);
    for (const [index, { environment }] of project.defaultStrategies.entries()) {
      const at = `${path}/defaultStrategies/${index}/environment`;
      this.#existing(environments, environment, at, 'environment of the project');
    }
    this.#unique(project.groups, `${path}/groups`, ({ groupId }) => ['/groupId', groupId]);
    for (const [index, { userId, role }] of project.members.entries()) {
      this.#existing(this.#userIds, userId, `${path}/members/${index}/userId`, 'user');
      this.#findInProjectRole(role, `${path}/members/${index}/role`);
    }
    for (const [index, { groupId, role }] of project.groups.entries()) {
      this.#existing(this.#groupIds, groupId, `${path}/groups/${index}/groupId`, 'group');
      this.#findInProjectRole(role, `${path}/groups/${index}/role`);
    }
  }

  #findInEnvironments(project: ProjectDocument, flag: FlagDocument, flagPath: string): void {
    const path = `${flagPath}/environments`;
    this.#unique(flag.environments, path, ({ name }) => ['/name', name]);
    for (const [index, { name, enabled, strategies }] of flag.environments.entries()) {
      if (!project.environments.includes(name)) {
        this.#addIssue(`${path}/${index}/name`, `The project "${project.id}" has no environment "${name}".`);
      }
      if (enabled && strategies.length === 0) {
        const message = 'A flag cannot be enabled where it has no strategies: it would serve everyone.';
        this.#addIssue(`${path}/${index}/enabled`, message);
      }
      this.#unique(strategies, `${path}/${index}/strategies`, ({ id }) => ['/id', id]);
    }
  }

  /** Dependencies go one level deep, and archived flags have none (see archive-commands.ts). */
  #findInDependencies({ project, path, flag: child }: Child): void {
    this.#unique(child.dependencies, path, ({ feature }) => ['/feature', feature]);
    if (child.archivedAt !== null) this.#addIssue(path, 'An archived flag has no dependencies.');
    for (const [index, { feature, enabled, variants }] of child.dependencies.entries()) {
      const parent = this.#flags.get(feature);
      const message = parentIssue(parent?.project === project ? parent : undefined, child.name, feature);
      if (message !== null) this.#addIssue(`${path}/${index}/feature`, message);
      if (!enabled && variants.length > 0) {
        const message = 'Variants can only be asked of a parent that must be enabled.';
        this.#addIssue(`${path}/${index}/variants`, message);
      }
    }
  }

  #findInCredentials(credentials: CredentialsDocument): void {
    const { passwords } = credentials;
    const path = '/credentials';
    for (const name of SECRET_KIND_NAMES) this.#findInKind(name, credentials[name], `${path}/${name}`);
    this.#unique(passwords, `${path}/passwords`, ({ userId }) => ['/userId', userId]);
    for (const [index, { userId }] of passwords.entries()) {
      this.#existing(this.#userIds, userId, `${path}/passwords/${index}/userId`, 'user');
    }
  }

  #existing<T extends string | number>(
    known: Pick<ReadonlySet<T>, 'has'>,
    one: T,
    path: string,
    noun: string,
  ): void {
    if (!known.has(one)) this.#addIssue(path, `There is no ${noun} "${one}" in this document.`);
  }
}

const outlineOf = ({ archivedAt, dependencies }: FlagDocument, project: number): FlagOutline => ({
  project,
  isArchived: archivedAt !== null,
  hasParents: dependencies.length > 0,
});

function parentIssue(parent: FlagOutline | undefined, child: string, name: string): string | null {
  if (parent === undefined) return `There is no flag "${name}" in the project of its child.`;
  if (name === child) return `The flag "${name}" cannot depend on itself.`;
  if (parent.isArchived) return `The flag "${name}" is archived, so nothing can depend on it.`;
  return parent.hasParents ? `The flag "${name}" has a parent of its own, so it cannot be a parent.` : null;
}
