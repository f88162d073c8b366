/**
 * The table that maps each command to its decision. A command is decided against the state at the moment of its turn.
 * The outcome is events or a refusal; deciding itself changes nothing.
 */
import { PEOPLE_DECISIONS, type PeopleCommand } from '../people/people-decisions.ts';
import { type DecideContext, type Decision, SYSTEM } from '../state/decision.ts';
import { isSessionEvent } from '../state/events.ts';
import { isRefusal } from '../state/refusal.ts';
import { refuseInMaintenance } from '../state/settings.ts';
import type { World } from '../state/world.ts';
import {
  type ArchiveFlag,
  type ArchiveFlags,
  archiveFlag,
  archiveFlags,
  type DeleteFlags,
  deleteFlags,
  type MarkFlagsStale,
  markFlagsStale,
  type NotePotentiallyStale,
  notePotentiallyStale,
  type ReviveFlags,
  reviveFlags,
} from './archive-commands.ts';
import { type CopyStrategies, copyStrategies } from './copy-strategies-command.ts';
import {
  type AddDependency,
  addDependency,
  type RemoveDependencies,
  type RemoveDependency,
  removeDependencies,
  removeDependency,
} from './dependency-commands.ts';
import {
  type CreateEnvironment,
  createEnvironment,
  type DeleteEnvironment,
  deleteEnvironment,
  type OrderEnvironments,
  orderEnvironments,
  type UpdateEnvironment,
  updateEnvironment,
} from './environment-commands.ts';
import {
  type ChangeLink,
  type CloneFlag,
  type CompleteFlag,
  type CreateFlag,
  changeLink,
  cloneFlag,
  completeFlag,
  createFlag,
  type PatchFlag,
  patchFlag,
  type RemoveLink,
  removeLink,
  type UncompleteFlag,
  type UpdateFlag,
  uncompleteFlag,
  updateFlag,
} from './flag-commands.ts';
import type { ImportFlags } from './import-issues.ts';
import {
  type CreateRecord,
  createRecord,
  type DeleteRecord,
  type DeprecateStrategyType,
  deleteRecord,
  deprecateStrategyType,
  type RemoveLegalValue,
  removeLegalValue,
  type SetLegalValue,
  setLegalValue,
  type UpdateRecord,
  updateRecord,
} from './kind-commands.ts';
import { type MoveFlag, moveFlag } from './move-command.ts';
import {
  type MarkFavorite,
  markFavorite,
  type SetFrontendOrigins,
  type SetMaintenance,
  setFrontendOrigins,
  setMaintenance,
} from './preference-commands.ts';
import {
  type AddProjectEnvironment,
  addProjectEnvironment,
  type CreateProject,
  createProject,
  type DeleteProject,
  deleteProject,
  type RemoveProjectEnvironment,
  removeProjectEnvironment,
  type SetDefaultStrategy,
  setDefaultStrategy,
  type UpdateProject,
  updateProject,
} from './project-commands.ts';
import { refuseBeyondLimits } from './refuse-beyond-limits.ts';
import { type RollbackFlags, rollbackFlags } from './rollback-command.ts';
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
  type SetStrategySegments,
  type SwitchEnvironment,
  type SwitchFlags,
  setStrategySegments,
  switchEnvironment,
  switchFlags,
} from './strategy-commands.ts';
import {
  type ChangeTags,
  type CreateTag,
  changeTags,
  createTag,
  type DeleteTag,
  deleteTag,
  type TagFlag,
  tagFlag,
  type UntagFlag,
  untagFlag,
} from './tag-commands.ts';
import {
  type CreateApiToken,
  createApiToken,
  type DeleteApiToken,
  deleteApiToken,
  type UpdateApiToken,
  updateApiToken,
} from './token-commands.ts';
import { type ExportFlags, exportFlags, importFlags } from './transfer-commands.ts';
import {
  type PatchVariants,
  type PushVariants,
  patchVariants,
  pushVariants,
  type SetVariants,
  setVariants,
} from './variant-commands.ts';

