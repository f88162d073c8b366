/** The states of a view that has nothing to show yet, or nothing at all. */
import { h } from 'preact';
import { messageOf } from '../client.js';

/** @import { ComponentChildren } from 'preact' */

export function Loading() {
  return h(
    'div',
    { class: 'loading', role: 'status' },
    h('span', { class: 'unseen' }, 'Loading'),
    ...[70, 90, 55].map((percent) =>
      h('span', { class: 'loading-line', style: { '--percent': `${percent}%` } }),
    ),
  );
}

/** @param {{ error: unknown, retry: () => void }} props */
export function Failed({ error, retry }) {
  return h(
    'div',
    { class: 'empty', role: 'alert' },
    h('p', { class: 'empty-title' }, 'This could not be shown'),
    h('p', null, messageOf(error)),
    h('button', { type: 'button', class: 'button', onClick: retry }, 'Try again'),
  );
}

/** @param {{ title: string, children?: ComponentChildren }} props */
export function Empty({ title, children }) {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), h('p', null, children));
}
