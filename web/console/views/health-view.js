/** How the server is: whether it takes changes, how far they are on disk, and what it takes of the machine. */
import { h, show } from '../dom.js';
import { bytes, counted, dateTime, duration, number } from '../format.js';
import { loader } from '../loading.js';

/** @import { Figures, Session, View } from '../types.d.ts' */

/** Between two looks, in milliseconds. */
const PAUSE_MS = 5_000;

/** @param {Session} session @returns {View} */
export function healthView(session) {
  const body = h('div', null);
  const refresh = loader(
    body,
    () => session.client.get('/instance-stats'),
    (figures) => show(body, ...content(figures)),
  );
  void refresh();
  const timer = setInterval(() => {
    if (!document.hidden) void refresh();
  }, PAUSE_MS);
  return {
    title: 'Health',
    element: h('div', null, h('h1', null, 'Health'), body),
    close: () => clearInterval(timer),
  };
}

/** @param {Figures} figures */
function content(figures) {
  const behind = figures.lastEventId - figures.durableEventId;
  return [
    verdict(figures),
    group('Holds', [
      tile('Projects', number(figures.projects)),
      tile('Flags', number(figures.flags), 'archived ones included'),
      tile('Users', number(figures.users)),
      tile('Events', number(figures.events), 'that can be searched'),
    ]),
    group('On disk', [
      tile(
        'Newest event',
        `#${figures.lastEventId}`,
        behind === 0 ? 'on disk' : `${number(behind)} not on disk yet`,
      ),
      tile('Journal', bytes(figures.journal.bytes), counted(figures.journal.segments, 'file')),
      snapshotTile(figures.snapshots),
      tile('Free space', figures.disk.freeBytes === null ? 'unknown' : bytes(figures.disk.freeBytes)),
    ]),
    group('Process', [
      tile(
        'Memory',
        bytes(figures.memory.rssBytes),
        `${bytes(figures.memory.heapUsedBytes)} of it live data`,
      ),
      tile('Up for', duration(figures.uptimeSeconds)),
      tile('Connections', number(figures.connections), `${number(figures.waitingCommands)} changes waiting`),
      tile(
        'Version',
        figures.version,
        figures.httpEngine === 'uws' ? 'HTTP by uWebSockets.js' : 'HTTP by node:http',
      ),
    ]),
  ];
}

/** @param {Figures} figures */
function verdict({ writable, refusalReason }) {
  return h(
    'p',
    { class: `verdict ${writable ? 'verdict-good' : 'verdict-bad'}`, role: 'status' },
    h('span', { class: 'verdict-dot', 'aria-hidden': 'true' }),
    writable
      ? 'All is well: changes are accepted and made durable.'
      : `No changes are accepted: ${refusalReason ?? ''}`,
  );
}

/** @param {Figures['snapshots']} snapshots */
function snapshotTile({ count, newest }) {
  if (newest === null) return tile('Newest snapshot', 'none yet', 'a start replays the whole journal');
  const age = `${duration(newest.ageSeconds)} old, ${bytes(newest.bytes)}, ${counted(count, 'kept', 'kept')}`;
  return tile('Newest snapshot', `#${newest.eventId}`, age, dateTime(newest.eventAt));
}

/** @param {string} title @param {readonly HTMLElement[]} tiles */
function group(title, tiles) {
  return h('section', { class: 'figures' }, h('h2', null, title), h('dl', { class: 'tiles' }, ...tiles));
}

/** @param {string} name @param {string} value @param {string} [note] @param {string} [title] */
function tile(name, value, note = '', title = '') {
  return h(
    'div',
    { class: 'tile', title: title || null },
    h('dt', null, name),
    h('dd', { class: 'tile-value' }, value),
    note === '' ? null : h('dd', { class: 'tile-note' }, note),
  );
}
