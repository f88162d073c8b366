/** Decisions on what goes by a name: created, changed, deleted as the row of its kind says. */
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import { LEGAL_VALUES_MAX, type LegalValue } from '../kinds/context-field.ts';
import { type NamedKindName, namedKindOf, type SentTo } from '../kinds/kinds.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { findNamed, locateNamed } from '../state/directory-records.ts';
import { ABOUT_NOTHING, type KindEvent } from '../state/events.ts';
import { invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { nameOfProject } from './guards.ts';

/** A command about a record of any kind, with what clients send of that kind. */
type AboutNamed<Type extends string, Fields> = {
  [Kind in NamedKindName]: {
    readonly type: Type;
    readonly kind: Kind;
    readonly name: string;
  } & (Fields extends true ? { readonly fields: SentTo<Kind> } : unknown);
}[NamedKindName];

export type CreateNamed = AboutNamed<'create-named', true>;
export type UpdateNamed = AboutNamed<'update-named', true>;
export type DeleteNamed = AboutNamed<'delete-named', false>;

export function createNamed(
  world: World,
  { kind, name, fields }: CreateNamed,
  context: Pick<DecideContext, 'now'>,
): Decision {
  const { noun, countMax, make, events } = namedKindOf(kind);
  const taken = refuseTaken(world, kind, name);
  if (taken !== null) return taken;
  if (world.directory[kind].size >= countMax) {
    return invalidOperation(`There are ${countMax} ${noun}s, and there cannot be more.`);
  }
  const data = make(name, fields, context.now);
  return refuseTooLarge(kind, data) ?? [eventOf(events.created, data, null)];
}

export function refuseTaken(world: World, kind: NamedKindName, name: string): Refusal | null {
  if (findNamed(world, kind, name) === undefined) return null;
  return nameExists(`A ${namedKindOf(kind).noun} named "${name}" exists already.`);
}

export function updateNamed(world: World, { kind, name, fields }: UpdateNamed): Decision {
  const preData = locateNamed(world, kind, name);
  if (isRefusal(preData)) return preData;
  if (!namedKindOf(kind).canChangePredefined && isPredefined(kind, name))
    return predefined(kind, name, 'changed');
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined);
  return replaced(kind, preData, { ...preData, ...Object.fromEntries(sent) });
}

/** The events by which a record becomes another one. */
function replaced<T extends { readonly name: string }>(kind: NamedKindName, preData: T, data: T): Decision {
  if (jsonEqual(data, preData)) return UNCHANGED;
  const [updated = ''] = namedKindOf(kind).events.changed;
  return refuseTooLarge(kind, data) ?? [eventOf(updated, data, preData)];
}

export function deleteNamed(world: World, { kind, name }: DeleteNamed): Decision {
  const preData = locateNamed(world, kind, name);
  if (isRefusal(preData)) return preData;
  if (isPredefined(kind, name)) return predefined(kind, name, 'deleted');
  const { noun, events, inUse } = namedKindOf(kind);
  if (inUse !== undefined) {
    const users = [...world.references.flagCounts(inUse.reference, name)].map(
      ([project, count]) => `${count} in ${nameOfProject(world, project)}`,
    );
    if (users.length > 0) {
      return invalidOperation(
        `The ${noun} "${name}" is used by flags: ${users.join(', ')}, archived ones included. ${inUse.advice} before deleting it.`,
      );
    }
  }
  return [eventOf(events.deleted, null, preData)];
}

const isPredefined = (kind: NamedKindName, name: string): boolean =>
  namedKindOf(kind).predefined.some((one) => one.name === name);

const predefined = (kind: NamedKindName, name: string, what: 'changed' | 'deleted'): Refusal =>
  invalidOperation(`The ${namedKindOf(kind).noun} "${name}" is predefined and cannot be ${what}.`);

function refuseTooLarge(kind: NamedKindName, record: { readonly name: string }): Refusal | null {
  const { noun, bytesMax } = namedKindOf(kind);
  if (bytesMax === null) return null;
  return refuseLargerThan(bytesMax, `The ${noun} "${record.name}"`, record);
}

/** The type and the record are of one row. */
const eventOf = (type: string, data: object | null, preData: object | null): KindEvent =>
  ({ type, ...ABOUT_NOTHING, data, preData }) as unknown as KindEvent;

// Commands that only context fields have: those about single legal values.

export interface SetLegalValue {
  readonly type: 'set-legal-value';
  readonly name: string;
  readonly legalValue: LegalValue;
}

/** Adds the value, or gives it another description. */
export function setLegalValue(world: World, { name, legalValue }: SetLegalValue): Decision {
  const field = locateNamed(world, 'contextFields', name);
  if (isRefusal(field)) return field;
  const at = field.legalValues.findIndex(({ value }) => value === legalValue.value);
  const legalValues = at === -1 ? [...field.legalValues, legalValue] : field.legalValues.with(at, legalValue);
  if (legalValues.length > LEGAL_VALUES_MAX) {
    return invalidOperation(
      `The context field "${name}" has ${LEGAL_VALUES_MAX} legal values, and there cannot be more.`,
    );
  }
  return replaced('contextFields', field, { ...field, legalValues });
}

export interface RemoveLegalValue {
  readonly type: 'remove-legal-value';
  readonly name: string;
  readonly value: string;
}

export function removeLegalValue(world: World, { name, value }: RemoveLegalValue): Decision {
  const field = locateNamed(world, 'contextFields', name);
  if (isRefusal(field)) return field;
  const legalValues = field.legalValues.filter((one) => one.value !== value);
  return replaced('contextFields', field, { ...field, legalValues });
}

// Commands that only strategy types have: they are deprecated, and reactivated.

export interface DeprecateStrategyType {
  readonly type: 'deprecate-strategy-type';
  readonly name: string;
  /** False: reactivate it. */
  readonly deprecated: boolean;
}

/** A deprecated type goes on working; forms stop offering it. */
export function deprecateStrategyType(world: World, { name, deprecated }: DeprecateStrategyType): Decision {
  const preData = locateNamed(world, 'strategyTypes', name);
  if (isRefusal(preData)) return preData;
  if (preData.deprecated === deprecated) return UNCHANGED;
  const type = deprecated ? 'strategy-deprecated' : 'strategy-reactivated';
  return [{ type, ...ABOUT_NOTHING, data: { ...preData, deprecated }, preData }];
}
