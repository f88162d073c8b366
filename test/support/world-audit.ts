/**
 * Goes through the whole state and asserts what every event must leave true. It costs far more than an event, so only the
 * simulation does (`audit` of a store), which thereby finds a broken state at the event that broke it, even where no
 * response shows it.
 */
import assert from 'node:assert/strict';
import { parsePasswordHash } from '../../src/domain/access/password-hash.ts';
import { SESSIONS_MAX } from '../../src/domain/access/sessions.ts';
import { environmentOf } from '../../src/domain/flags/flag.ts';
import { INVITATIONS_MAX } from '../../src/domain/kinds/invitation.ts';
import { type Referred, referencesOf } from '../../src/domain/kinds/kind.ts';
import { KIND_NAMES, type KindCounter, kindOf } from '../../src/domain/kinds/kinds.ts';
import { findRole } from '../../src/domain/people/roles-and-groups.ts';
import { References } from '../../src/domain/state/references.ts';
import { ServedBytes } from '../../src/domain/state/served-bytes.ts';
import type { DirectoryState, ProjectState, World } from '../../src/domain/state/world.ts';

/** `lastId`: the newest event that the state contains. */
export function auditWorld(world: World, lastId: number): void {
  auditDirectory(world, lastId);
  auditKinds(world);
  auditAddonRecords(world, lastId);
  auditRoles(world);
  let flags = 0;
  for (const [id, project] of world.projects) {
    assert.equal(project.settings.id, id, 'a project is kept under its id');
    auditProject(world, project, lastId);
    auditFlags(world, project);
    flags += project.flags.size;
  }
  assert.equal(world.flagProjects.size, flags, 'the names of flags that are taken');
  auditReferences(world);
  auditServed(world);
  auditFavorites(world);
}

function auditDirectory({ directory, flagProjects, lineage }: World, lastId: number): void {
  const { revision, environmentsRevision, accessRevision, sessionsRevision } = directory;
  for (const part of [revision, environmentsRevision, accessRevision, sessionsRevision]) {
    assert(part <= lastId, `the directory is of event ${part}, which is newer than ${lastId}`);
  }
  auditSessions(directory);
  const linked = [...directory.passwordLinks.values()].map(({ userId }) => userId);
  assert.equal(new Set(linked).size, linked.length, 'a user has one link to set a password');
  for (const id of linked) assert(directory.users.has(id), `the link of ${id} is for nobody`);
  assert(directory.invitations.size <= INVITATIONS_MAX, 'invitations are bounded');
  for (const [id, { userId, hash }] of directory.passwords) {
    assert(id === userId && directory.users.has(userId), `the password of ${userId} belongs to nobody`);
    assert(parsePasswordHash(hash) !== null, `the password of ${userId} can be checked`);
  }
  for (const { subject, userId } of directory.identities.values())
    assert(directory.users.has(userId), `the identity ${subject} is a user's who is gone`);
  for (const [name, { flag }] of directory.potentiallyStale) {
    assert(flag === name && flagProjects.has(name), `flag ${name} is noted and exists`);
  }
  for (const [name, { flag }] of directory.completions) {
    assert(flag === name && flagProjects.has(name), `flag ${name} is completed and exists`);
  }
  for (const { userId, projects, flags } of directory.favorites.values()) {
    assert(directory.users.has(userId), `favorites of ${userId} belong to nobody`);
    assert(
      flags.every((name) => flagProjects.has(name)),
      `favorite flags of ${userId} exist`,
    );
    assert(projects.length + flags.length > 0, `favorites of ${userId} are none`);
  }
  let from = -1;
  for (const entry of lineage.recorded) {
    assert(entry.from > from, 'names of the lineage follow each other');
    from = entry.from;
  }
}

/** No record is newer than the newest id, and none names what is gone. */
function auditKinds(world: World): void {
  const { directory } = world;
  for (const name of KIND_NAMES) {
    const { noun, lastId } = kindOf(name);
    for (const record of directory[name].values() as Iterable<Readonly<Record<string, unknown>>>) {
      if (lastId !== undefined)
        assert(
          Number(record.id) <= directory[lastId as KindCounter],
          `${noun} ${record.id} is newer than all`,
        );
      for (const { referred, value } of referencesOf(kindOf(name), record))
        assert(isThere(world, referred, value), `the ${referred} ${value} of a ${noun} exists`);
    }
  }
}

function auditAddonRecords({ addonRecords }: World, lastEventId: number): void {
  for (const [kind, { lastId, revision, byId }] of addonRecords) {
    assert(revision <= lastEventId, `a record of ${kind} is of event ${revision}, newer than ${lastEventId}`);
    for (const [id, record] of byId) {
      assert(record.kind === kind && record.id === id && id <= lastId, `${kind} ${id} is kept in its place`);
      assert(
        record.createdRevision <= record.revision && record.revision <= revision,
        `${kind} ${id} is old enough`,
      );
    }
  }
}

function isThere(world: World, referred: Referred, one: string | number): boolean {
  const { users, environments } = world.directory;
  switch (referred) {
    case 'user':
      return users.has(one as number);
    case 'root role':
      return findRole(world, one as number) !== undefined;
    case 'project':
      return world.projects.has(one as string);
    case 'environment':
      return environments.some(({ name }) => name === one);
  }
}

