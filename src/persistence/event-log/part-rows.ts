/**
 * The rows of a part of the journal that a start has left unread. The thread of the log reader makes them while it verifies the part, with
 * codes of its own for the names; the index takes them in slices, with the codes of its tables.
 */
import assert from 'node:assert/strict';
import type { ColumnSet } from './event-columns.ts';
import type { EventIndex } from './event-index.ts';
import type { NameTable } from './name-table.ts';

type NamedColumn = Exclude<keyof ColumnSet, 'at' | 'offset'>;

/** The names of a table but for no name, in the order of their codes, one behind the other in UTF-8: clones of many strings would hold the event loop. */
interface PackedNames {
  readonly lengths: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Plain data, so that it can be handed to another thread. */
export interface PartRows {
  readonly columns: ColumnSet;
  readonly names: Readonly<Record<NamedColumn, PackedNames>>;
}

/** Names looked up between two turns of the event loop: about a millisecond's worth. */
const NAMES_PER_SLICE = 2_048;

export function rowsOf(index: EventIndex): PartRows {
  const view = index.viewOf(index.lastId);
  assert(view !== null, 'a part of the journal has an event');
  const { type, project, feature, environment, by } = tablesOf(index);
  return {
    columns: view.columns,
    names: {
      type: packed(type),
      project: packed(project),
      feature: packed(feature),
      environment: packed(environment),
      by: packed(by),
    },
  };
}

/** Yields after each piece of work. The index has all of the rows at the end, and none before. */
export function* fillRows(index: EventIndex, segment: number, { columns, names }: PartRows): Generator<void> {
  const tables = tablesOf(index);
  for (const name of Object.keys(tables) as NamedColumn[]) {
    const codes = yield* codesOf(names[name], tables[name]);
    const column = columns[name];
    for (let row = 0; row < column.length; row += 1) column[row] = codes[column[row]!]!;
    yield;
  }
  index.fill(segment, columns);
}

function tablesOf({ names }: EventIndex): Record<NamedColumn, NameTable> {
  const { types, projects, features, environments, authors } = names;
  return { type: types, project: projects, feature: features, environment: environments, by: authors };
}

function packed(table: NameTable): PackedNames {
  const names = table
    .all()
    .slice(1)
    .map((name) => Buffer.from(name ?? ''));
  return { lengths: Uint32Array.from(names, ({ length }) => length), bytes: Buffer.concat(names) };
}

function* codesOf({ lengths, bytes }: PackedNames, table: NameTable): Generator<void, Uint32Array> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const codes = new Uint32Array(lengths.length + 1);
  let at = 0;
  for (const [place, length] of lengths.entries()) {
    codes[place + 1] = table.codeOf(text.toString('utf8', at, at + length));
    at += length;
    if (place % NAMES_PER_SLICE === NAMES_PER_SLICE - 1) yield;
  }
  return codes;
}
