/** A field of a form in a line: what its value is called, its label and its kind, and whatever else it has. */

/** @import { Field } from '../types.d.ts' */

/**
 * @param {string} name
 * @param {string} label
 * @param {Field<any>['kind']} [kind]
 * @param {Omit<Field<any>, 'name' | 'label' | 'kind'>} [more]
 * @returns {Field<any>}
 */
export const field = (name, label, kind = 'text', more = {}) => ({ name, label, kind, ...more });

/** A password that somebody chooses. @param {string} label @param {Pick<Field<any>, 'when'>} [more] */
export const newPassword = (label, more = {}) =>
  field('password', label, 'password', {
    ...{ required: true, autocomplete: 'new-password' },
    ...more,
    hint: 'At least 10 characters, with a lowercase and an uppercase letter, a digit and another character; or at least 20 of any kind.',
  });
