/** `apply` for events that belong to no project: environments, users, tokens. */
import type { EventStamp } from './event-stamp.ts';
import type { DirectoryEvent } from './events.ts';
import type { DirectoryState, Environment, World } from './world.ts';

export function applyDirectoryEvent({ directory }: World, event: DirectoryEvent, stamp: EventStamp): void {
  directory.revision = stamp.id;
  switch (event.type) {
    case 'environment-created':
      return setEnvironments(directory, [...directory.environments, event.data], stamp);
    case 'environment-updated':
      return setEnvironments(
        directory,
        directory.environments.map((one) => (one.name === event.environment ? event.data : one)),
        stamp,
      );
    case 'environment-deleted':
      return setEnvironments(
        directory,
        directory.environments.filter((one) => one.name !== event.environment),
        stamp,
      );
    case 'segment-created':
    case 'segment-updated':
      directory.lastSegmentId = Math.max(directory.lastSegmentId, event.data.id);
      directory.segments.set(event.data.id, event.data);
      return;
    case 'segment-deleted':
      directory.segments.delete(event.preData.id);
      return;
    case 'context-field-created':
    case 'context-field-updated':
      directory.contextFields.set(event.data.name, event.data);
      return;
    case 'context-field-deleted':
      directory.contextFields.delete(event.preData.name);
      return;
    case 'strategy-created':
    case 'strategy-updated':
    case 'strategy-deprecated':
    case 'strategy-reactivated':
      directory.strategyTypes.set(event.data.name, event.data);
      return;
    case 'strategy-deleted':
      directory.strategyTypes.delete(event.preData.name);
      return;
    default:
      directory.accessRevision = stamp.id;
      return applyAccessEvent(directory, event);
  }
}

function applyAccessEvent(
  directory: DirectoryState,
  event: Extract<DirectoryEvent, { type: `user-${string}` | `api-token-${string}` | `pat-${string}` }>,
): void {
  switch (event.type) {
    case 'user-created':
      directory.lastUserId = Math.max(directory.lastUserId, event.data.id);
      directory.users.set(event.data.id, event.data);
      return;
    case 'user-updated':
      directory.users.set(event.data.id, event.data);
      return;
    case 'user-deleted':
      directory.users.delete(event.preData.id);
      return;
    case 'api-token-created':
    case 'api-token-updated':
      directory.apiTokens.set(event.hidden.digest, { ...event.data, digest: event.hidden.digest });
      return;
    case 'api-token-deleted':
      directory.apiTokens.delete(event.hidden.digest);
      return;
    case 'pat-created':
      directory.lastPersonalTokenId = Math.max(directory.lastPersonalTokenId, event.data.id);
      directory.personalTokens.set(event.hidden.digest, { ...event.data, digest: event.hidden.digest });
      return;
    case 'pat-deleted':
      directory.personalTokens.delete(event.hidden.digest);
      return;
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

function setEnvironments(
  directory: DirectoryState,
  environments: readonly Environment[],
  stamp: EventStamp,
): void {
  directory.environments = [...environments].sort((a, b) => a.sortOrder - b.sortOrder);
  directory.environmentsRevision = stamp.id;
}
