/** A page that lists things of one kind, with what can be done to each and a way to make another. */
import { useMemo } from 'preact/hooks';
import { counted } from '../format.js';
import { noticeRefusal } from '../notices.jsx';
import { useResource } from '../resource.jsx';
import { Name, visible } from '../said.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';
import { Icon } from './icon.jsx';
import { MoreMenu } from './more-menu.jsx';
import { Empty } from './states.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { EventHead } from '../types.d.ts' */
/** @import { Item } from './more-menu.jsx' */

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {readonly ComponentChildren[]} cells one for each column
 * @property {ComponentChildren} [actions]
 */

/** The head of a page. @param {{ title: ComponentChildren, beside?: ComponentChildren, lead?: string | null | undefined, action?: ComponentChildren, crumb?: ComponentChildren, children?: ComponentChildren }} props `title`, `lead`: texts may be what somebody wrote */
export const ListingHead = ({ title, beside = null, lead, action = null, crumb = null, children }) => (
  <div class="view-head">
    {crumb}
    <div class="row spread">
      <div class="row">
        <h1>{typeof title === 'string' ? <Name text={title} max={200} /> : title}</h1>
        {beside}
      </div>
      {action}
    </div>
    {lead ? (
      <p class="lead">
        <Name text={lead} max={1000} />
      </p>
    ) : null}
    {children}
  </div>
);

/** A part of a page. @param {{ title: string, lead?: string | undefined, action?: ComponentChildren, children?: ComponentChildren }} props */
export const Part = ({ title, lead, action = null, children }) => (
  <section class="part">
    <div class="row spread">
      <h2>{title}</h2>
      {action}
    </div>
    {lead === undefined ? null : <p class="muted">{lead}</p>}
    {children}
  </section>
);

/**
 * A table whose first column names the row, and rows below each other on a phone: the roles say so where styles hide it.
 * @param {{ label: string, columns: readonly string[], rows: readonly Row[], none: string, next?: string }} props
 */
export function Listing({ label, columns, rows, none, next }) {
  if (rows.length === 0) return <Empty title={none}>{next}</Empty>;
  return (
    <div class="listing-scroll" role="group" aria-label={label} tabIndex={0}>
      <table class="listing" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((title) => (
              <th key={title} role="columnheader" scope="col">
                {title}
              </th>
            ))}
            <td role="cell" />
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map(({ key, cells, actions = null }) => (
            <tr key={key} role="row" data-row={key}>
              {columns.map((title, index) =>
                index === 0 ? (
                  <th key={title} role="rowheader" scope="row">
                    {shownCell(cells[index])}
                  </th>
                ) : (
                  <td key={title} role="cell" data-label={title}>
                    {shownCell(cells[index])}
                  </td>
                ),
              )}
              <td role="cell" class="listing-actions">
                {actions}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A cell with a hint below it, where there is one. @param {{ note: string | null | undefined, children: ComponentChildren }} props */
export const Noted = ({ note, children }) => (
  <>
    {children}
    {note ? (
      <p class="hint">
        <Name text={note} max={300} />
      </p>
    ) : null}
  </>
);

/** A text of its own is what somebody wrote; without one the cell is empty. @param {ComponentChildren} cell */
const shownCell = (cell) => (typeof cell === 'string' && cell !== '' ? <Name text={cell} /> : cell);

/** Rows that a list begins with, and by which it grows when more are asked for: every search finds as many at once. */
const PAGE = 50;

/**
 * The rows that a search finds: some at first, and more as they are asked for.
 * @template Row
 * @param {string} search its path, with its conditions
 * @param {string} list the field of the response
 * @param {(event: EventHead) => boolean} isNews the events after which they are searched for again
 */
export function useFound(search, list, isNews) {
  const { client } = useSession();
  const asked = useMemo(() => ({ count: PAGE }), [search]);
  const load = async () => {
    const offsets = Array.from({ length: asked.count / PAGE }, (_, index) => index * PAGE);
    const pages = await Promise.all(
      offsets.map((offset) => client.get(`${search}&offset=${offset}&limit=${PAGE}`)),
    );
    // What came between two pages moves rows of the one into the other.
    const rows = new Map(pages.flatMap((page) => page[list]).map((row) => [row.id ?? row.name, row]));
    const total = /** @type {number} */ (pages[0].total);
    return { rows: /** @type {readonly Row[]} */ ([...rows.values()]), total, page: pages[0] };
  };
  const resource = useResource(load, [client, search], isNews);
  const more = async () => {
    asked.count += PAGE;
    await resource.refresh();
    if (resource.error.value !== null) noticeRefusal(resource.error.value);
  };
  return { ...resource, more };
}

/** The rows that were found, with how many there are and a way to more of them. @param {Parameters<typeof Listing>[0] & { one: string, total: number, more: () => void }} props */
export const FoundListing = ({ one, total, more, ...listing }) => (
  <>
    <p class="muted" role="status">
      {counted(total, one)}
    </p>
    <Listing {...listing} />
    {listing.rows.length < total ? (
      <p class="more">
        <Button act={more}>{`More ${one}s`}</Button>
      </p>
    ) : null}
  </>
);

/**
 * A small button of a row. Its name says of which row it is.
 * @param {{ text: string, of: string, act: () => unknown, disabled?: boolean }} props
 */
export function RowAction({ text, of, act, disabled = false }) {
  return (
    <Button
      looks={`quiet${text.startsWith('Delete') ? ' quiet-danger' : ''}`}
      aria-label={`${text} ${visible(of)}`}
      disabled={disabled}
      act={() => act()}
    >
      {text}
    </Button>
  );
}

/** The actions of a row: the first in sight, the others below three dots; null for what nobody may do. @param {{ of: string, items: readonly (Item | null)[] }} props */
export function RowActions({ of, items }) {
  const [first, ...others] = items.filter((item) => item !== null);
  if (first === undefined) return null;
  const [text, , act] = first;
  return (
    <>
      <RowAction text={text} of={of} act={act} />
      <MoreMenu label={`More for ${visible(of)}`} of={of} items={others} />
    </>
  );
}

/** Makes another one. The main action of a page is its one filled button. @param {{ text: string, act: () => unknown, isMain?: boolean }} props */
export const AddButton = ({ text, act, isMain = false }) => (
  <Button looks={`button${isMain ? ' button-main' : ''}`} act={act}>
    <Icon name="add" />
    {text}
  </Button>
);