export type Command =
  | CreateFlag
  | UpdateFlag
  | PatchFlag
  | CloneFlag
  | MoveFlag
  | ExportFlags
  | ImportFlags
  | ChangeLink
  | RemoveLink
  | RollbackFlags
  | ArchiveFlag
  | ArchiveFlags
  | ReviveFlags
  | DeleteFlags
  | MarkFlagsStale
  | NotePotentiallyStale
  | CompleteFlag
  | UncompleteFlag
  | TagFlag
  | UntagFlag
  | ChangeTags
  | CreateTag
  | DeleteTag
  | MarkFavorite
  | AddDependency
  | RemoveDependency
  | RemoveDependencies
  | AddStrategy
  | ReplaceStrategy
  | PatchStrategy
  | RemoveStrategy
  | OrderStrategies
  | CopyStrategies
  | SetStrategySegments
  | SwitchEnvironment
  | SwitchFlags
  | SetVariants
  | PatchVariants
  | PushVariants
  | CreateProject
  | UpdateProject
  | DeleteProject
  | AddProjectEnvironment
  | RemoveProjectEnvironment
  | SetDefaultStrategy
  | CreateEnvironment
  | UpdateEnvironment
  | OrderEnvironments
  | DeleteEnvironment
  | CreateRecord
  | UpdateRecord
  | DeleteRecord
  | SetLegalValue
  | RemoveLegalValue
  | DeprecateStrategyType
  | SetFrontendOrigins
  | SetMaintenance
  | CreateApiToken
  | UpdateApiToken
  | DeleteApiToken
  | PeopleCommand;

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;
type Decide<C> = (world: World, command: C, context: DecideContext) => Decision;

const DECISIONS: { readonly [T in Command['type']]: Decide<CommandOf<T>> } = {
  'create-flag': createFlag,
  'update-flag': updateFlag,
  'patch-flag': patchFlag,
  'clone-flag': cloneFlag,
  'move-flag': moveFlag,
  'export-flags': exportFlags,
  'import-flags': importFlags,
  'change-link': changeLink,
  'remove-link': removeLink,
  'rollback-flags': rollbackFlags,
  'archive-flag': archiveFlag,
  'archive-flags': archiveFlags,
  'revive-flags': reviveFlags,
  'delete-flags': deleteFlags,
  'mark-flags-stale': markFlagsStale,
  'note-potentially-stale': notePotentiallyStale,
  'complete-flag': completeFlag,
  'uncomplete-flag': uncompleteFlag,
  'tag-flag': tagFlag,
  'untag-flag': untagFlag,
  'change-tags': changeTags,
  'create-tag': createTag,
  'delete-tag': deleteTag,
  'mark-favorite': markFavorite,
  'add-dependency': addDependency,
  'remove-dependency': removeDependency,
  'remove-dependencies': removeDependencies,
  'add-strategy': addStrategy,
  'replace-strategy': replaceStrategy,
  'patch-strategy': patchStrategy,
  'remove-strategy': removeStrategy,
  'order-strategies': orderStrategies,
  'copy-strategies': copyStrategies,
  'set-strategy-segments': setStrategySegments,
  'switch-environment': switchEnvironment,
  'switch-flags': switchFlags,
  'set-variants': setVariants,
  'patch-variants': patchVariants,
  'push-variants': pushVariants,
  'create-project': createProject,
  'update-project': updateProject,
  'delete-project': deleteProject,
  'add-project-environment': addProjectEnvironment,
  'remove-project-environment': removeProjectEnvironment,
  'set-default-strategy': setDefaultStrategy,
  'create-environment': createEnvironment,
  'update-environment': updateEnvironment,
  'order-environments': orderEnvironments,
  'delete-environment': deleteEnvironment,
  'create-record': createRecord,
  'update-record': updateRecord,
  'delete-record': deleteRecord,
  'set-legal-value': setLegalValue,
  'remove-legal-value': removeLegalValue,
  'deprecate-strategy-type': deprecateStrategyType,
  'set-frontend-origins': setFrontendOrigins,
  'set-maintenance': setMaintenance,
  'create-api-token': createApiToken,
  'update-api-token': updateApiToken,
  'delete-api-token': deleteApiToken,
  ...PEOPLE_DECISIONS,
};

/** They look at the maintenance themselves, or need not. */
const SIGNING_IN_AND_OUT: ReadonlySet<Command['type']> = new Set([
  'begin-session',
  'end-session',
  'end-sessions',
  'sign-in-by-provider',
]);

export function decide(world: World, command: Command, context: DecideContext): Decision {
  // The server notes some things by itself, and its operator may need a token, or a session, to end the maintenance.
  const isSigningIn = SIGNING_IN_AND_OUT.has(command.type);
  const isLetThrough =
    command.type === 'set-maintenance' || isSigningIn || context.actor.userId === SYSTEM.userId;
  const maintenance = isLetThrough ? null : refuseInMaintenance(world.directory.settings);
  if (maintenance !== null) return maintenance;
  const decision = (DECISIONS[command.type] as Decide<Command>)(world, command, context);
  if (isRefusal(decision)) return decision;
  // Sessions have a bound of their own, and whoever makes room in a full memory has to sign in first.
  const limited = isSigningIn ? decision.filter((event) => !isSessionEvent(event)) : decision;
  return refuseBeyondLimits(world, command, limited, context) ?? decision;
}
