/** `apply` for events that change rights: users, roles, groups and tokens. */
import type { AccessEvent } from './events.ts';
import { dropRecord, putRecord } from './records.ts';
import type { World } from './world.ts';

export function applyAccessEvent(world: World, event: AccessEvent): void {
  const { directory } = world;
  switch (event.type) {
    case 'role-created':
    case 'role-updated':
      directory.lastRoleId = Math.max(directory.lastRoleId, event.data.id);
      putRecord(world, directory.roles, event.data.id, event.data);
      return;
    case 'role-deleted':
      dropRecord(world, directory.roles, event.preData.id);
      return;
    case 'group-created':
    case 'group-updated':
      directory.lastGroupId = Math.max(directory.lastGroupId, event.data.id);
      putRecord(world, directory.groups, event.data.id, event.data);
      return;
    case 'group-deleted':
      dropRecord(world, directory.groups, event.preData.id);
      return;
    case 'user-created':
      directory.lastUserId = Math.max(directory.lastUserId, event.data.id);
      putRecord(world, directory.users, event.data.id, event.data);
      return;
    case 'user-updated':
      putRecord(world, directory.users, event.data.id, event.data);
      return;
    case 'user-deleted':
      dropRecord(world, directory.users, event.preData.id);
      dropRecord(world, directory.favorites, event.preData.id);
      return;
    case 'api-token-created':
    case 'api-token-updated':
      putRecord(world, directory.apiTokens, event.hidden.digest, {
        ...event.data,
        digest: event.hidden.digest,
      });
      return;
    case 'api-token-deleted':
      dropRecord(world, directory.apiTokens, event.hidden.digest);
      return;
    case 'pat-created':
      directory.lastPersonalTokenId = Math.max(directory.lastPersonalTokenId, event.data.id);
      putRecord(world, directory.personalTokens, event.hidden.digest, {
        ...event.data,
        digest: event.hidden.digest,
      });
      return;
    case 'pat-deleted':
      dropRecord(world, directory.personalTokens, event.hidden.digest);
      return;
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}
