/** `apply` for events about a project as a whole: its settings, environments and memberships. */
import { dropProjectFromTokens } from './apply-access.ts';
import type { EventStamp, ProjectEvent } from './events.ts';
import { changeFavorite, forgetFavorite } from './favorites.ts';
import { ProjectFlags } from './project-flags.ts';
import { dropFlag, dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import type { ProjectSettings, ProjectState, World } from './world.ts';

export function applyProjectEvent(world: World, event: ProjectEvent, stamp: EventStamp): void {
  if (event.type === 'project-created') {
    if (world.projects.has(event.project)) throw new Error(`the project ${event.project} is created twice`);
    world.projects.set(event.project, {
      settings: event.data,
      members: new Map(),
      defaultStrategies: new Map(),
      groups: new Map(),
      flags: new ProjectFlags(),
      revision: stamp.id,
      environmentsRevision: stamp.id,
    });
    world.memory.replace(null, event.data);
    world.directory.revision = stamp.id;
    return;
  }
  const project = world.projects.get(event.project);
  if (project === undefined) throw new Error(`the event ${event.type} is about ${event.project}, no project`);
  project.revision = stamp.id;
  // The list of projects shows settings and numbers of members.
  world.directory.revision = stamp.id;
  changeProject(world, project, event, stamp);
}

function changeProject(
  world: World,
  project: ProjectState,
  event: Exclude<ProjectEvent, { type: 'project-created' }>,
  stamp: EventStamp,
): void {
  const { directory } = world;
  switch (event.type) {
    case 'project-updated':
      return setSettings(world, project, event.data);
    case 'project-deleted':
      for (const record of project.flags.values()) {
        directory.flagProjects.delete(record.flag.name);
        dropFlag(world, project, record);
      }
      for (const name of [...project.defaultStrategies.keys()])
        dropRecord(world, project.defaultStrategies, name);
      for (const userId of [...project.members.keys()]) dropRecord(world, project.members, userId);
      for (const groupId of [...project.groups.keys()]) dropRecord(world, project.groups, groupId);
      world.memory.replace(project.settings, null);
      forgetFavorite(world, 'projects', event.project);
      if (stamp.rules >= NAMES_GO_WITH_DELETED) dropProjectFromTokens(world, event.project);
      world.projects.delete(event.project);
      world.served.dropProject(event.project);
      world.unsettled.delete(project.flags);
      directory.accessRevision = stamp.id;
      return;
    case 'project-environment-added':
      setEnvironments(world, project, [...project.settings.environments, event.environment], stamp);
      return;
    case 'project-environment-removed':
      setEnvironments(
        world,
        project,
        project.settings.environments.filter((name) => name !== event.environment),
        stamp,
      );
      dropRecord(world, project.defaultStrategies, event.environment);
      dropEnvironment({ world, project, stamp }, event.environment);
      return;
    case 'default-strategy-updated':
      putRecord(world, project.defaultStrategies, event.environment, event.data);
      return;
    case 'features-imported':
      return;
    case 'project-favorited':
    case 'project-unfavorited':
      changeFavorite(world, {
        userId: event.data.userId,
        kind: 'projects',
        name: event.project,
        isMarked: event.type === 'project-favorited',
      });
      return;
    case 'project-user-added':
    case 'project-user-role-changed':
      putRecord(world, project.members, event.data.userId, event.data.roleId);
      directory.accessRevision = stamp.id;
      return;
    case 'project-group-added':
    case 'project-group-role-changed':
      putRecord(world, project.groups, event.data.groupId, event.data.roleId);
      directory.accessRevision = stamp.id;
      return;
    case 'project-group-removed':
      dropRecord(world, project.groups, event.preData.groupId);
      directory.accessRevision = stamp.id;
      return;
    case 'project-user-removed':
      dropRecord(world, project.members, event.preData.userId);
      directory.accessRevision = stamp.id;
      return;
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

function setSettings(world: World, project: ProjectState, settings: ProjectSettings): void {
  world.memory.replace(project.settings, settings);
  project.settings = settings;
}

function setEnvironments(
  world: World,
  project: ProjectState,
  environments: readonly string[],
  stamp: EventStamp,
): void {
  setSettings(world, project, { ...project.settings, environments, updatedAt: stamp.createdAt });
  project.environmentsRevision = stamp.id;
}

/** Flags lose their configuration in the environment, so that adding the environment again starts from nothing. */
function dropEnvironment(
  { world, project, stamp }: { world: World; project: ProjectState; stamp: EventStamp },
  environment: string,
): void {
  const { references, served, memory } = world;
  references.dropEnvironment(project.settings.id, environment);
  served.dropEnvironment(project.settings.id, environment);
  project.flags.dropEnvironment({ environment, revision: stamp.id, memory });
  world.unsettled.add(project.flags);
}
