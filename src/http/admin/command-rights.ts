/**
 * What a caller must be allowed beyond the need of the route, by kind of command: what the body asks for, and what the state
 * makes of it. Asked in the turn of each command, with the rights that the caller has then.
 */
import type { Command } from '../../domain/decide/decide.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { Caller } from '../serving/access.ts';
import { refuseMove } from './flags/move.ts';
import { refuseImport } from './flags/transfer.ts';
import { refuseForeignRoles } from './given-roles.ts';
import { refuseToken } from './users/api-tokens.ts';

type Rights = {
  readonly [Type in Command['type']]?: (
    world: World,
    caller: Caller,
    command: Extract<Command, { readonly type: Type }>,
  ) => Refusal | null;
};

const RIGHTS: Rights = {
  'move-flag': refuseMove,
  'import-flags': refuseImport,
  'add-member': refuseForeignRoles,
  'change-member': refuseForeignRoles,
  'remove-member': refuseForeignRoles,
  'set-project-access': refuseForeignRoles,
  'grant-project-access': refuseForeignRoles,
  'revoke-project-access': refuseForeignRoles,
  'create-api-token': refuseToken,
  'update-api-token': refuseToken,
  'delete-api-token': refuseToken,
};

export function refuseCommand(world: World, caller: Caller, command: Command): Refusal | null {
  const refusal = RIGHTS[command.type] as
    | ((world: World, caller: Caller, command: Command) => Refusal | null)
    | undefined;
  return refusal?.(world, caller, command) ?? null;
}
