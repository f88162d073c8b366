/**
 * Turns a state document into the events that build its state from an empty one. They are the events that users'
 * changes would have recorded, so the history of an imported service begins like any other, and replay needs no
 * special case.
 */
import * as v from 'valibot';
import { type FlagData, flagDataOf } from '../flags/flag.ts';
import { createStrategy } from '../flags/strategy.ts';
import { distributeWeights } from '../flags/variant.ts';
import { type Issue, issuesOf } from '../json/issues.ts';
import { checkStorable } from '../json/json.ts';
import {
  ABOUT_NOTHING,
  aboutFlag,
  aboutFlagEnvironment,
  type DomainEvent,
  inProject,
  ofEnvironment,
} from '../state/events.ts';
import { knownRole, MEMBER_ROLE_ID, OWNER_ROLE_ID, roleByName } from '../state/roles.ts';
import type { User } from '../state/world.ts';
import { documentIssues } from './document-issues.ts';
import {
  type CredentialsDocument,
  type FlagDocument,
  type ProjectDocument,
  type StateDocument,
  StateDocumentSchema,
} from './state-document.ts';

export type ImportPlan =
  | { readonly ok: true; readonly events: readonly DomainEvent[] }
  /** `path` is a JSON pointer into the document. */
  | { readonly ok: false; readonly issues: readonly Issue[] };

export function planImport(document: unknown): ImportPlan {
  const issue = checkStorable(document);
  if (issue !== null) return { ok: false, issues: [issue] };
  const parsed = v.safeParse(StateDocumentSchema, document);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.issues) };
  const issues = documentIssues(parsed.output);
  if (issues.length > 0) return { ok: false, issues };
  return { ok: true, events: eventsOf(parsed.output) };
}

function eventsOf(document: StateDocument): DomainEvent[] {
  const { environments, users, projects, credentials } = document;
  const first = [...environments].sort((a, b) => a.sortOrder - b.sortOrder).map(({ name }) => name);
  const known = new Map(users.map((user) => [user.id, userOf(user)]));
  return [
    ...environments.map(
      (data): DomainEvent => ({
        type: 'environment-created',
        ...ofEnvironment(data.name),
        data,
        preData: null,
      }),
    ),
    ...[...known.values()].map(
      (data): DomainEvent => ({ type: 'user-created', ...ABOUT_NOTHING, data, preData: null }),
    ),
    ...targetingEvents(document),
    ...projects.flatMap((project) => projectEvents(project, known, first)),
    ...(credentials === undefined ? [] : credentialEvents(credentials)),
  ];
}

function targetingEvents({ segments, contextFields, strategyTypes }: StateDocument): DomainEvent[] {
  return [
    ...segments.map(
      (data): DomainEvent => ({ type: 'segment-created', ...ABOUT_NOTHING, data, preData: null }),
    ),
    ...contextFields.map(
      (data): DomainEvent => ({ type: 'context-field-created', ...ABOUT_NOTHING, data, preData: null }),
    ),
    ...strategyTypes.map(
      (data): DomainEvent => ({ type: 'strategy-created', ...ABOUT_NOTHING, data, preData: null }),
    ),
  ];
}

function userOf({ rootRole, ...user }: StateDocument['users'][number]): User {
  const role = roleByName(rootRole);
  if (role === undefined) throw new Error(`the schema let the role ${rootRole} through`);
  return { ...user, rootRole: role.id };
}

/** Parents must exist before their children depend on them, and lose their children before they are archived. */
function projectEvents(
  { members, flags, ...settings }: ProjectDocument,
  users: ReadonlyMap<number, User>,
  environmentOrder: readonly string[],
): DomainEvent[] {
  const about = inProject(settings.id);
  const firstEnvironment = environmentOrder.find((name) => settings.environments.includes(name));
  return [
    { type: 'project-created', ...about, data: settings, preData: null },
    ...members.map(({ userId, role: roleName }): DomainEvent => {
      const roleId = roleName === 'Owner' ? OWNER_ROLE_ID : MEMBER_ROLE_ID;
      const email = users.get(userId)?.email ?? null;
      const data = { userId, roleId, roleName: knownRole(roleId).name, email };
      return { type: 'project-user-added', ...about, data, preData: null };
    }),
    ...flags.flatMap((flag) => flagEvents(flag, settings.id, firstEnvironment)),
    ...flags.flatMap((flag) => dependencyEvents(flag, settings.id)),
    ...flags.flatMap((flag) => archiveEvents(flag, settings.id)),
  ];
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
    { type: 'feature-created', ...about, data, preData: null, hidden: { environments } },
    ...flag.environments.flatMap((flagEnvironment) => environmentEvents(data, flagEnvironment)),
    ...flag.tags.map((tag): DomainEvent => ({ type: 'feature-tagged', ...about, data: tag, preData: null })),
  ];
}

function environmentEvents(
  flag: FlagData,
  { name, enabled, strategies }: FlagDocument['environments'][number],
): DomainEvent[] {
  const about = aboutFlagEnvironment(flag, name);
  const added = strategies.map((sent): DomainEvent => {
    const strategy = createStrategy(sent, sent.id, sent.sortOrder);
    const data = { ...strategy, featureName: flag.name };
    return { type: 'feature-strategy-add', ...about, data, preData: null };
  });
  if (!enabled) return added;
  return [...added, { type: 'feature-environment-enabled', ...about, data: null, preData: null }];
}

function dependencyEvents({ name, dependencies }: FlagDocument, project: string): DomainEvent[] {
  const about = aboutFlag({ name, project });
  return dependencies.map((data) => ({ type: 'feature-dependency-added', ...about, data, preData: null }));
}

function archiveEvents({ name, archivedAt }: FlagDocument, project: string): DomainEvent[] {
  if (archivedAt === null) return [];
  const about = aboutFlag({ name, project });
  return [{ type: 'feature-archived', ...about, data: null, preData: null, hidden: { archivedAt } }];
}

function credentialEvents({ apiTokens, personalTokens }: CredentialsDocument): DomainEvent[] {
  return [
    ...apiTokens.map(({ digest, ...data }): DomainEvent => {
      return { type: 'api-token-created', ...ABOUT_NOTHING, data, preData: null, hidden: { digest } };
    }),
    ...personalTokens.map(({ digest, ...data }): DomainEvent => {
      return { type: 'pat-created', ...ABOUT_NOTHING, data, preData: null, hidden: { digest } };
    }),
  ];
}
