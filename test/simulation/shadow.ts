/**
 * A second opinion on the state: flags, switches, strategies and tags, folded from the events by a few lines that
 * share nothing with the engine. It knows less, and says where the two disagree.
 */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../src/domain/state/events.ts';
import type { World } from '../../src/domain/state/world.ts';

interface ShadowFlag {
  description: string | null;
  stale: boolean;
  archived: boolean;
  /** `type:value` */
  tags: Set<string>;
  /** Environment → ids of its strategies. */
  strategies: Map<string, Set<string>>;
  /** Environments that are on. */
  enabled: Set<string>;
}

export interface Shadow {
  compare(world: World): void;
}

export function shadowOf(events: readonly DomainEvent[]): Shadow {
  const flags = new Map<string, ShadowFlag>();
  const members = new Map<string, number>();
  for (const event of events) {
    foldFlag(flags, event);
    foldMember(members, event);
  }
  return {
    compare(world) {
      assert.deepEqual(shapeOf(flags), shapeOf(flagsOf(world)), 'the flags are what the events say');
      assert.deepEqual(sorted(members), sorted(membersOf(world)), 'the members are what the events say');
    },
  };
}

function foldFlag(flags: Map<string, ShadowFlag>, event: DomainEvent): void {
  if (event.featureName === null) {
    if (event.type === 'project-environment-removed') forgetEnvironment(flags, event);
    return;
  }
  const key = `${event.project}/${event.featureName}`;
  if (event.type === 'feature-created') {
    const { description, stale } = event.data;
    flags.set(key, emptyFlag(description, stale));
    return;
  }
  if (event.type === 'feature-project-change') {
    const { newProject } = event.data;
    // A private project that it leaves is not named, and flags' names are unique.
    const before = [...flags.keys()].find((one) => one.endsWith(`/${event.featureName}`)) ?? '';
    const moved = flags.get(before);
    assert(moved !== undefined, `${event.featureName} moves, and is not there`);
    // The first event tells that it leaves, the second that it arrives.
    if (event.project === newProject) {
      flags.delete(before);
      flags.set(key, moved);
    }
    return;
  }
  if (event.type === 'feature-deleted') {
    flags.delete(key);
    return;
  }
  const flag = flags.get(key);
  assert(flag !== undefined, `${event.type} is about ${key}, which is not there`);
  foldChange(flag, event);
}

function foldChange(flag: ShadowFlag, event: DomainEvent): void {
  switch (event.type) {
    case 'feature-metadata-updated':
      flag.description = event.data.description;
      flag.stale = event.data.stale;
      return;
    case 'feature-stale-on':
    case 'feature-stale-off':
      flag.stale = event.type === 'feature-stale-on';
      return;
    case 'feature-archived':
    case 'feature-revived':
      flag.archived = event.type === 'feature-archived';
      return;
    case 'feature-tagged':
      flag.tags.add(`${event.data.type}:${event.data.value}`);
      return;
    case 'feature-untagged':
      flag.tags.delete(`${event.preData.type}:${event.preData.value}`);
      return;
    case 'feature-strategy-add':
      strategiesOf(flag, event.environment).add(event.data.id);
      return;
    case 'feature-strategy-remove':
      strategiesOf(flag, event.environment).delete(event.preData.id);
      return;
    case 'feature-environment-enabled':
      flag.enabled.add(event.environment);
      return;
    case 'feature-environment-disabled':
      flag.enabled.delete(event.environment);
  }
}

function foldMember(members: Map<string, number>, event: DomainEvent): void {
  switch (event.type) {
    case 'project-user-added':
    case 'project-user-role-changed':
      members.set(`${event.project}/${event.data.userId}`, event.data.roleId);
      return;
    case 'project-user-removed':
      members.delete(`${event.project}/${event.preData.userId}`);
      return;
    case 'project-deleted':
      for (const key of members.keys()) if (key.startsWith(`${event.project}/`)) members.delete(key);
  }
}

/** A project's flags lose what they had in an environment that the project loses. */
function forgetEnvironment(
  flags: Map<string, ShadowFlag>,
  { project, environment }: { readonly project: string; readonly environment: string },
): void {
  for (const [key, flag] of flags) {
    if (!key.startsWith(`${project}/`)) continue;
    flag.enabled.delete(environment);
    flag.strategies.delete(environment);
  }
}

function emptyFlag(description: string | null, stale: boolean): ShadowFlag {
  const nothing = { archived: false, tags: new Set<string>(), enabled: new Set<string>() };
  return { description, stale, strategies: new Map(), ...nothing };
}

function strategiesOf(flag: ShadowFlag, environment: string): Set<string> {
  const known = flag.strategies.get(environment) ?? new Set();
  flag.strategies.set(environment, known);
  return known;
}

function flagsOf(world: World): Map<string, ShadowFlag> {
  const flags = new Map<string, ShadowFlag>();
  for (const [id, project] of world.projects) {
    for (const [name, { flag }] of project.flags) {
      const on = flag.environments.filter(({ enabled }) => enabled);
      flags.set(`${id}/${name}`, {
        description: flag.description,
        stale: flag.stale,
        archived: flag.archivedAt !== null,
        tags: new Set(flag.tags.map(({ type, value }) => `${type}:${value}`)),
        strategies: new Map(
          flag.environments.map((part) => [part.name, new Set(part.strategies.map(({ id: one }) => one))]),
        ),
        enabled: new Set(on.map((part) => part.name)),
      });
    }
  }
  return flags;
}

function membersOf(world: World): Map<string, number> {
  const pairs = [...world.projects].flatMap(([id, { members }]) =>
    [...members].map(([userId, roleId]) => [`${id}/${userId}`, roleId] as const),
  );
  return new Map(pairs);
}

const sorted = (map: Map<string, unknown>): unknown[] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

/** An environment without strategies is as good as one that was never touched. */
function shapeOf(flags: Map<string, ShadowFlag>): unknown[] {
  return sorted(flags).map((entry) => {
    const [key, flag] = entry as [string, ShadowFlag];
    const used = [...flag.strategies].filter(([, ids]) => ids.size > 0);
    const strategies = sorted(new Map(used.map(([name, ids]) => [name, [...ids].sort()])));
    return [key, { ...flag, tags: [...flag.tags].sort(), enabled: [...flag.enabled].sort(), strategies }];
  });
}
