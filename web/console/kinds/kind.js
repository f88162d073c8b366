/** The parts of a row of a kind, and the fields that the forms of many have. */
import { path } from '../client.js';
import { changeAtOnce, removeAfterAsking } from '../edit/remove.jsx';
import { field } from '../forms/field.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Change } from '../client.js' */
/** @import { Item } from '../parts/more-menu.jsx' */
/** @import { Edit, Field, Right, Session } from '../types.d.ts' */

/**
 * @template T
 * @template [Extra=null]
 * @typedef {object} Kind
 * @property {string} one what one of them is called
 * @property {string} title of the page
 * @property {string} [lead]
 * @property {string} none the next step where there is none yet
 * @property {Right} [right] what one must be allowed to change them; none for one's own
 * @property {string} [project] to which they belong
 * @property {boolean} [isForAdmins] whether nobody else may see them
 * @property {string} at the path of the list, to which a new one is posted
 * @property {(body: any) => readonly T[]} listIn
 * @property {(one: any) => string} [pathOf] below that of the list, by its id or its name, if not said
 * @property {(one: T) => string} [nameOf] if not its name
 * @property {(one: T) => ComponentChildren} [link] its name where that leads to more
 * @property {(one: T) => string} [noteOf] below the name
 * @property {readonly (readonly [title: string, cell: (one: T, body: any) => ComponentChildren])[]} columns besides the name
 * @property {(one: T) => boolean} [isFixed] whether it is there always, and nobody changes it
 * @property {(one: T) => boolean} [isPermanent] whether nobody deletes it
 * @property {boolean} [isReported] whether they come by themselves
 * @property {boolean} [isWrittenOnce] whether they stay as they were made
 * @property {(session: Session) => Promise<Extra>} [prepare] what the form needs to know
 * @property {(extra: Extra, isNew: boolean) => readonly Field<any>[]} fields
 * @property {boolean} [isRead] whether the whole of one is read at its path, with its ETag, before it is edited
 * @property {(one: T | null) => Record<string, any>} valuesOf
 * @property {(values: any, isNew: boolean, one: T | null) => object} bodyOf
 * @property {(one: T) => string} [changeAt] where one is changed, if not at its path
 * @property {'POST'} [changeBy] if not by `PUT`
 * @property {(session: Session, one: T | null, extra: Extra) => Partial<Edit<any>> & { after?: (response: any, values: any) => void }} [edit] what the dialog does besides what it does for all kinds
 * @property {string | ((one: T) => string)} [loses] what goes with one that is deleted; nobody deletes those without
 * @property {(session: Session, one: T, body: any) => readonly (Item | null)[]} [actions] of a row, besides editing and deleting
 * @property {Kind<any, any>} [besides] what is listed on the same page
 */

export const NAME = field('name', 'Name', 'text', { required: true });
export const DESCRIPTION = field('description', 'Description', 'long-text');

/**
 * Texts that a form begins with; empty where one has none, and for a new one.
 * @param {any} one
 * @param {...string} names
 * @returns {Record<string, any>}
 */
export const textsOf = (one, ...names) => Object.fromEntries(names.map((name) => [name, one?.[name] ?? '']));

/** @param {Kind<any, any>} kind @param {any} one */
export const pathOf = ({ at, pathOf: own }, one) => own?.(one) ?? at + path`/${one.id ?? one.name}`;

/** @param {Kind<any, any>} kind @param {any} one @returns {string} */
export const nameOf = ({ nameOf: own }, one) => (own === undefined ? one.name : own(one));

/**
 * Switches one on or off at once, or off once that is agreed to.
 * @param {Session} session
 * @param {string} what
 * @param {boolean} isOn
 * @param {(isOn: boolean) => Change} change
 * @param {{ title: string, agree: string, text: string }} [question]
 * @returns {Item}
 */
export function switchItem(session, what, isOn, change, question) {
  const made = { change: change(!isOn), undo: change(isOn), done: `${what} is ${isOn ? 'off' : 'on'}.` };
  const act = () =>
    isOn && question !== undefined
      ? removeAfterAsking(session, { ...question, ...made })
      : changeAtOnce(session, made);
  return [isOn ? 'Switch off' : 'Switch on', isOn ? 'close' : 'check', act];
}

/** A number; any other text is sent as it is, and refused. @param {string} text */
export const numberIn = (text) => (/^\d+$/.test(text.trim()) ? Number(text) : text);

/** @param {string} text */
export const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
