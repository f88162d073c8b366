/** The operators of constraints: what kind of value each compares with, and how many. */

/** @import { Constraint, ConstraintInput } from './types.d.ts' */

/** @typedef {Constraint['operator']} Operator */
/** @typedef {'many' | 'number' | 'time' | 'version' | 'text'} ValueKind */

/** Grouped as they are offered. @type {readonly (readonly [group: string, kind: ValueKind, operators: readonly Operator[]])[]} */
export const OPERATOR_GROUPS = [
  ['Among', 'many', ['IN', 'NOT_IN', 'IN_CIDR']],
  ['Text', 'many', ['STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH']],
  ['Pattern', 'text', ['REGEX']],
  ['Number', 'number', ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE']],
  ['Time', 'time', ['DATE_AFTER', 'DATE_BEFORE']],
  ['Version', 'version', ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE']],
];

/** @type {ReadonlyMap<Operator, ValueKind>} */
const KINDS = new Map(
  OPERATOR_GROUPS.flatMap(([, kind, operators]) => operators.map((operator) => [operator, kind])),
);

/** The type of a value of this operator; a list of texts for one that this page does not know. @param {Operator} operator */
export const valueKindOf = (operator) => KINDS.get(operator) ?? 'many';

/** Whether the operator can ignore the case of letters. @param {Operator} operator */
export const hasCase = (operator) => operator.startsWith('STR_') || operator === 'REGEX';

/** The constraint with another operator, and with the values that it can have. @param {ConstraintInput} constraint @param {Operator} operator @returns {ConstraintInput} */
export function withOperator(constraint, operator) {
  const { contextName, inverted = false, caseInsensitive = false, values = [], value } = constraint;
  const common = { contextName, operator, inverted, caseInsensitive: caseInsensitive && hasCase(operator) };
  const kind = valueKindOf(operator);
  if (kind === 'many') return { ...common, values };
  return { ...common, values: [], value: kind === valueKindOf(constraint.operator) ? (value ?? '') : '' };
}

/** A constraint as the interface takes it, of one that it gave. @param {Constraint} constraint @returns {ConstraintInput} */
export const inputOf = (constraint) => withOperator(constraint, constraint.operator);

/** @type {ConstraintInput} */
export const NEW_CONSTRAINT = {
  contextName: '',
  operator: 'IN',
  inverted: false,
  caseInsensitive: false,
  values: [],
};
