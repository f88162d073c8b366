/** A page that lists things of one kind, with what can be done to each and a way to make another. */
import { h } from 'preact';
import { Empty } from './states.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {boolean} [isMain] names the row
 */

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {readonly ComponentChildren[]} cells one for each column
 * @property {ComponentChildren} [actions]
 */

/** @param {{ title: string, lead?: string, action?: ComponentChildren, crumb?: ComponentChildren }} props */
export function ListingHead({ title, lead, action = null, crumb = null }) {
  return h(
    'div',
    { class: 'view-head' },
    crumb,
    h('div', { class: 'title-row' }, h('h1', null, title), action),
    lead === undefined ? null : h('p', { class: 'lead' }, lead),
  );
}

/** A table, and rows below each other on a phone: the roles say so where styles hide it. @param {{ label: string, columns: readonly Column[], rows: readonly Row[], none: string }} props */
export function Listing({ label, columns, rows, none }) {
  if (rows.length === 0) return h(Empty, { title: none });
  return h(
    'div',
    { class: 'listing-scroll', role: 'group', 'aria-label': label, tabIndex: 0 },
    h(
      'table',
      { class: 'listing', role: 'table', 'aria-label': label },
      h(
        'thead',
        { role: 'rowgroup' },
        h(
          'tr',
          { role: 'row' },
          columns.map(({ title }) => h('th', { key: title, role: 'columnheader', scope: 'col' }, title)),
          h('td', { role: 'cell' }),
        ),
      ),
      h(
        'tbody',
        { role: 'rowgroup' },
        rows.map(({ key, cells, actions = null }) =>
          h(
            'tr',
            { key, role: 'row', 'data-row': key },
            columns.map(({ title, isMain }, index) =>
              isMain === true
                ? h('th', { key: title, role: 'rowheader', scope: 'row' }, cells[index])
                : h('td', { key: title, role: 'cell', 'data-label': title }, cells[index]),
            ),
            h('td', { role: 'cell', class: 'listing-actions' }, actions),
          ),
        ),
      ),
    ),
  );
}

/** A small button of a row. Its name says of which row it is. @param {{ text: string, of: string, act: () => unknown }} props */
export function RowAction({ text, of, act }) {
  return h(
    'button',
    { type: 'button', class: 'quiet', 'aria-label': `${text} ${of}`, onClick: () => void act() },
    text,
  );
}

/** What most rows offer; `remove` is null for what nobody may delete. @param {{ of: string, edit: () => unknown, remove: (() => unknown) | null }} props */
export function EditActions({ of, edit, remove }) {
  return [
    h(RowAction, { key: 'edit', text: 'Edit', of, act: edit }),
    remove === null ? null : h(RowAction, { key: 'delete', text: 'Delete', of, act: remove }),
  ];
}

/** @param {{ text: string, act: () => unknown }} props */
export function MainAction({ text, act }) {
  return h('button', { type: 'button', class: 'button button-main', onClick: () => void act() }, text);
}
