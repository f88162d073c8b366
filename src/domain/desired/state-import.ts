/**
 * Turns a state document into the events that build its state from an empty one. They are the events that users'
 * changes would have recorded, so the history of an imported service begins like any other, and replay needs no
 * special case. They are no difference from an empty state (difference.ts): times, authors and ids are those of the document,
 * and a state that is larger than the memory comes flag by flag.
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { ROLES, type Role } from '../access/roles.ts';
import { type FlagData, flagDataOf } from '../flags/flag.ts';
import { createStrategy, defaultStrategyOf, strategyData } from '../flags/strategy.ts';
import { distributeWeights } from '../flags/variant.ts';
import { addonKind, upgradedContent } from '../kinds/addon-kind.ts';
import {
  DOCUMENT_KIND_NAMES,
  type KindName,
  type RecordOf,
  SECRET_KIND_NAMES,
  withRootRole,
} from '../kinds/kinds.ts';
import {
  ABOUT_NOTHING,
  aboutFlag,
  aboutFlagEnvironment,
  type DomainEvent,
  inProject,
  inProjectEnvironment,
  newEvent,
  ofEnvironment,
  recordChange,
  recordEvent,
} from '../state/events.ts';
import type { User } from '../state/world.ts';
import {
  type CredentialsDocument,
  type FlagDocument,
  FlagSchema,
  type ProjectDocument,
  type StateDocument,
} from './state-document.ts';

/** The events of a document without issues (document-issues.ts): those before the first flag, those of each flag in its order, and the rest. */
export class ImportEvents {
  readonly #frame: StateDocument;
  /** By name. */
  readonly #roles: ReadonlyMap<string, Role>;
  readonly #users: ReadonlyMap<number, StateDocument['users'][number]>;
  readonly #groupNames: ReadonlyMap<number, string>;
  readonly #environmentOrder: readonly string[];
  /** The project whose flags are coming; -1 before the first. */
  #project = -1;
  /** Flag name → id of its project, for flags that are somebody's favorites. */
  readonly #flagProjects = new Map<string, string>();
  readonly #favoriteFlags: ReadonlySet<string>;
  /** Parents must exist before their children depend on them, and lose their children before they are archived. */
  #dependencies: DomainEvent[] = [];
  #archived: DomainEvent[] = [];

  constructor(frame: StateDocument) {
    this.#frame = frame;
    this.#roles = new Map([...ROLES, ...frame.roles].map((role) => [role.name, role]));
    this.#users = new Map(frame.users.map((user) => [user.id, user]));
    this.#groupNames = new Map(frame.groups.map(({ id, name }) => [id, name]));
    this.#favoriteFlags = new Set(frame.favorites.flatMap(({ flags }) => flags));
    const order = [...frame.environments].sort((a, b) => a.sortOrder - b.sortOrder);
    this.#environmentOrder = order.map(({ name }) => name);
  }

