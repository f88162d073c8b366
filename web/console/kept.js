/**
 * Keeps in the browser which projects somebody opened last, which groups of the menu they unfolded, where they had a new flag on, and when they
 * were here. Ids and times; nothing that lets anybody in.
 */
import { signal } from '@preact/signals';

/** Projects that count as used. */
const RECENT_MAX = 4;

/** Absence after which a visit is another one, in milliseconds. */
const VISIT_MS = 8 * 3_600_000;

/** @typedef {{ recent: readonly string[], unfolded: readonly string[], startsIn: readonly string[], seenAt: number, before: number }} Kept `startsIn`: the environments in which their last new flag was on at once; `before`: the end of the last visit, in milliseconds since 1970; 0 for none */

/** @type {Kept} */
const NOTHING = { recent: [], unfolded: [], startsIn: [], seenAt: 0, before: 0 };

export const kept = signal(NOTHING);

let key = '';

/** At the beginning of a session: several servers may share an address, and several people a browser. @param {number} userId */
export function openKept(userId) {
  key = `flagstaff ${new URL('.', document.baseURI).pathname} ${userId}`;
  kept.value = read();
  const now = Date.now();
  const { seenAt, before } = kept.value;
  keep({ seenAt: now, before: now - seenAt > VISIT_MS ? seenAt : before });
}

/** @returns {Kept} */
function read() {
  try {
    const { recent, unfolded, startsIn, seenAt, before } = JSON.parse(localStorage.getItem(key) ?? '{}');
    return {
      recent: textsIn(recent),
      unfolded: textsIn(unfolded),
      startsIn: textsIn(startsIn),
      seenAt: timeIn(seenAt),
      before: timeIn(before),
    };
  } catch {
    // The browser stores nothing, or somebody has changed it.
    return NOTHING;
  }
}

/** @param {unknown} list */
const textsIn = (list) => (Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []);

/** @param {unknown} time */
const timeIn = (time) => (typeof time === 'number' && time <= Date.now() ? time : 0);

/** @param {Partial<Kept>} changed */
function keep(changed) {
  kept.value = { ...kept.value, ...changed };
  try {
    localStorage.setItem(key, JSON.stringify(kept.value));
  } catch {
    // It is known until the page is left.
  }
}

/** @param {string} project */
export function keepProject(project) {
  const { recent } = kept.value;
  if (recent[0] !== project)
    keep({ recent: [project, ...recent.filter((id) => id !== project)].slice(0, RECENT_MAX) });
}

/** @param {string} group @param {boolean} isUnfolded */
export function keepGroup(group, isUnfolded) {
  const others = kept.value.unfolded.filter((name) => name !== group);
  keep({ unfolded: isUnfolded ? [...others, group] : others });
}

/** @param {readonly string[]} offered environments that could be chosen @param {readonly string[]} chosen */
export function keepStart(offered, chosen) {
  const others = kept.value.startsIn.filter((name) => !offered.includes(name));
  keep({ startsIn: [...others, ...chosen] });
}
