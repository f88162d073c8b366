/** `apply` for events that belong to no project: environments, and what strategies refer to. */
import { tagKey } from '../flags/flag.ts';
import { applyAccessEvent, dropTokensOfEnvironment } from './apply-access.ts';
import type { DirectoryEvent, EventStamp } from './events.ts';
import { dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import type { Environment, World } from './world.ts';

export function applyDirectoryEvent(world: World, event: DirectoryEvent, stamp: EventStamp): void {
  const { directory } = world;
  directory.revision = stamp.id;
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
    case 'segment-created':
    case 'segment-updated':
      directory.lastSegmentId = Math.max(directory.lastSegmentId, event.data.id);
      putRecord(world, directory.segments, event.data.id, event.data);
      return;
    case 'segment-deleted':
      dropRecord(world, directory.segments, event.preData.id);
      return;
    case 'context-field-created':
    case 'context-field-updated':
      putRecord(world, directory.contextFields, event.data.name, event.data);
      return;
    case 'context-field-deleted':
      dropRecord(world, directory.contextFields, event.preData.name);
      return;
    case 'strategy-created':
    case 'strategy-updated':
    case 'strategy-deprecated':
    case 'strategy-reactivated':
      putRecord(world, directory.strategyTypes, event.data.name, event.data);
      return;
    case 'tag-type-created':
    case 'tag-type-updated':
      putRecord(world, directory.tagTypes, event.data.name, event.data);
      return;
    case 'tag-type-deleted':
      dropRecord(world, directory.tagTypes, event.preData.name);
      return;
    case 'tag-created':
      putRecord(world, directory.tags, tagKey(event.data), event.data);
      return;
    case 'tag-deleted':
      dropRecord(world, directory.tags, tagKey(event.preData));
      return;
    case 'setting-created':
    case 'setting-updated':
      putRecord(world, directory.settings, event.data.id, event.data);
      return;
    case 'features-exported':
      return;
    case 'strategy-deleted':
      dropRecord(world, directory.strategyTypes, event.preData.name);
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
