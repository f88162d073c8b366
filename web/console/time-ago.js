/** Times as how long ago they were, which goes on being true while they are looked at. */
import { h } from './dom.js';
import { ago, dateTime } from './format.js';

/** Between two renewals, in milliseconds. */
const PAUSE_MS = 15_000;

/** @param {string} iso @param {string} [prefix] */
export function timeAgo(iso, prefix = '') {
  const text = prefix + ago(iso, Date.now());
  return h('time', { datetime: iso, title: dateTime(iso), 'data-prefix': prefix }, text);
}

/** Keeps the moments within `root` true. Returns what ends it. @param {HTMLElement} root */
export function renewTimes(root) {
  const timer = setInterval(() => {
    for (const element of root.querySelectorAll('time')) {
      element.textContent = `${element.dataset['prefix'] ?? ''}${ago(element.dateTime, Date.now())}`;
    }
  }, PAUSE_MS);
  return () => clearInterval(timer);
}
