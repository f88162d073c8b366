/**
 * Flags with a switch for each environment. On a phone the rows become cards; the roles keep them a table for those
 * who hear it, because a browser takes them away with the looks.
 */
import { h } from './dom.js';
import { hrefOf } from './place.js';
import { flagSwitch } from './switch.js';
import { timeAgo } from './time-ago.js';

/** @import { FlagSummary, Session } from './types.d.ts' */

/**
 * @typedef {object} Rows
 * @property {string} project
 * @property {readonly string[]} environments
 * @property {readonly FlagSummary[]} flags
 * @property {(change: Promise<void>) => void} report
 */

/** @param {Session} session @param {Rows} rows */
export function flagTable(session, rows) {
  const heads = rows.environments.map((name) =>
    h('th', { role: 'columnheader', scope: 'col', class: 'cell-switch' }, name),
  );
  const first = h('th', { role: 'columnheader', scope: 'col' }, 'Flag');
  return h(
    'table',
    { class: 'flags', role: 'table', 'aria-label': 'Flags and their switches' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, first, ...heads)),
    h('tbody', { role: 'rowgroup' }, ...rows.flags.map((flag) => flagRow(session, rows, flag))),
  );
}

/** @param {Session} session @param {Rows} rows @param {FlagSummary} flag */
function flagRow(session, { project, environments, report }, flag) {
  const on = new Set(flag.environments.filter(({ enabled }) => enabled).map(({ name }) => name));
  const switches = environments.map((environment) => {
    const of = { project, flag: flag.name, environment, enabled: on.has(environment) };
    const props = { role: 'cell', class: 'cell-switch', 'data-label': environment };
    return h('td', props, flagSwitch(session, of, report));
  });
  const href = hrefOf({ view: 'flag', project, flag: flag.name });
  return h(
    'tr',
    { role: 'row' },
    h(
      'th',
      { role: 'rowheader', scope: 'row', class: 'cell-name' },
      h('a', { href, 'data-key': `flag ${flag.name}` }, h('code', null, flag.name)),
      rowMeta(flag),
    ),
    ...switches,
  );
}

/** @param {FlagSummary} flag */
function rowMeta({ type, createdAt, stale }) {
  const badge = stale ? h('span', { class: 'badge badge-warn' }, 'stale') : null;
  return h('span', { class: 'row-meta' }, h('span', null, type), timeAgo(createdAt, 'created '), badge);
}
