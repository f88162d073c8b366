/**
 * Decisions on service accounts: programs that act under a name, a role and memberships of their own. They are kept among
 * the users, with whom they share ids and names, and differ from them in that nobody signs in as one.
 */
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING } from '../state/events.ts';
import { locateServiceAccount } from '../state/locate.ts';
import { isRefusal } from '../state/refusal.ts';
import type { User, World } from '../state/world.ts';
import { refuseIdentity } from './identity.ts';
import { refuseRootRole } from './role-commands.ts';
import { leaveAll } from './user-commands.ts';

export interface CreateServiceAccount {
  readonly type: 'create-service-account';
  readonly name: string | null;
  /** Null: one is made up. */
  readonly username: string | null;
  /** A role id. */
  readonly rootRole: number;
}

export function createServiceAccount(
  world: World,
  { name, username, rootRole }: CreateServiceAccount,
  { now, newId }: DecideContext,
): Decision {
  const data: User = {
    id: world.directory.lastUserId + 1,
    name,
    username: username ?? `service-account-${newId()}`,
    email: null,
    rootRole,
    createdAt: now,
    isService: true,
  };
  const refusal = refuseRootRole(world, rootRole) ?? refuseIdentity(world, data, null);
  return refusal ?? [{ type: 'service-account-created', ...ABOUT_NOTHING, data, preData: null }];
}

export interface UpdateServiceAccount {
  readonly type: 'update-service-account';
  readonly userId: number;
  /** An undefined field keeps its value. */
  readonly name?: string | null | undefined;
  readonly rootRole?: number | undefined;
}

export function updateServiceAccount(
  world: World,
  { userId, name, rootRole }: UpdateServiceAccount,
): Decision {
  const preData = locateServiceAccount(world, userId);
  if (isRefusal(preData)) return preData;
  const data: User = {
    ...preData,
    name: name === undefined ? preData.name : name,
    rootRole: rootRole ?? preData.rootRole,
  };
  const refusal = refuseRootRole(world, data.rootRole);
  if (refusal !== null) return refusal;
  if (data.name === preData.name && data.rootRole === preData.rootRole) return UNCHANGED;
  return [{ type: 'service-account-updated', ...ABOUT_NOTHING, data, preData }];
}

export interface DeleteServiceAccount {
  readonly type: 'delete-service-account';
  readonly userId: number;
}

/** With its tokens and memberships; refused for the only Owner of a project. */
export function deleteServiceAccount(world: World, { userId }: DeleteServiceAccount): Decision {
  const account = locateServiceAccount(world, userId);
  if (isRefusal(account)) return account;
  const left = leaveAll(world, account);
  if (isRefusal(left)) return left;
  return [...left, { type: 'service-account-deleted', ...ABOUT_NOTHING, data: null, preData: account }];
}
