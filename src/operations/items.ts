/**
 * A picture of the state: every thing that an operator knows by name, as plain values. Taking one costs a reference
 * per flag, since flags are immutable; a picture stays what it is while the state goes on.
 *
 * Digests of tokens are no part of it: a picture is shown.
 */

import type { Flag } from '../domain/flags/flag.ts';
import { withRootRole } from '../domain/kinds/kinds.ts';
import { knownRole } from '../domain/people/roles-and-groups.ts';
import type { ProjectState, World } from '../domain/state/world.ts';

export const THING_KINDS = ['environment', 'role', 'user', 'group', 'api-token', 'project', 'flag'] as const;
export type ThingKind = (typeof THING_KINDS)[number];

export interface Thing {
  readonly kind: ThingKind;
  /** What it is called; unique within kind and project. */
  readonly name: string;
  /** The project that a flag belongs to; of a project, itself; else null. */
  readonly project: string | null;
  readonly value: object;
}

export type Picture = ReadonlyMap<string, Thing>;

/** With a project, only it and its flags. */
export function takePicture(world: World, project: string | null): Picture {
  const things = project === null ? serviceThings(world) : [];
  for (const state of world.projects.values()) {
    if (project === null || state.settings.id === project) things.push(...projectThings(world, state));
  }
  return new Map(things.map((thing) => [`${thing.kind} ${thing.project ?? ''} ${thing.name}`, thing]));
}

function serviceThings(world: World): Thing[] {
  const { directory } = world;
  const things: Thing[] = [];
  const add = (kind: ThingKind, name: string, value: object): void => {
    things.push({ kind, name, project: null, value });
  };
  for (const one of directory.environments) add('environment', one.name, one);
  const nameOf = (role: number): string => knownRole(world, role).name;
  for (const user of directory.users.values())
    add('user', `${user.id} (${user.username ?? user.email ?? ''})`, withRootRole(user, nameOf));
  for (const role of directory.roles.values()) add('role', role.name, role);
  for (const group of directory.groups.values()) add('group', group.name, withRootRole(group, nameOf));
  for (const { digest, ...token } of directory.apiTokens.values()) {
    // Names of tokens need not be unique; eight digits of a digest tell them apart and help nobody to guess one.
    add('api-token', `${token.tokenName} (${digest.slice(0, 8)})`, token);
  }
  return things;
}

function projectThings(world: World, { settings, members, groups, flags }: ProjectState): Thing[] {
  const { directory } = world;
  const { id: project } = settings;
  const roles: [string, string][] = [];
  for (const [userId, roleId] of members) {
    const user = directory.users.get(userId);
    roles.push([user?.username ?? user?.email ?? String(userId), knownRole(world, roleId).name]);
  }
  const held = [...groups].map(([id, roleId]): [string, string] => [
    directory.groups.get(id)?.name ?? String(id),
    knownRole(world, roleId).name,
  ]);
  // Changes with every event about an environment of the project, and says nothing that they do not.
  const { updatedAt: _, ...lasting } = settings;
  const things: Thing[] = [
    {
      kind: 'project',
      name: project,
      project,
      value: { ...lasting, members: new Map(roles), groups: new Map(held) },
    },
  ];
  for (const { flag } of flags.values()) things.push(flagThing(flag));
  return things;
}

const flagThing = (flag: Flag): Thing => ({
  kind: 'flag',
  name: flag.name,
  project: flag.project,
  value: flag,
});
