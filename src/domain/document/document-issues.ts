/**
 * The faults of a state document that its schema cannot find: duplicate names, references to things that do not
 * exist, and broken rules between two things. A document without such faults can be imported completely. Each fault
 * is reported with a JSON pointer.
 */

import { ISSUES_MAX, type Issue } from '../json/issues.ts';
import { isEmail } from '../state/email.ts';
import type { CredentialsDocument, FlagDocument, ProjectDocument, StateDocument } from './state-document.ts';

const ALL = '*';

export function documentIssues(document: StateDocument): readonly Issue[] {
  return new IssueFinder(document).find();
}

class IssueFinder {
  readonly #document: StateDocument;
  readonly #issues: Issue[] = [];
  readonly #environments: ReadonlySet<string>;
  readonly #userIds: ReadonlySet<number>;
  readonly #projectIds: ReadonlySet<string>;

  constructor(document: StateDocument) {
    this.#document = document;
    this.#environments = new Set(document.environments.map((one) => one.name));
    this.#userIds = new Set(document.users.map((one) => one.id));
    this.#projectIds = new Set(document.projects.map((one) => one.id));
  }

  find(): readonly Issue[] {
    const { environments, projects, credentials, segments, contextFields, strategyTypes } = this.#document;
    this.#unique(environments, '/environments', (one) => ['/name', one.name]);
    this.#unique(projects, '/projects', (one) => ['/id', one.id]);
    this.#unique(segments, '/segments', (one) => ['/id', one.id]);
    this.#unique(segments, '/segments', (one) => ['/name', one.name]);
    this.#unique(contextFields, '/contextFields', (one) => ['/name', one.name]);
    this.#unique(strategyTypes, '/strategyTypes', (one) => ['/name', one.name]);
    for (const [index, { project }] of segments.entries()) {
      if (project !== null)
        this.#existing(this.#projectIds, project, `/segments/${index}/project`, 'project');
    }
    this.#findInUsers();
    for (const [index, project] of projects.entries()) this.#findInProject(project, `/projects/${index}`);
    this.#findTakenFlagNames();
    if (credentials !== undefined) this.#findInCredentials(credentials);
    return this.#issues.slice(0, ISSUES_MAX);
  }

  #addIssue(path: string, message: string): void {
    this.#issues.push({ path, message });
  }

  /** `identify` returns what must be unique and where in the item it stands, or null when nothing must be. */
  #unique<T>(
    items: readonly T[],
    path: string,
    identify: (item: T) => readonly [path: string, identity: string | number] | null,
  ): void {
    const seen = new Set<string | number>();
    for (const [index, item] of items.entries()) {
      const identified = identify(item);
      if (identified === null) continue;
      const [place, identity] = identified;
      if (seen.has(identity)) this.#addIssue(`${path}/${index}${place}`, `"${identity}" is there already.`);
      seen.add(identity);
    }
  }

  #findInUsers(): void {
    const { users } = this.#document;
    this.#unique(users, '/users', ({ id }) => ['/id', id]);
    this.#unique(users, '/users', ({ username }) => (username === null ? null : ['/username', username]));
    this.#unique(users, '/users', ({ email }) => (email === null ? null : ['/email', email.toLowerCase()]));
    for (const [index, { email, username }] of users.entries()) {
      if (email === null && username === null) {
        this.#addIssue(`/users/${index}`, 'A user needs an email or a username.');
      }
      if (email !== null && !isEmail(email)) {
        this.#addIssue(`/users/${index}/email`, `"${email}" is not an email address.`);
      }
    }
  }

  #findInProject(project: ProjectDocument, path: string): void {
    this.#unique(project.environments, `${path}/environments`, (name) => ['', name]);
    this.#unique(project.members, `${path}/members`, ({ userId }) => ['/userId', userId]);
    for (const [index, name] of project.environments.entries()) {
      this.#existing(this.#environments, name, `${path}/environments/${index}`, 'environment');
    }
    for (const [index, { userId }] of project.members.entries()) {
      this.#existing(this.#userIds, userId, `${path}/members/${index}/userId`, 'user');
    }
    const flags = new Map(project.flags.map((flag) => [flag.name, flag]));
    for (const [index, flag] of project.flags.entries()) {
      this.#findInEnvironments(project, flag, `${path}/flags/${index}`);
      this.#unique(flag.tags, `${path}/flags/${index}/tags`, (tag) => ['', `${tag.type}:${tag.value}`]);
      this.#findInDependencies(flags, flag, `${path}/flags/${index}/dependencies`);
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
  #findInDependencies(flags: ReadonlyMap<string, FlagDocument>, child: FlagDocument, path: string): void {
    this.#unique(child.dependencies, path, ({ feature }) => ['/feature', feature]);
    if (child.archivedAt !== null && child.dependencies.length > 0) {
      this.#addIssue(path, 'An archived flag has no dependencies.');
    }
    for (const [index, { feature, enabled, variants }] of child.dependencies.entries()) {
      const message = parentIssue(flags.get(feature), child, feature);
      if (message !== null) this.#addIssue(`${path}/${index}/feature`, message);
      if (!enabled && variants.length > 0) {
        const message = 'Variants can only be asked of a parent that must be enabled.';
        this.#addIssue(`${path}/${index}/variants`, message);
      }
    }
  }

  /** Flag names are unique over the whole service. */
  #findTakenFlagNames(): void {
    const holders = new Map<string, string>();
    for (const [at, { id, flags }] of this.#document.projects.entries()) {
      for (const [index, { name }] of flags.entries()) {
        const holder = holders.get(name);
        if (holder === undefined) holders.set(name, id);
        else {
          const message = `A flag named "${name}" is in the project "${holder}" already.`;
          this.#addIssue(`/projects/${at}/flags/${index}/name`, message);
        }
      }
    }
  }

  #findInCredentials({ apiTokens, personalTokens }: CredentialsDocument): void {
    const path = '/credentials';
    this.#unique(apiTokens, `${path}/apiTokens`, ({ digest }) => ['/digest', digest]);
    this.#unique(personalTokens, `${path}/personalTokens`, ({ digest }) => ['/digest', digest]);
    this.#unique(personalTokens, `${path}/personalTokens`, ({ id }) => ['/id', id]);
    for (const [index, { projects, environment }] of apiTokens.entries()) {
      const place = `${path}/apiTokens/${index}`;
      if (environment !== ALL) {
        this.#existing(this.#environments, environment, `${place}/environment`, 'environment');
      }
      for (const [at, id] of projects.entries()) {
        if (id !== ALL) this.#existing(this.#projectIds, id, `${place}/projects/${at}`, 'project');
      }
    }
    for (const [index, { userId }] of personalTokens.entries()) {
      this.#existing(this.#userIds, userId, `${path}/personalTokens/${index}/userId`, 'user');
    }
  }

  #existing<T extends string | number>(known: ReadonlySet<T>, one: T, path: string, noun: string): void {
    if (!known.has(one)) this.#addIssue(path, `There is no ${noun} "${one}" in this document.`);
  }
}

function parentIssue(parent: FlagDocument | undefined, child: FlagDocument, name: string): string | null {
  if (parent === undefined) return `There is no flag "${name}" in the project of its child.`;
  if (parent === child) return `The flag "${name}" cannot depend on itself.`;
  if (parent.archivedAt !== null) return `The flag "${name}" is archived, so nothing can depend on it.`;
  return parent.dependencies.length === 0
    ? null
    : `The flag "${name}" has a parent of its own, so it cannot be a parent.`;
}
