/**
 * Flags with a switch for each environment. On a phone the rows become cards; the roles keep them a table for those
 * who hear it, because a browser takes them away with the looks.
 */
import { h } from 'preact';
import { isProduction } from '../changes.js';
import { hrefOf } from '../place.js';
import { useSession } from '../session.js';
import { useVisibleRows } from './rows.js';
import { FlagSwitch } from './switch.js';
import { TimeAgo } from './time-ago.js';

/** @import { FlagSummary } from '../types.d.ts' */

/** Pixels, before one is measured. */
const ROW_HEIGHT = 43;

/**
 * @typedef {object} TableProps
 * @property {string} project
 * @property {readonly string[]} environments
 * @property {readonly FlagSummary[]} flags
 * @property {boolean} isDense
 * @property {ReadonlySet<string>} chosen names
 * @property {((names: readonly string[], isChosen: boolean) => void) | null} choose null where nothing may be changed
 */

/** @param {TableProps} props */
export function FlagTable({ project, environments, isDense, flags, chosen, choose }) {
  const session = useSession();
  const { body, from, to, before, after } = useVisibleRows(flags.length, ROW_HEIGHT);
  const isProductionAt = environments.map((name) => isProduction(session, name));
  return h(
    'div',
    { class: 'flags-scroll', role: 'group', tabIndex: -1, 'aria-label': 'Flags' },
    h(
      'table',
      {
        class: `flags${isDense ? ' flags-dense' : ''}`,
        style: { '--environments': String(environments.length) },
        role: 'table',
        'aria-label': 'Flags and their switches',
        'aria-rowcount': flags.length + 1,
      },
      h(TableHead, { environments, isProductionAt, flags, chosen, choose }),
      h(
        'tbody',
        { role: 'rowgroup', ref: body },
        before > 0
          ? h('tr', {
              key: 'before',
              'aria-hidden': 'true',
              style: { '--space': `${before}px` },
              class: 'space',
            })
          : null,
        flags.slice(from, to).map((flag, index) =>
          h(FlagRow, {
            key: flag.name,
            project,
            environments,
            isProductionAt,
            flag,
            index: from + index,
            isChosen: chosen.has(flag.name),
            choose,
          }),
        ),
        after > 0
          ? h('tr', {
              key: 'after',
              'aria-hidden': 'true',
              style: { '--space': `${after}px` },
              class: 'space',
            })
          : null,
      ),
    ),
  );
}

/** @param {Omit<TableProps, 'project' | 'isDense'> & { isProductionAt: readonly boolean[] }} props */
function TableHead({ environments, isProductionAt, flags, chosen, choose }) {
  const all = flags.length > 0 && flags.every(({ name }) => chosen.has(name));
  const names = () => flags.map(({ name }) => name);
  return h(
    'thead',
    { role: 'rowgroup' },
    h(
      'tr',
      { role: 'row' },
      choose === null
        ? null
        : h(
            'th',
            { role: 'columnheader', scope: 'col', class: 'cell-choose' },
            h('input', {
              type: 'checkbox',
              'aria-label': 'Choose all flags',
              checked: all,
              onChange: () => choose(names(), !all),
            }),
          ),
      h('th', { role: 'columnheader', scope: 'col', class: 'cell-name' }, 'Flag'),
      environments.map((name, index) =>
        h(
          'th',
          {
            key: name,
            role: 'columnheader',
            scope: 'col',
            class: `cell-switch${isProductionAt[index] ? ' production' : ''}`,
          },
          name,
        ),
      ),
    ),
  );
}

/**
 * @param {object} props
 * @param {string} props.project
 * @param {readonly string[]} props.environments
 * @param {readonly boolean[]} props.isProductionAt
 * @param {FlagSummary} props.flag
 * @param {number} props.index
 * @param {boolean} props.isChosen
 * @param {TableProps['choose']} props.choose
 */
function FlagRow({ project, environments, isProductionAt, flag, index, isChosen, choose }) {
  const { name } = flag;
  const states = new Map(flag.environments.map((one) => [one.name, one]));
  const href = hrefOf({ view: 'flag', project, flag: name });
  return h(
    'tr',
    { role: 'row', 'aria-rowindex': index + 2, 'data-row': name },
    choose === null
      ? null
      : h(
          'td',
          { role: 'cell', class: 'cell-choose' },
          h('input', {
            type: 'checkbox',
            'aria-label': `Choose ${name}`,
            checked: isChosen,
            onChange: () => choose([name], !isChosen),
          }),
        ),
    h(
      'th',
      { role: 'rowheader', scope: 'row', class: 'cell-name' },
      h(
        'div',
        { class: 'flag-line' },
        h('a', { href, title: flag.description || undefined }, h('code', null, name)),
        h(RowMeta, { flag }),
      ),
    ),
    environments.map((environment, at) => {
      const state = states.get(environment);
      return h(
        'td',
        {
          key: environment,
          role: 'cell',
          class: `cell-switch${isProductionAt[at] ? ' production' : ''}`,
          'data-label': environment,
        },
        h(FlagSwitch, { project, flag: name, environment, state }),
        state?.hasStrategies === false ? h('span', { class: 'cell-note' }, 'no rules') : null,
      );
    }),
  );
}

/** @param {{ flag: FlagSummary }} props */
function RowMeta({ flag: { type, createdAt, stale } }) {
  return h(
    'span',
    { class: 'row-meta' },
    h('span', null, type),
    h(TimeAgo, { iso: createdAt, prefix: 'created ' }),
    stale ? h('span', { class: 'badge badge-warn' }, 'stale') : null,
  );
}
