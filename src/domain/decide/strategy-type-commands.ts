/** Decisions on strategy types. */

import {
  predefinedStrategyType,
  STRATEGY_TYPE_BYTES_MAX,
  STRATEGY_TYPES_MAX,
  type StrategyType,
  type StrategyTypeInput,
} from '../flags/strategy-type.ts';
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING } from '../state/events.ts';
import { invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import { findStrategyType, locateStrategyType } from '../state/targeting.ts';
import type { World } from '../state/world.ts';

export interface CreateStrategyType {
  readonly type: 'create-strategy-type';
  readonly name: string;
  readonly fields: StrategyTypeInput;
}

export function createStrategyType(world: World, { name, fields }: CreateStrategyType): Decision {
  if (findStrategyType(world, name) !== undefined) {
    return nameExists(`A strategy type named "${name}" exists already.`);
  }
  if (world.directory.strategyTypes.size >= STRATEGY_TYPES_MAX) {
    return invalidOperation(`There are ${STRATEGY_TYPES_MAX} strategy types, and there cannot be more.`);
  }
  const data: StrategyType = {
    name,
    title: fields.title ?? null,
    description: fields.description ?? '',
    parameters: fields.parameters ?? [],
    deprecated: false,
  };
  return refuseTooLarge(data) ?? [{ type: 'strategy-created', ...ABOUT_NOTHING, data, preData: null }];
}

export interface UpdateStrategyType {
  readonly type: 'update-strategy-type';
  readonly name: string;
  readonly fields: StrategyTypeInput;
}

export function updateStrategyType(world: World, { name, fields }: UpdateStrategyType): Decision {
  const preData = locateStrategyType(world, name);
  if (isRefusal(preData)) return preData;
  const refusal = refusePredefined(name, 'changed');
  if (refusal !== null) return refusal;
  const data: StrategyType = {
    ...preData,
    title: fields.title === undefined ? preData.title : fields.title,
    description: fields.description ?? preData.description,
    parameters: fields.parameters ?? preData.parameters,
  };
  if (jsonEqual(data, preData)) return UNCHANGED;
  return refuseTooLarge(data) ?? [{ type: 'strategy-updated', ...ABOUT_NOTHING, data, preData }];
}

export interface DeprecateStrategyType {
  readonly type: 'deprecate-strategy-type';
  readonly name: string;
  /** False: reactivate it. */
  readonly deprecated: boolean;
}

/** A deprecated type goes on working; forms stop offering it. */
export function deprecateStrategyType(world: World, { name, deprecated }: DeprecateStrategyType): Decision {
  const preData = locateStrategyType(world, name);
  if (isRefusal(preData)) return preData;
  if (preData.deprecated === deprecated) return UNCHANGED;
  const type = deprecated ? 'strategy-deprecated' : 'strategy-reactivated';
  return [{ type, ...ABOUT_NOTHING, data: { ...preData, deprecated }, preData }];
}

export interface DeleteStrategyType {
  readonly type: 'delete-strategy-type';
  readonly name: string;
}

export function deleteStrategyType(world: World, { name }: DeleteStrategyType): Decision {
  const preData = locateStrategyType(world, name);
  if (isRefusal(preData)) return preData;
  const refusal = refusePredefined(name, 'deleted');
  if (refusal !== null) return refusal;
  const users = [...world.references.flagCounts('strategy-type', name)].map(
    ([project, count]) => `${count} in the project "${project}"`,
  );
  if (users.length > 0) {
    return invalidOperation(
      `The strategy type "${name}" is used by flags: ${users.join(', ')}, archived ones included. Remove their strategies of this type before deleting it.`,
    );
  }
  return [{ type: 'strategy-deleted', ...ABOUT_NOTHING, data: null, preData }];
}

const refuseTooLarge = (type: StrategyType): Refusal | null =>
  refuseLargerThan(STRATEGY_TYPE_BYTES_MAX, `The strategy type "${type.name}"`, type);

function refusePredefined(name: string, what: 'changed' | 'deleted'): Refusal | null {
  if (predefinedStrategyType(name) === undefined) return null;
  return invalidOperation(`The strategy type "${name}" is predefined and cannot be ${what}.`);
}
