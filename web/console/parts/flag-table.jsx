/**
 * Flags with a switch for each environment. On a phone the rows become cards; the roles keep them a table for those
 * who hear it, because a browser takes them away with the looks.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { amountOf } from '../audience.js';
import { flagPath } from '../changes.jsx';
import { COLUMNS, nextSort, sortedAs } from '../flag-order.js';
import { counted } from '../format.js';
import { isProduction, useSession } from '../session.js';
import { Button } from './button.jsx';
import { FlagLink } from './links.jsx';
import { Requested } from './request-state.jsx';
import { useVisibleRows } from './rows.js';
import { Star } from './star.jsx';
import { FlagSwitch } from './switch.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { FlagSummary } from '../types.d.ts' */

/** Pixels, before one is measured. */
const ROW_HEIGHT = 43;

/** Tags of a flag that its row names. */
const TAGS_NAMED = 2;

/**
 * @typedef {object} TableProps
 * @property {string} project
 * @property {readonly string[]} environments
 * @property {ReadonlySet<string>} columns keys of COLUMNS
 * @property {boolean} isChosen whether somebody has chosen the columns, which are shown then also where there is little room
 * @property {readonly FlagSummary[]} flags
 * @property {ReadonlySet<string>} requested names of flags that open requests change
 * @property {(id: number) => string} ownerName
 * @property {string} sort
 * @property {(sort: string) => void} setSort
 * @property {boolean} isDense
 * @property {ReadonlySet<string>} chosen names
 * @property {((names: readonly string[], isChosen: boolean) => void) | null} choose null where nothing may be changed
 */

/** @typedef {TableProps & { isProductionAt: readonly boolean[], shown: readonly (readonly [string, string])[] }} PartProps */

/** @param {TableProps} props */
export function FlagTable(props) {
  const { environments, columns, isChosen, isDense, flags } = props;
  const session = useSession();
  const { body, from, to, before, after } = useVisibleRows(flags.length, ROW_HEIGHT);
  const { scroller, isWide, hidden } = useHiddenColumns([environments.length, columns.size]);
  /** @type {PartProps} */
  const parts = {
    ...props,
    isProductionAt: environments.map((name) => isProduction(session, name)),
    shown: COLUMNS.filter(([key]) => columns.has(key)),
  };
  const looks = `flags${isDense ? ' flags-dense' : ''}${isChosen ? ' flags-chosen' : ''}`;
  const table = (
    <div class="flags-scroll" role="group" tabIndex={-1} aria-label="Flags" ref={scroller}>
      <table
        class={looks}
        style={{ '--environments': String(environments.length), '--columns': String(parts.shown.length) }}
        role="table"
        aria-label="Flags and their switches"
        aria-rowcount={flags.length + 1}
      >
        <TableHead {...parts} />
        <tbody role="rowgroup" ref={body}>
          {space('before', before)}
          {flags.slice(from, to).map((flag, index) => (
            <FlagRow key={flag.name} table={parts} flag={flag} index={from + index} />
          ))}
          {space('after', after)}
        </tbody>
      </table>
    </div>
  );
  return (
    <>
      {isWide ? (
        <p class="out-of-view">
          {hidden === 0 ? null : (
            <Button looks="quiet" act={() => scroller.current?.scrollBy(scroller.current.clientWidth / 2, 0)}>
              {`${counted(hidden, 'more environment')} to the right →`}
            </Button>
          )}
        </p>
      ) : null}
      {table}
    </>
  );
}

/** Counts the environments that are out of view on the right of a table that is wider than its place. @param {readonly unknown[]} of what decides how wide it is */
function useHiddenColumns(of) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [shown, setShown] = useState({ isWide: false, hidden: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = () => {
      const { right } = element.getBoundingClientRect();
      const heads = [...element.querySelectorAll('thead .cell-switch')];
      const isWide = element.scrollWidth > element.clientWidth;
      const hidden = heads.filter((one) => one.getBoundingClientRect().right > right + 1).length;
      setShown((before) =>
        before.isWide === isWide && before.hidden === hidden ? before : { isWide, hidden },
      );
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      resized.disconnect();
    };
  }, of);
  return { scroller, ...shown };
}

