/**
 * The difference between two lists of items of the state: items that were added, removed or changed, down to the
 * field that an operator would name. Lists whose items have names (environments, strategies, variants, tags,
 * dependencies) are compared item by item, regardless of their order; other lists are compared as a whole.
 *
 * The difference from B to A is that from A to B with every `before` and `after` exchanged.
 */
import type { Flag } from '../domain/flags/flag.ts';
import { withRootRole } from '../domain/kinds/kinds.ts';
import { knownRole } from '../domain/people/roles-and-groups.ts';
import type { ProjectState, World } from '../domain/state/world.ts';

export interface FieldChange {
  /** Such as `environments[production].strategies[8c2e…].parameters.rollout`. */
  readonly field: string;
  /** Undefined where there was nothing. */
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface ThingChange {
  readonly kind: ThingKind;
  readonly name: string;
  readonly project: string | null;
  readonly change: 'added' | 'removed' | 'changed';
  /** For an added or removed thing, everything that is not empty. */
  readonly fields: readonly FieldChange[];
}

export function difference(before: Picture, after: Picture): readonly ThingChange[] {
  const changes: ThingChange[] = [];
  for (const [key, old] of before) {
    const now = after.get(key);
    if (now === undefined) changes.push(changeOf(old, 'removed', compare(old.value, undefined)));
    else if (now.value !== old.value) {
      const fields = compare(old.value, now.value);
      if (fields.length > 0) changes.push(changeOf(now, 'changed', fields));
    }
  }
  for (const [key, now] of after) {
    if (!before.has(key)) changes.push(changeOf(now, 'added', compare(undefined, now.value)));
  }
  return changes.sort(byPlace);
}

/** The fields that the heading of a change shows already. */
const KNOWN_BY: Readonly<Record<ThingKind, readonly string[]>> = {
  environment: ['name'],
  role: ['name'],
  user: ['id'],
  group: ['name'],
  'api-token': ['tokenName'],
  project: ['id'],
  flag: ['name', 'project'],
};

function changeOf(
  { kind, name, project }: Thing,
  change: ThingChange['change'],
  fields: readonly FieldChange[],
): ThingChange {
  const telling = fields.filter(({ field }) => !KNOWN_BY[kind].includes(field));
  return { kind, name, project, change, fields: telling };
}

/** Orders by project, then things of the service first, then by name, on whichever side a thing is. */
function byPlace(a: ThingChange, b: ThingChange): number {
  const key = ({ project, kind, name }: ThingChange): string => `${project ?? ''}\u0000${kind}\u0000${name}`;
  const [left, right] = [key(a), key(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function compare(before: unknown, after: unknown): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  collect('', before, after, changes);
  return changes.sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}

function collect(field: string, before: unknown, after: unknown, changes: FieldChange[]): void {
  if (before === after) return;
  const [old, now] = [partsOf(before), partsOf(after)];
  const haveParts = old !== null || now !== null;
  if (!haveParts || (old === null && before !== undefined) || (now === null && after !== undefined)) {
    if (!sameValue(before, after)) changes.push(fieldChange(field, before, after));
    return;
  }
  for (const key of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    const path = key.startsWith('[') || field === '' ? `${field}${key}` : `${field}.${key}`;
    collect(path, old?.get(key), now?.get(key), changes);
  }
  if (field.endsWith('variants'))
    collectOrder(field, [...(old?.keys() ?? [])], [...(now?.keys() ?? [])], changes);
}

/** The position of a variant matters too, because patches name it by position. */
function collectOrder(
  field: string,
  before: readonly string[],
  after: readonly string[],
  changes: FieldChange[],
): void {
  const old = before.filter((key) => after.includes(key));
  const now = after.filter((key) => before.includes(key));
  if (old.join() !== now.join()) changes.push({ field: `${field} (order)`, before: old, after: now });
}

function fieldChange(field: string, before: unknown, after: unknown): FieldChange {
  return {
    field,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

/** The parts that are compared one by one; null for a value that is compared as a whole. */
function partsOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [`[${key}]`, part]));
  if (Array.isArray(value)) return itemsByName(value);
  if (typeof value !== 'object' || value === null) return null;
  return new Map(Object.entries(value));
}

/** The items of a list by name; null when they have no names, or when two have the same name. */
function itemsByName(list: readonly unknown[]): ReadonlyMap<string, unknown> | null {
  const items = new Map<string, unknown>();
  for (const item of list) {
    const named = nameOf(item);
    if (named === null || items.has(`[${named.name}]`)) return null;
    items.set(`[${named.name}]`, named.rest);
  }
  return items;
}

/** The name of an item and its other fields; `true` when it has none. */
function nameOf(item: unknown): { readonly name: string; readonly rest: unknown } | null {
  if (typeof item !== 'object' || item === null) return null;
  const fields = item as Readonly<Record<string, unknown>>;
  for (const key of ['id', 'name', 'feature']) {
    const { [key]: name, ...rest } = fields;
    if (typeof name === 'string') return { name, rest };
  }
  const { type, value, ...rest } = fields;
  if (typeof type !== 'string' || typeof value !== 'string' || Object.keys(rest).length > 0) return null;
  return { name: `${type}:${value}`, rest: true };
}

/**
 * Nothing, null, false and an empty list are the same to an operator where a thing is added or removed as a whole.
 */
function sameValue(before: unknown, after: unknown): boolean {
  const isNothing = (value: unknown): boolean =>
    value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
  if (before === undefined || after === undefined) return isNothing(before) && isNothing(after);
  return JSON.stringify(before) === JSON.stringify(after);
}

// A picture of the state: every thing that an operator knows by name, as plain values. Taking one costs a reference
// per flag, since flags are immutable; a picture stays what it is while the state goes on.
//
// Digests of tokens are no part of it: a picture is shown.

const THING_KINDS = ['environment', 'role', 'user', 'group', 'api-token', 'project', 'flag'] as const;
type ThingKind = (typeof THING_KINDS)[number];

interface Thing {
  readonly kind: ThingKind;
  /** Unique within kind and project. */
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
