/**
 * Decisions that archive, revive, delete and mark flags as stale, or note that they are potentially stale. A command for
 * many flags changes all of them or none, except for the notes. The state machine in archive-switch.ts says what is
 * possible. An archived flag has neither parents nor children, so that no active flag depends on an archived one.
 */

import type { Flag } from '../flags/flag.ts';
import { endOfLife, noticeTime } from '../flags/lifetime.ts';
import { LIFETIME_DAYS } from '../flags/metadata.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { type AgeData, aboutFlag, type DomainEvent, newEvent } from '../state/events.ts';
import type { FlagRecord } from '../state/flag-record.ts';
import { type LocatedFlag, locateFlag, locateFlags } from '../state/locate.ts';
import { invalidOperation, isRefusal, type Refusal } from '../state/refusal.ts';
import { lifetimesIn } from '../state/settings.ts';
import { actingName, type World } from '../state/world.ts';
import { type ArchiveEvent, type ArchiveState, nextArchiveState } from './archive-switch.ts';
import { dataOf, staleEvent } from './flag-commands.ts';
import { type NamesFlag, type NamesFlags, refuseArchived } from './guards.ts';
import { switched } from './switch-commands.ts';

/** Archiving an archived flag changes nothing (docs/specification/flags.md#archiving). */
export function archiveFlag(world: World, { project, flag }: NamesFlag): Decision {
  const located = locateFlag(world, project, flag);
  return located.refused ? located : archiveEvents([located.record.flag]);
}

/** Flags of one request times the environments that they are set in: to revive as many takes some 10 ms of the event loop. */
export const FLAG_ENVIRONMENTS_MAX = 5_000;

/** The flags that a command names; refused where they are too many, or one does not exist. */
function locateSome(world: World, command: NamesFlags): Refusal | readonly LocatedFlag[] {
  const located = locateFlags(world, command);
  if (isRefusal(located)) return located;
  const count = located.reduce((sum, { record }) => sum + record.flag.environments.length, 0);
  if (count <= FLAG_ENVIRONMENTS_MAX) return located;
  return invalidOperation(
    `The request names ${located.length} flags, which have settings in ${count} environments altogether; at most ${FLAG_ENVIRONMENTS_MAX} are changed at once. Name fewer flags.`,
  );
}

export function archiveFlags(world: World, command: NamesFlags): Decision {
  const located = locateSome(world, command);
  return isRefusal(located) ? located : archiveEvents(located.map(({ record }) => record.flag));
}

/**
 * A flag that others depend on can be archived only together with them. They are then archived first, regardless of
 * their order in the request. Archiving a flag removes its dependencies, since its parents could not be archived
 * otherwise.
 */
function archiveEvents(flags: readonly Flag[]): Decision {
  const leaving = new Set(flags.map((flag) => flag.name));
  const children = flags.filter((flag) => flag.dependencies.length > 0);
  const others = flags.filter((flag) => flag.dependencies.length === 0);
  const events: DomainEvent[] = [];
  for (const flag of [...children, ...others]) {
    const staying = flag.children.filter((name) => !leaving.has(name));
    const next = transition(flag, 'ARCHIVE', staying.length);
    if (next === 'refused') return hasChildren(flag, staying);
    if (!next.changed) continue;
    if (flag.dependencies.length > 0) events.push(dependenciesRemoved(flag));
    events.push(newEvent('feature-archived', aboutFlag(flag)));
  }
  return events;
}

function hasChildren(flag: Flag, staying: readonly string[]): Refusal {
  const children = staying.map((name) => `"${name}"`).join(', ');
  return invalidOperation(
    `The flag "${flag.name}" cannot be archived while others depend on it: ${children}. Remove the dependencies first.`,
  );
}

export function dependenciesRemoved(flag: Flag): DomainEvent {
  const preData = { dependencies: flag.dependencies };
  return newEvent('feature-dependencies-removed', aboutFlag(flag), { preData });
}

/**
 * The name cannot be taken, because an archived flag keeps it. Reviving an active flag changes nothing. A revived flag
 * is disabled everywhere, so that it serves nobody until somebody enables it (docs/specification/flags.md#reviving).
 */
