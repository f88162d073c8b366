/** `apply` for events that belong to no project: environments, settings, and the records of kinds. */
import assert from 'node:assert/strict';
import { EFFECTS, type KindCounter, kindOf } from '../kinds/kinds.ts';
import { applyAccessEvent, dropSessions, dropTokensOfEnvironment } from './apply-access.ts';
import { type DirectoryEvent, type EventStamp, isKindEvent, type KindEvent } from './events.ts';
import { dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import type { Environment, World } from './world.ts';

export function applyDirectoryEvent(world: World, event: DirectoryEvent, stamp: EventStamp): void {
  const { directory } = world;
  directory.revision = stamp.id;
  if (isKindEvent(event)) return applyKindEvent(world, event, stamp);
  switch (event.type) {
    case 'environment-created':
      return setEnvironments(world, [...directory.environments, event.data], stamp);
    case 'environment-updated':
      return setEnvironments(
        world,
        directory.environments.map((one) => (one.name === event.environment ? event.data : one)),
        stamp,
      );
    case 'environment-deleted':
      directory.accessRevision = stamp.id;
      if (stamp.rules >= NAMES_GO_WITH_DELETED) dropTokensOfEnvironment(world, event.environment);
      return setEnvironments(
        world,
        directory.environments.filter((one) => one.name !== event.environment),
        stamp,
      );
    case 'setting-created':
    case 'setting-updated':
      putRecord(world, directory.settings, event.data.id, event.data);
      return;
    case 'features-exported':
      return;
    default:
      directory.accessRevision = stamp.id;
      return applyAccessEvent(world, event, stamp);
  }
}

function setEnvironments(
  { directory, memory }: World,
  environments: readonly Environment[],
  stamp: EventStamp,
): void {
  for (const one of directory.environments) memory.replace(one, null);
  for (const one of environments) memory.replace(null, one);
  directory.environments = [...environments].sort((a, b) => a.sortOrder - b.sortOrder);
  directory.environmentsRevision = stamp.id;
}

function applyKindEvent(world: World, event: KindEvent, stamp: EventStamp): void {
  const { directory } = world;
  const { kind, changesRights, isDeletion } = present(EFFECTS.get(event.type));
  if (changesRights) directory.accessRevision = stamp.id;
  const records: Map<string | number, object> = directory[kind];
  const { idOf, lastId } = kindOf(kind);
  const hidden = 'hidden' in event ? event.hidden : null;
  const shown: object = present(isDeletion ? event.preData : event.data);
  const record = hidden === null ? shown : { ...shown, digest: hidden.digest };
  if (isDeletion) {
    dropRecord(world, records, idOf(record));
    // Sessions that a token began end with it.
    if (hidden !== null) dropSessions(world, ({ tokenDigest }) => tokenDigest === hidden.digest);
    return;
  }
  putRecord(world, records, idOf(record), record);
  if (lastId === undefined) return;
  const counter = lastId as KindCounter;
  directory[counter] = Math.max(directory[counter], (record as { readonly id: number }).id);
}

function present<T>(value: T | null | undefined): T {
  assert(value !== null && value !== undefined, 'an event about a kind has what its type says');
  return value;
}