function auditSessions({
  sessions,
  users,
  apiTokens,
  personalTokens,
  lastPersonalTokenId,
}: DirectoryState): void {
  assert(sessions.size <= SESSIONS_MAX, 'sessions are bounded');
  for (const { id, userId, tokenDigest } of sessions.values()) {
    assert(id <= lastPersonalTokenId, `session ${id} is newer than all`);
    assert(userId === null || users.has(userId), `session ${id} is a user's who is gone`);
    const isOfToken = tokenDigest !== null && (apiTokens.has(tokenDigest) || personalTokens.has(tokenDigest));
    assert(isOfToken || (tokenDigest === null && userId !== null), `session ${id} has outlived its token`);
  }
}

function auditRoles(world: World): void {
  const { roles, groups } = world.directory;
  const isRole = (id: number) => findRole(world, id) !== undefined;
  const environments = new Set([null, ...world.directory.environments.map(({ name }) => name)]);
  for (const [id, { permissions }] of roles) {
    for (const { environment } of permissions)
      assert(environments.has(environment), `role ${id} names the environment ${environment}, which is gone`);
  }
  for (const { settings, members, groups: held } of world.projects.values()) {
    for (const roleId of [...members.values(), ...held.values()])
      assert(isRole(roleId), `role ${roleId} in ${settings.id} exists`);
    for (const id of held.keys()) assert(groups.has(id), `group ${id} of ${settings.id} exists`);
  }
}

function auditProject({ directory }: World, project: ProjectState, lastId: number): void {
  const { settings, revision, environmentsRevision, members } = project;
  assert(revision <= lastId, `project ${settings.id} is of event ${revision}, which is newer than ${lastId}`);
  assert(environmentsRevision <= revision, `project ${settings.id} is older than its environments`);
  for (const name of settings.environments) {
    const isKnown = directory.environments.some((environment) => environment.name === name);
    assert(isKnown, `project ${settings.id} has an environment ${name} that the service has not`);
  }
  for (const name of project.defaultStrategies.keys())
    assert(settings.environments.includes(name), `a default strategy of ${settings.id} is in ${name}`);
  for (const id of members.keys())
    assert(directory.users.has(id), `member ${id} of ${settings.id} is no user`);
}

function auditFlags({ flagProjects }: World, { settings, revision, flags }: ProjectState): void {
  const active = [...flags.values()].map(({ flag }) => flag).filter(({ archivedAt }) => archivedAt === null);
  assert.equal(flags.activeCount, active.length, `flags of ${settings.id} that are not archived`);
  for (const name of settings.environments) {
    const enabled = active.filter((flag) => environmentOf(flag, name).enabled);
    assert.equal(flags.enabledCount(name), enabled.length, `flags of ${settings.id} enabled in ${name}`);
  }
  for (const [name, record] of flags) {
    const { flag } = record;
    assert(flag.name === name && flag.project === settings.id, `flag ${name} is kept in its place`);
    assert.equal(flagProjects.get(name), settings.id, `the project that holds flag ${name}`);
    assert(record.revision <= revision, `flag ${name} is newer than its project`);
    for (const { feature } of flag.dependencies) {
      const children = flags.get(feature)?.flag.children;
      assert(children?.includes(name), `flag ${feature} does not list ${name}, which depends on it`);
    }
  }
}

/** How many users favor what, against what they have marked. */
function auditFavorites({ directory, favoredBy }: World): void {
  const counted = new Map<string, number>();
  for (const { projects, flags } of directory.favorites.values()) {
    const keys = [...projects.map((id) => `projects ${id}`), ...flags.map((name) => `flags ${name}`)];
    for (const key of keys) counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  assert.equal(favoredBy.size, counted.size, 'what is a favorite of anybody');
  for (const [key, count] of counted) assert.equal(favoredBy.get(key), count, `users who favor ${key}`);
}

/** The counts that events keep up to date against those of the flags as they are. */
function auditServed({ projects, served, directory }: World): void {
  let counted = new ServedBytes();
  for (const { flags } of projects.values()) {
    for (const { flag } of flags.values()) counted = counted.replaced(null, flag);
  }
  for (const { name } of directory.environments) {
    for (const scope of ['*' as const, ...[...projects.keys()].map((id) => [id])]) {
      const [kept, fresh] = [served, counted].map((one) =>
        one.documentBytes(directory.segments, name, scope),
      );
      assert.equal(kept, fresh, `bytes of the flags of ${scope} in ${name}`);
    }
  }
}

function auditReferences({ projects, references }: World): void {
  let counted = new References();
  for (const { flags } of projects.values()) {
    for (const { flag } of flags.values()) counted = counted.replaced(null, flag);
  }
  const entriesOf = ({ counts }: References) =>
    Object.fromEntries(Array.from(counts, ([key, of]) => [key, Object.fromEntries(of)]));
  assert.deepEqual(entriesOf(references), entriesOf(counted), 'what flags refer to');
}