export function reviveFlags(world: World, command: NamesFlags): Decision {
  const located = locateSome(world, command);
  if (isRefusal(located)) return located;
  const events: DomainEvent[] = [];
  for (const { record } of located) {
    const next = transition(record.flag, 'REVIVE', record.flag.children.length);
    if (next === 'refused' || !next.changed) continue;
    events.push(newEvent('feature-revived', aboutFlag(record.flag)));
    for (const { name, enabled } of record.flag.environments) {
      if (enabled) events.push(switched(record.flag, name, false));
    }
  }
  return events;
}

/** Deletes flags for good, which frees their names. Only an archived flag can be deleted. */
export function deleteFlags(world: World, command: NamesFlags): Decision {
  const located = locateSome(world, command);
  if (isRefusal(located)) return located;
  const events: DomainEvent[] = [];
  for (const one of located) {
    const { flag } = one.record;
    if (transition(flag, 'DELETE', flag.children.length) === 'refused') {
      return invalidOperation(`The flag "${flag.name}" is not archived; archive it before deleting it.`);
    }
    events.push(flagDeleted(world, one));
  }
  return events;
}

export function flagDeleted(world: World, located: Omit<LocatedFlag, 'refused'>): DomainEvent {
  const preData = dataOf(world, located);
  return newEvent('feature-deleted', aboutFlag(preData), { preData });
}

interface MarkFlagsStale extends NamesFlags {
  readonly stale: boolean;
}

export function markFlagsStale(world: World, command: MarkFlagsStale): Decision {
  const located = locateFlags(world, command);
  if (isRefusal(located)) return located;
  const events: DomainEvent[] = [];
  for (const { record } of located) {
    const archived = refuseArchived(record.flag);
    if (archived !== null) return archived;
    if (record.flag.stale !== command.stale) events.push(staleEvent(record.flag, command.stale));
  }
  return events;
}

/**
 * Records that flags have outlived their types, or will soon (docs/specification/flags.md#staleness). Whether a flag has is
 * computed whenever it is asked; the event is a note in the log, made once. Leaves out flags that are gone, or need no note any
 * more: the command may have waited behind others. Refuses nothing.
 */
export function notePotentiallyStale(
  world: World,
  { project, flags }: NamesFlags,
  { now }: DecideContext,
): Decision {
  const state = world.projects.get(project);
  if (state === undefined) return UNCHANGED;
  const nowMs = Date.parse(now);
  return [...new Set(flags)].flatMap((name) => {
    const record = state.flags.get(name);
    const type = record === undefined ? null : dueStalenessNote(world, record.flag, nowMs);
    if (record === undefined || type === null) return [];
    return [newEvent(type, aboutFlag(record.flag), { data: ageOf(world, record) })];
  });
}

function ageOf(world: World, { flag, createdBy }: FlagRecord): AgeData {
  const owner = createdBy === null ? undefined : world.directory.users.get(createdBy);
  const end = endOfLife(flag, lifetimesIn(world, flag.project));
  return {
    owner: owner === undefined ? null : actingName(owner),
    potentiallyStaleAt: new Date(end).toISOString(),
  };
}

/** The event that an unarchived flag is due for its present lifetime, and that was not recorded yet; null for none. */
export function dueStalenessNote(world: World, flag: Flag, nowMs: number) {
  const lifetimes = lifetimesIn(world, flag.project);
  if (flag.archivedAt !== null || flag.stale || noticeTime(flag, lifetimes) > nowMs) return null;
  const noted = world.directory.potentiallyStale.get(flag.name);
  const isNoted = noted !== undefined && (noted.days ?? LIFETIME_DAYS[flag.type]) === lifetimes[flag.type];
  if (endOfLife(flag, lifetimes) > nowMs) return isNoted ? null : 'feature-potentially-stale-soon';
  return isNoted && noted.isSoon !== true ? null : 'feature-potentially-stale-on';
}

function transition(flag: Flag, event: ArchiveEvent, childCount: number) {
  const state: ArchiveState = flag.archivedAt === null ? 'active' : 'archived';
  return nextArchiveState(state, event, childCount);
}