  /** Events before those of the first flag. */
  begin(): readonly DomainEvent[] {
    return [
      ...this.#frame.environments.map((data) =>
        newEvent('environment-created', ofEnvironment(data.name), { data }),
      ),
      ...DOCUMENT_KIND_NAMES.flatMap((name) => this.#created(name, this.#frame[name])),
      ...settingEvents(this.#frame),
    ];
  }

  /** The events by which records of a kind come about. The digest of a secret is hidden in them. */
  #created(name: KindName, documents: readonly object[]): DomainEvent[] {
    return documents.flatMap((one) => recordChange(name, null, this.#recordOf(one) as RecordOf<KindName>));
  }

  /** The events of a flag, and those that come before it. */
  flag({ project, value }: { readonly project: number; readonly value: unknown }): readonly DomainEvent[] {
    const before = this.#upTo(project);
    const flag = v.parse(FlagSchema, value);
    const owner = this.#frame.projects[project];
    assert(owner !== undefined, 'a flag is in a project of the document');
    if (this.#favoriteFlags.has(flag.name)) this.#flagProjects.set(flag.name, owner.id);
    this.#dependencies.push(...dependencyEvents(flag, owner.id));
    this.#archived.push(...archiveEvents(flag, owner.id));
    const firstEnvironment = this.#environmentOrder.find((name) => owner.environments.includes(name));
    return [...before, ...flagEvents(flag, owner.id, firstEnvironment)];
  }

  /** Events after those of the last flag. */
  end(): readonly DomainEvent[] {
    const flags = [...this.#upTo(this.#frame.projects.length - 1), ...this.#endProject()];
    const rest = [...flags, ...favoriteEvents(this.#frame, this.#flagProjects), ...addonEvents(this.#frame)];
    const { credentials } = this.#frame;
    return credentials === undefined
      ? rest
      : [
          ...rest,
          ...SECRET_KIND_NAMES.flatMap((name) => this.#created(name, credentials[name])),
          ...this.#passwordEvents(credentials),
        ];
  }

  #passwordEvents({ passwords }: CredentialsDocument): DomainEvent[] {
    return passwords.map(({ userId, hash, changedAt }): DomainEvent => {
      const document = this.#users.get(userId);
      assert(document !== undefined, `the user ${userId} is in the document`);
      const user = this.#recordOf(document) as User;
      const data = { ...user, passwordChangedAt: changedAt };
      const preData = { ...user, passwordChangedAt: null };
      return { type: 'user-updated', ...ABOUT_NOTHING, data, preData, hidden: { passwordHash: hash } };
    });
  }

  /** Begins the projects up to this one, and ends those before it. */
  #upTo(project: number): DomainEvent[] {
    const events: DomainEvent[] = [];
    while (this.#project < project) {
      if (this.#project >= 0) events.push(...this.#endProject());
      this.#project += 1;
      const begun = this.#frame.projects[this.#project];
      if (begun !== undefined) events.push(...this.#projectEvents(begun));
    }
    return events;
  }

  #role(name: string): Role {
    const role = this.#roles.get(name);
    assert(role !== undefined, `the role ${name} is in the document`);
    return role;
  }

  #recordOf<T extends object>(document: T) {
    return withRootRole(document, (role: string) => this.#role(role).id);
  }

  #projectEvents({
    members,
    groups,
    defaultStrategies,
    flags: _,
    ...settings
  }: ProjectDocument): DomainEvent[] {
    const about = inProject(settings.id);
    return [
      newEvent('project-created', about, { data: settings }),
      ...members.map(({ userId, role }) => {
        const { id: roleId, name: roleName } = this.#role(role);
        const data = { userId, roleId, roleName, email: this.#users.get(userId)?.email ?? null };
        return newEvent('project-user-added', about, { data });
      }),
      ...groups.map(({ groupId, role }) => {
        const { id: roleId, name: roleName } = this.#role(role);
        const data = { groupId, groupName: this.#groupNames.get(groupId) ?? '', roleId, roleName };
        return newEvent('project-group-added', about, { data });
      }),
      ...defaultStrategies.map(({ environment, ...sent }) => {
        const where = inProjectEnvironment(settings.id, environment);
        return newEvent('default-strategy-updated', where, { data: defaultStrategyOf(sent) });
      }),
    ];
  }

  #endProject(): DomainEvent[] {
    const events = [...this.#dependencies, ...this.#archived];
    this.#dependencies = [];
    this.#archived = [];
    return events;
  }
}

function settingEvents({ settings }: StateDocument): DomainEvent[] {
  return settings.map((data) => newEvent('setting-created', ABOUT_NOTHING, { data }));
}

function addonEvents({ addonRecords }: StateDocument): DomainEvent[] {
  return addonRecords.map(({ kind: name, id, version, data, secrets = {} }) => {
    const kind = addonKind(name);
    assert(kind !== undefined, `the add-on for the kind ${name} is there`);
    return recordEvent(kind, id, [null, upgradedContent(kind, { data, secrets }, version)]);
  });
}

function favoriteEvents(
  { favorites }: StateDocument,
  flagProjects: ReadonlyMap<string, string>,
): DomainEvent[] {
  return favorites.flatMap(({ userId, projects, flags }) => {
    const data = { userId };
    return [
      ...projects.map((id) => newEvent('project-favorited', inProject(id), { data })),
      ...flags.flatMap((name) => {
        const project = flagProjects.get(name);
        // All are in the document, and not known where only the sizes of the events besides flags are asked for.
        if (project === undefined) return [];
        return [newEvent('feature-favorited', aboutFlag({ name, project }), { data })];
      }),
    ];
  });
}

function flagEvents(
  flag: FlagDocument,
  project: string,
  firstEnvironment: string | undefined,
): DomainEvent[] {
  const environments = flag.environments.map(({ name, variants }) => ({
    name,
    variants: distributeWeights(variants),
  }));
  const shown = environments.find((one) => one.name === firstEnvironment)?.variants ?? [];
  const identity = { name: flag.name, project, createdAt: flag.createdAt };
  const data = flagDataOf({ identity, metadata: flag, variants: shown, archived: false });
  const about = aboutFlag(data);
  return [
    {
      type: 'feature-created',
      ...about,
      data,
      preData: null,
      hidden: { environments, ...(flag.createdBy === undefined ? {} : { createdBy: flag.createdBy }) },
    },
    ...flag.environments.flatMap((flagEnvironment) => environmentEvents(data, flagEnvironment)),
    ...flag.tags.map((tag) => newEvent('feature-tagged', about, { data: tag })),
    ...completionEvents(flag, about),
  ];
}

function completionEvents({ completed }: FlagDocument, about: ReturnType<typeof aboutFlag>): DomainEvent[] {
  if (completed === undefined) return [];
  const { at: completedAt, ...data } = completed;
  return [{ type: 'feature-completed', ...about, data, preData: null, hidden: { completedAt } }];
}

function environmentEvents(
  flag: FlagData,
  { name, enabled, strategies }: FlagDocument['environments'][number],
): DomainEvent[] {
  const about = aboutFlagEnvironment(flag, name);
  const added = strategies.map((sent) => {
    const data = strategyData(flag, createStrategy(sent, sent.id, sent.sortOrder));
    return newEvent('feature-strategy-add', about, { data });
  });
  return enabled ? [...added, newEvent('feature-environment-enabled', about)] : added;
}

function dependencyEvents({ name, dependencies }: FlagDocument, project: string): DomainEvent[] {
  const about = aboutFlag({ name, project });
  return dependencies.map((data) => newEvent('feature-dependency-added', about, { data }));
}

function archiveEvents({ name, archivedAt }: FlagDocument, project: string): DomainEvent[] {
  if (archivedAt === null) return [];
  const about = aboutFlag({ name, project });
  return [{ type: 'feature-archived', ...about, data: null, preData: null, hidden: { archivedAt } }];
}
