/**
 * Filters over events. Before a scan, a filter is compiled to tables of codes, so that scanning a million rows reads no string.
 */
import type { ColumnName, SegmentView } from './event-columns.ts';
import type { NameTable } from './name-table.ts';

/** One name, or several of which any will do. */
export type Names = string | readonly string[];

/** All the given conditions hold. Comparisons are case-sensitive. */
export interface EventFilter {
  readonly type?: Names;
  readonly project?: Names;
  /** Projects whose events are left out, wherever they are named. */
  readonly hiddenProjects?: readonly string[];
  readonly feature?: Names;
  readonly environment?: Names;
  /** Names of those who made the change. */
  readonly authors?: readonly string[];
  readonly ids?: readonly number[];
}

/** A search, as those who ask send it. */
export interface EventQuery extends EventFilter {
  /** Milliseconds since 1970, both included. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** Text to look for, case-insensitive, in type, author and data. Empty counts as absent. */
  readonly query?: string;
  readonly limit: number;
  /** Id of the newest event to list; 0 for the newest of all. */
  readonly offset: number;
  /** How many of the newest matches to pass over. */
  readonly skip?: number;
}

/** Plain data, so that it can be handed to another thread. */
export interface CodeFilter {
  /** By code: 1 where the name is wanted. */
  readonly conditions: readonly { readonly column: ColumnName; readonly wanted: Uint8Array }[];
  readonly ids: readonly number[] | null;
  /** Older events do not match. */
  readonly oldestId: number;
}

export interface EventNames {
  readonly types: NameTable;
  readonly projects: NameTable;
  readonly features: NameTable;
  readonly environments: NameTable;
  readonly authors: NameTable;
}

export function compileFilter(filter: EventFilter, names: EventNames, oldestId = 0): CodeFilter {
  const conditions: CodeFilter['conditions'][number][] = [];
  const add = (
    column: ColumnName,
    table: NameTable,
    wanted: Names | undefined,
    hidden: readonly string[] = [],
  ): void => {
    if (wanted === undefined && hidden.length === 0) return;
    const codes = new Uint8Array(table.size);
    const mark = (name: string, value: number): void => {
      const code = table.find(name);
      if (code !== null) codes[code] = value;
    };
    if (wanted === undefined) codes.fill(1);
    else for (const name of typeof wanted === 'string' ? [wanted] : wanted) mark(name, 1);
    for (const name of hidden) mark(name, 0);
    conditions.push({ column, wanted: codes });
  };
  add('type', names.types, filter.type);
  add('project', names.projects, filter.project, filter.hiddenProjects);
  add('feature', names.features, filter.feature);
  add('environment', names.environments, filter.environment);
  add('by', names.authors, filter.authors);
  return { conditions, ids: filter.ids ?? null, oldestId };
}

/** By row: 1 where the event matches. */
export function matchingRows({ conditions, ids, oldestId }: CodeFilter, view: SegmentView): Uint8Array {
  const { firstId, count, columns } = view;
  const matches = new Uint8Array(count);
  const oldest = Math.max(0, oldestId - firstId);
  if (ids === null) matches.fill(1, oldest);
  else for (const id of ids) if (id - firstId >= oldest && id - firstId < count) matches[id - firstId] = 1;
  for (const { column, wanted } of conditions) {
    const codes = columns[column];
    for (let row = oldest; row < count; row += 1) matches[row]! &= wanted[codes[row]!]!;
  }
  return matches;
}

/**
 * Up to `limit` ids, newest first, none newer than `newestId`, and without the newest `skip` of those; further matches are
 * only counted.
 */
export class IdPage {
  readonly newestId: number;
  readonly limit: number;
  readonly ids: number[] = [];
  total = 0;
  toSkip: number;

  constructor(newestId: number, limit: number, skip = 0) {
    this.newestId = newestId;
    this.limit = limit;
    this.toSkip = skip;
  }

  /** Takes the events of a segment whose rows are 1. Call it for the newest segment first. */
  take(firstId: number, rows: Uint8Array): void {
    for (let row = 0; row < rows.length; row += 1) if (rows[row] === 1) this.total += 1;
    for (let row = Math.min(rows.length - 1, this.newestId - firstId); row >= 0; row -= 1) {
      if (rows[row] !== 1) continue;
      if (this.ids.length >= this.limit) return;
      if (this.toSkip > 0) this.toSkip -= 1;
      else this.ids.push(firstId + row);
    }
  }
}