/** Stands for the rows that are not drawn. @param {string} key @param {number} height */
function space(key, height) {
  if (height <= 0) return null;
  return <tr key={key} aria-hidden="true" style={{ '--space': `${height}px` }} class="space" />;
}

/** @param {PartProps} props */
function TableHead({ environments, isProductionAt, shown, flags, chosen, choose, sort, setSort }) {
  const all = flags.length > 0 && flags.every(({ name }) => chosen.has(name));
  /** @param {string} column @param {string} title @param {string} kind */
  const head = (column, title, kind) => (
    <th key={column} role="columnheader" scope="col" class={kind} aria-sort={sortedAs(column, sort)}>
      <Button looks="sort" act={() => setSort(nextSort(column, sort))}>
        {title}
        <span class="sort-mark" aria-hidden="true">
          {MARKS[sortedAs(column, sort) ?? 'none']}
        </span>
      </Button>
    </th>
  );
  return (
    <thead role="rowgroup">
      <tr role="row">
        {choose === null ? null : (
          <th role="columnheader" scope="col" class="cell-choose">
            <input
              type="checkbox"
              aria-label="Select all flags"
              checked={all}
              onChange={() =>
                choose(
                  flags.map(({ name }) => name),
                  !all,
                )
              }
            />
          </th>
        )}
        {head('name', 'Flag', 'cell-name')}
        {shown.map(([key, title]) => head(key, title, `cell-more cell-${key}`))}
        {environments.map((name, index) =>
          head(`on ${name}`, name, `cell-switch${isProductionAt[index] ? ' production' : ''}`),
        )}
      </tr>
    </thead>
  );
}

const MARKS = { ascending: ' ↑', descending: ' ↓', none: '' };

/** @param {{ table: PartProps, flag: FlagSummary, index: number }} props */
function FlagRow({ table, flag, index }) {
  const { project, environments, isProductionAt, shown, chosen, choose, requested, ownerName } = table;
  const { name } = flag;
  const isChosen = chosen.has(name);
  const states = new Map(flag.environments.map((one) => [one.name, one]));
  return (
    <tr role="row" aria-rowindex={index + 2} data-row={name}>
      {choose === null ? null : (
        <td role="cell" class="cell-choose">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isChosen}
            onChange={() => choose([name], !isChosen)}
          />
        </td>
      )}
      <th role="rowheader" scope="row" class="cell-name">
        <div class="line flag-line">
          <Star at={flagPath(project, name)} name={name} isFavorite={flag.favorite} />
          {/* A long name is cut on a narrow screen. */}
          <FlagLink {...{ project, name }} title={[name, flag.description].filter(Boolean).join(': ')} />
          {flag.stale ? <span class="badge badge-warn">stale</span> : null}
          <Requested is={requested.has(name)} />
        </div>
      </th>
      {shown.map(([key, title]) => (
        <td key={key} role="cell" class={`hint cut cell-more cell-${key}`} data-label={title}>
          {moreOf(key, flag, ownerName)}
        </td>
      ))}
      {environments.map((environment, at) => {
        const state = states.get(environment);
        return (
          <td
            key={environment}
            role="cell"
            class={`cell-switch${isProductionAt[at] ? ' production' : ''}`}
            data-label={environment}
          >
            <FlagSwitch project={project} flag={name} environment={environment} state={state} />
            <span class="cell-note">{amountOf(state)}</span>
          </td>
        );
      })}
    </tr>
  );
}

/** The content of a further column. @param {string} key @param {FlagSummary} flag @param {(id: number) => string} ownerName */
function moreOf(key, { type, createdAt, createdByUserId, lastSeenAt, tags }, ownerName) {
  switch (key) {
    case 'type':
      return type;
    case 'owner':
      return ownerName(createdByUserId);
    case 'created':
      return <TimeAgo iso={createdAt} />;
    case 'seen':
      return lastSeenAt === null ? 'never' : <TimeAgo iso={lastSeenAt} />;
    default: {
      const rest = tags.length - TAGS_NAMED;
      const named = tags.slice(0, TAGS_NAMED).map(({ value }) => value);
      return named.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
    }
  }
}
