/** Commands that only context fields have: those about single legal values. */
import { LEGAL_VALUES_MAX, type LegalValue } from '../kinds/context-field.ts';
import type { Decision } from '../state/decision.ts';
import { locateNamed } from '../state/directory-records.ts';
import { invalidOperation, isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { replaced } from './kind-commands.ts';

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
