/** Decisions on context fields and their legal values. */

import {
  CONTEXT_FIELD_BYTES_MAX,
  CONTEXT_FIELDS_MAX,
  type ContextField,
  type ContextFieldInput,
  isPredefinedContextField,
  LEGAL_VALUES_MAX,
  type LegalValue,
} from '../flags/context-field.ts';
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING } from '../state/events.ts';
import { invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import { findContextField, locateContextField } from '../state/targeting.ts';
import type { World } from '../state/world.ts';

/** Where a new field stands that is not told: behind the predefined ones. */
const SORT_ORDER_DEFAULT = 10;

export interface CreateContextField {
  readonly type: 'create-context-field';
  readonly name: string;
  readonly fields: ContextFieldInput;
}

export function createContextField(
  world: World,
  { name, fields }: CreateContextField,
  context: DecideContext,
): Decision {
  const taken = refuseTakenContextField(world, name);
  if (taken !== null) return taken;
  if (world.directory.contextFields.size >= CONTEXT_FIELDS_MAX) {
    return invalidOperation(`There are ${CONTEXT_FIELDS_MAX} context fields, and there cannot be more.`);
  }
  const data: ContextField = {
    name,
    description: fields.description ?? '',
    stickiness: fields.stickiness ?? false,
    sortOrder: fields.sortOrder ?? SORT_ORDER_DEFAULT,
    legalValues: fields.legalValues ?? [],
    createdAt: context.now,
  };
  return refuseTooLarge(data) ?? [{ type: 'context-field-created', ...ABOUT_NOTHING, data, preData: null }];
}

export interface UpdateContextField {
  readonly type: 'update-context-field';
  readonly name: string;
  readonly fields: ContextFieldInput;
}

export function updateContextField(world: World, { name, fields }: UpdateContextField): Decision {
  const field = locateContextField(world, name);
  if (isRefusal(field)) return field;
  return updated(field, {
    ...field,
    description: fields.description ?? field.description,
    stickiness: fields.stickiness ?? field.stickiness,
    sortOrder: fields.sortOrder ?? field.sortOrder,
    legalValues: fields.legalValues ?? field.legalValues,
  });
}

export interface SetLegalValue {
  readonly type: 'set-legal-value';
  readonly name: string;
  readonly legalValue: LegalValue;
}

/** Adds the value, or gives it another description. */
export function setLegalValue(world: World, { name, legalValue }: SetLegalValue): Decision {
  const field = locateContextField(world, name);
  if (isRefusal(field)) return field;
  const at = field.legalValues.findIndex(({ value }) => value === legalValue.value);
  const legalValues = at === -1 ? [...field.legalValues, legalValue] : field.legalValues.with(at, legalValue);
  if (legalValues.length > LEGAL_VALUES_MAX) {
    return invalidOperation(
      `The context field "${name}" has ${LEGAL_VALUES_MAX} legal values, and there cannot be more.`,
    );
  }
  return updated(field, { ...field, legalValues });
}

export interface RemoveLegalValue {
  readonly type: 'remove-legal-value';
  readonly name: string;
  readonly value: string;
}

export function removeLegalValue(world: World, { name, value }: RemoveLegalValue): Decision {
  const field = locateContextField(world, name);
  if (isRefusal(field)) return field;
  return updated(field, {
    ...field,
    legalValues: field.legalValues.filter((one) => one.value !== value),
  });
}

export interface DeleteContextField {
  readonly type: 'delete-context-field';
  readonly name: string;
}

/** Constraints may go on naming it: they compare with what the application sends, defined or not. */
export function deleteContextField(world: World, { name }: DeleteContextField): Decision {
  const preData = locateContextField(world, name);
  if (isRefusal(preData)) return preData;
  if (isPredefinedContextField(name)) {
    return invalidOperation(`The context field "${name}" is predefined and cannot be deleted.`);
  }
  return [{ type: 'context-field-deleted', ...ABOUT_NOTHING, data: null, preData }];
}

export function refuseTakenContextField(world: World, name: string): Refusal | null {
  if (findContextField(world, name) === undefined) return null;
  return nameExists(`A context field named "${name}" exists already.`);
}

function updated(preData: ContextField, data: ContextField): Decision {
  if (jsonEqual(data, preData)) return UNCHANGED;
  return refuseTooLarge(data) ?? [{ type: 'context-field-updated', ...ABOUT_NOTHING, data, preData }];
}

const refuseTooLarge = (field: ContextField): Refusal | null =>
  refuseLargerThan(CONTEXT_FIELD_BYTES_MAX, `The context field "${field.name}"`, field);
