/** The states of a view that has nothing to show yet, or nothing at all. */
import { messageOf } from './client.js';
import { h } from './dom.js';

export function loading() {
  return h(
    'div',
    { class: 'loading', role: 'status' },
    h('span', { class: 'unseen' }, 'Loading'),
    ...[70, 90, 55].map((percent) => h('span', { class: 'loading-line', vars: { percent: `${percent}%` } })),
  );
}

/** @param {unknown} error @param {() => void} retry */
export function failed(error, retry) {
  return h(
    'div',
    { class: 'empty', role: 'alert' },
    h('p', { class: 'empty-title' }, 'This could not be shown'),
    h('p', null, messageOf(error)),
    h('button', { type: 'button', class: 'button', onclick: retry }, 'Try again'),
  );
}

/** @param {string} title @param {...(Node | string)} text */
export function empty(title, ...text) {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), h('p', null, ...text));
}

/**
 * Loads again and again what a view shows: one request at a time, and one more when something changed meanwhile.
 * After the first success a failure leaves standing what was shown.
 * @template T
 * @param {HTMLElement} container
 * @param {() => Promise<T>} load
 * @param {(loaded: T) => void} render
 */
export function loader(container, load, render) {
  let shown = false;
  let running = false;
  let again = false;
  async function refresh() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      render(await load());
      shown = true;
    } catch (error) {
      if (!shown) container.replaceChildren(failed(error, refresh));
    }
    running = false;
    if (!again) return;
    again = false;
    await refresh();
  }
  container.replaceChildren(loading());
  return refresh;
}
