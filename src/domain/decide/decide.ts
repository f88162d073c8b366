/**
 * One table from each command to its decision. A command is decided against the state as it is when its turn in
 * the mailbox comes; the outcome is events or a refusal, and deciding itself changes nothing.
 */
import type { World } from '../world.ts';
import type { DecideContext, Decision } from './decision.ts';
import {
  type ArchiveFlag,
  archiveFlag,
  type CloneFlag,
  type CreateFlag,
  cloneFlag,
  createFlag,
  type PatchFlag,
  patchFlag,
  type UpdateFlag,
  updateFlag,
} from './flag-commands.ts';
import {
  type AddMember,
  addMember,
  type ChangeMember,
  changeMember,
  type RemoveMember,
  removeMember,
} from './membership-commands.ts';
import {
  type AddStrategy,
  addStrategy,
  type OrderStrategies,
  orderStrategies,
  type PatchStrategy,
  patchStrategy,
  type RemoveStrategy,
  type ReplaceStrategy,
  removeStrategy,
  replaceStrategy,
  type SwitchEnvironment,
  switchEnvironment,
} from './strategy-commands.ts';
import { type UpdateUser, updateUser } from './user-commands.ts';
import { type PatchVariants, patchVariants, type SetVariants, setVariants } from './variant-commands.ts';

export type Command =
  | CreateFlag
  | UpdateFlag
  | PatchFlag
  | CloneFlag
  | ArchiveFlag
  | AddStrategy
  | ReplaceStrategy
  | PatchStrategy
  | RemoveStrategy
  | OrderStrategies
  | SwitchEnvironment
  | SetVariants
  | PatchVariants
  | AddMember
  | ChangeMember
  | RemoveMember
  | UpdateUser;

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;
type Decide<C> = (world: World, command: C, context: DecideContext) => Decision;

const DECISIONS: { readonly [T in Command['type']]: Decide<CommandOf<T>> } = {
  'create-flag': createFlag,
  'update-flag': updateFlag,
  'patch-flag': patchFlag,
  'clone-flag': cloneFlag,
  'archive-flag': archiveFlag,
  'add-strategy': addStrategy,
  'replace-strategy': replaceStrategy,
  'patch-strategy': patchStrategy,
  'remove-strategy': removeStrategy,
  'order-strategies': orderStrategies,
  'switch-environment': switchEnvironment,
  'set-variants': setVariants,
  'patch-variants': patchVariants,
  'add-member': addMember,
  'change-member': changeMember,
  'remove-member': removeMember,
  'update-user': updateUser,
};

export function decide(world: World, command: Command, context: DecideContext): Decision {
  return (DECISIONS[command.type] as Decide<Command>)(world, command, context);
}
