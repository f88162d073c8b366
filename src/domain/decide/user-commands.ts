/** Decisions on users (endpoint 21). */
import { ABOUT_NOTHING } from '../events.ts';
import { locateUser } from '../locate.ts';
import { invalid, isRefusal, type Refusal } from '../refusal.ts';
import type { User, World } from '../world.ts';
import { type Decision, UNCHANGED } from './decision.ts';

/** What can be set of a user. Undefined: stays as it is; null: removed. */
export interface UserFields {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly username?: string | null | undefined;
  /** A role id. */
  readonly rootRole?: number | undefined;
}

export interface UpdateUser {
  readonly type: 'update-user';
  readonly userId: number;
  readonly fields: UserFields;
}

export function updateUser(world: World, command: UpdateUser): Decision {
  const preData = locateUser(world, command.userId);
  if (isRefusal(preData)) return preData;
  const { fields } = command;
  const data: User = {
    ...preData,
    name: fields.name === undefined ? preData.name : fields.name,
    email: fields.email === undefined ? preData.email : fields.email,
    username: fields.username === undefined ? preData.username : fields.username,
    rootRole: fields.rootRole ?? preData.rootRole,
  };
  const fault = identityFault(world, data);
  if (fault !== null) return fault;
  const unchanged =
    data.name === preData.name &&
    data.email === preData.email &&
    data.username === preData.username &&
    data.rootRole === preData.rootRole;
  if (unchanged) return UNCHANGED;
  return [{ type: 'user-updated', ...ABOUT_NOTHING, data, preData }];
}

/** A user has an email or a username, and shares neither with another user. */
export function identityFault(world: World, user: User): Refusal | null {
  if (user.email === null && user.username === null) {
    return invalid('A user needs an email or a username; neither would remain.', '/body/email');
  }
  for (const other of world.directory.users.values()) {
    if (other.id === user.id) continue;
    if (user.email !== null && other.email?.toLowerCase() === user.email.toLowerCase()) {
      return invalid(`The email "${user.email}" belongs to another user.`, '/body/email');
    }
    if (user.username !== null && other.username === user.username) {
      return invalid(`The username "${user.username}" belongs to another user.`, '/body/username');
    }
  }
  return null;
}
