/**
 * The table that maps each command to its decision. A command is decided against the state at the moment of its turn.
 * The outcome is events or a refusal; deciding itself changes nothing.
 */
import {
  addMember,
  changeMember,
  grantProjectAccess,
  removeMember,
  revokeProjectAccess,
  setProjectAccess,
} from '../people/membership-commands.ts';
import {
  createApiToken,
  createPersonalToken,
  deleteApiToken,
  deletePersonalToken,
  updateApiToken,
} from '../people/token-commands.ts';
import { createServiceAccount, createUser, deleteUser, updateUser } from '../people/user-commands.ts';
import { applyChange } from '../state/apply.ts';
import { type DecideContext, type Decision, type Kept, SYSTEM } from '../state/decision.ts';
import { eventRow } from '../state/event-types.ts';
import { isSessionEvent } from '../state/events.ts';
import { isRefusal, type Refusal } from '../state/refusal.ts';
import { RULES_VERSION } from '../state/replay-rules.ts';
import { refuseInMaintenance } from '../state/settings.ts';
import type { World } from '../state/world.ts';
import {
  archiveFlag,
  archiveFlags,
  deleteFlags,
  markFlagsStale,
  notePotentiallyStale,
  reviveFlags,
} from './archive-commands.ts';
import { copyStrategies } from './copy-strategies-command.ts';
import { addDependency, removeDependencies, removeDependency } from './dependency-commands.ts';
import {
  createEnvironment,
  deleteEnvironment,
  orderEnvironments,
  updateEnvironment,
} from './environment-commands.ts';
import {
  changeLink,
  cloneFlag,
  commentOnFlag,
  completeFlag,
  createFlag,
  patchFlag,
  removeLink,
  uncompleteFlag,
  updateFlag,
} from './flag-commands.ts';
import { createRecord, deleteRecord, deprecateStrategyType, updateRecord } from './kind-commands.ts';
import { moveFlag } from './move-command.ts';
import { markFavorite, setFrontendOrigins, setLifetime, setMaintenance } from './preference-commands.ts';
import {
  addProjectEnvironment,
  createProject,
  deleteProject,
  removeProjectEnvironment,
  setDefaultStrategy,
  updateProject,
} from './project-commands.ts';
import { refuseBeyondLimits } from './refuse-beyond-limits.ts';
import { plannedRollback } from './rollback-command.ts';
import {
  addStrategy,
  orderStrategies,
  patchStrategy,
  removeStrategy,
  replaceStrategy,
} from './strategy-commands.ts';
import { switchEnvironment, switchFlags } from './switch-commands.ts';
import { changeTags, tagFlag, untagFlag } from './tag-commands.ts';
import { patchVariants, setVariants } from './variant-commands.ts';

type OwnDecision<Sent> = (world: World, sent: Sent, context: DecideContext) => Decision;

/** A command of an add-on, which brings its decision: as pure as those of the table. */
export interface OwnCommand<Sent extends object = object> {
  readonly sent: Sent;
  readonly decide: OwnDecision<Sent>;
  /** JSON pointer of the part of the body that is at fault where the change goes beyond limits. */
  readonly faultPath?: string;
  /** Whether it is carried out during maintenance too. */
  readonly duringMaintenance?: true;
  /** Whether it is decided on all of the state alone: it was decided by others too, on what they see. */
  readonly onWholeState?: true;
  /** Whether a user may give it who has had too much written. */
  readonly isFree?: true;
}

export const ownCommand = <Sent extends object>(command: OwnCommand<Sent>): Command<'own'> =>
  ({ type: 'own', ...command }) as unknown as Command<'own'>;

/** The content of a command of this decision; null for another command. */
export const sentWith = <Sent extends object>(command: Command, decide: OwnDecision<Sent>): Sent | null =>
  command.type === 'own' && (command.decide as unknown) === decide ? (command.sent as Sent) : null;

const decideOwn = (world: World, { decide, sent }: OwnCommand, context: DecideContext): Decision =>
  decide(world, sent, context);

const DECISIONS = {
  'create-flag': createFlag,
  'update-flag': updateFlag,
  'patch-flag': patchFlag,
  'clone-flag': cloneFlag,
  'move-flag': moveFlag,
  'change-link': changeLink,
  'remove-link': removeLink,
  'rollback-flags': plannedRollback,
  'archive-flag': archiveFlag,
  'archive-flags': archiveFlags,
  'revive-flags': reviveFlags,
  'delete-flags': deleteFlags,
  'mark-flags-stale': markFlagsStale,
  'note-potentially-stale': notePotentiallyStale,
  'complete-flag': completeFlag,
  'uncomplete-flag': uncompleteFlag,
  'comment-on-flag': commentOnFlag,
  'tag-flag': tagFlag,
  'untag-flag': untagFlag,
  'change-tags': changeTags,
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
  'switch-environment': switchEnvironment,
  'switch-flags': switchFlags,
  'set-variants': setVariants,
  'patch-variants': patchVariants,
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
  'deprecate-strategy-type': deprecateStrategyType,
  'set-frontend-origins': setFrontendOrigins,
  'set-maintenance': setMaintenance,
  'set-lifetime': setLifetime,
  'create-api-token': createApiToken,
  'update-api-token': updateApiToken,
  'delete-api-token': deleteApiToken,
  'add-member': addMember,
  'change-member': changeMember,
  'remove-member': removeMember,
  'set-project-access': setProjectAccess,
  'grant-project-access': grantProjectAccess,
  'revoke-project-access': revokeProjectAccess,
  'create-user': createUser,
  'update-user': updateUser,
  'delete-user': deleteUser,
  'create-service-account': createServiceAccount,
  'create-personal-token': createPersonalToken,
  'delete-personal-token': deletePersonalToken,
  own: decideOwn,
} as const;

type Table = typeof DECISIONS;

/** A command has what its decision takes, and the type that the table has it under. */
export type Command<Type extends keyof Table = keyof Table> = {
  [T in Type]: { readonly type: T } & Parameters<Table[T]>[1];
}[Type];

export function decide(world: World, command: Command, context: DecideContext): Decision {
  // The server notes some things by itself, and its operator may need a token, or a session, to end the maintenance.
  const isLetThrough =
    command.type === 'set-maintenance' ||
    (command.type === 'own' && command.duringMaintenance) ||
    context.actor.userId === SYSTEM.userId;
  const maintenance = isLetThrough ? null : refuseInMaintenance(world.directory.settings);
  if (maintenance !== null) return maintenance;
  const decide: (world: World, command: never, context: DecideContext) => Decision = DECISIONS[command.type];
  return decide(world, command as never, context);
}

/** `decide`, held to all limits. */
export function decideWithinLimits(world: World, command: Command, context: DecideContext): Kept | Refusal {
  const events = decide(world, command, context);
  if (isRefusal(events)) return events;
  const isDry = 'dryRun' in command && command.dryRun;
  // Sessions have a bound of their own, and whoever makes room in a full memory has to sign in first.
  const limited = events.some(isSessionEvent) ? events.filter((event) => !isSessionEvent(event)) : events;
  // Most changes are switches, which make nothing larger.
  if (!limited.some(({ type }) => eventRow(type).grows !== false))
    return isDry ? NOTHING : { events, after: null };
  const first = { id: context.nextId, createdAt: context.now, rules: RULES_VERSION };
  const measured = applyChange(world, limited, first);
  const refusal = refuseBeyondLimits([world, measured], command, limited, context);
  const after = limited === events ? measured : null;
  return refusal ?? (isDry ? NOTHING : { events, after });
}

const NOTHING: Kept = { events: [], after: null };
