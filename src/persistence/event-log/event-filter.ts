/**
 * Filters over events. Before a scan, a filter is compiled to comparisons of codes, so that scanning a million rows
 * reads no string. A filter with a name that no event has compiles to null, because no event can match.
 */
import type { SegmentView } from './event-columns.ts';
import { type NameTable, NO_NAME } from './name-table.ts';

/** One name, or several of which any will do. */
export type Names = string | readonly string[];

/** Null stands for events that have no name of the kind. */
type Wanted = string | readonly (string | null)[];

/** All the given conditions hold. Comparisons are case-sensitive. */
export interface EventFilter {
  readonly types?: readonly string[];
  readonly project?: Names;
  /** Projects whose events do not match. */
  readonly hiddenProjects?: readonly string[];
  readonly feature?: Names;
  readonly environment?: Names;
  /** Names of those who made the change. */
  readonly authors?: readonly string[];
  readonly ids?: readonly number[];
}

/** A search, as those who ask send it. */
export interface EventQuery {
  readonly type?: Names;
  readonly project?: Names;
  /** Projects whose events are left out, wherever they are named. */
  readonly hiddenProjects?: readonly string[];
  readonly feature?: Names;
  readonly environment?: Names;
  /** Names of those who made the change. */
  readonly authors?: readonly string[];
  readonly ids?: readonly number[];
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

/** The events that a search is about. */
export interface EventSpan {
  readonly oldestId: number;
  readonly newestId: number;
  /** The page has no newer event. */
  readonly pageFrom: number;
}

export function filterOf({
  type,
  project,
  hiddenProjects,
  feature,
  environment,
  authors,
  ids,
}: EventQuery): EventFilter {
  return {
    ...(type === undefined ? {} : { types: typeof type === 'string' ? [type] : type }),
    ...(project === undefined ? {} : { project }),
    ...(hiddenProjects === undefined || hiddenProjects.length === 0 ? {} : { hiddenProjects }),
    ...(feature === undefined ? {} : { feature }),
    ...(environment === undefined ? {} : { environment }),
    ...(authors === undefined ? {} : { authors }),
    ...(ids === undefined ? {} : { ids }),
  };
}

/** The wanted codes of one column; at least one. */
export interface Condition {
  readonly codes: readonly number[];
  /** By code: 1 where the name is wanted. Null when one code is wanted, which is compared. */
  readonly table: Uint8Array | null;
}

/** Plain data, so that it can be handed to another thread. A condition is null when every name is wanted. */
export interface CodeFilter {
  readonly types: Condition | null;
  readonly projects: Condition | null;
  readonly features: Condition | null;
  readonly environments: Condition | null;
  readonly authors: Condition | null;
  readonly ids: ReadonlySet<number> | null;
  /** Older events do not match. */
  readonly oldestId: number;
}

export const MATCH_ALL: CodeFilter = {
  types: null,
  projects: null,
  features: null,
  environments: null,
  authors: null,
  ids: null,
  oldestId: 0,
};

export interface EventNames {
  readonly types: NameTable;
  readonly projects: NameTable;
  readonly features: NameTable;
  readonly environments: NameTable;
  readonly authors: NameTable;
}

/** Null when no event can match. */
export function compileFilter(filter: EventFilter, names: EventNames, oldestId = 0): CodeFilter | null {
  const types = condition(filter.types, names.types);
  const projects = condition(visibleProjects(filter, names.projects), names.projects);
  const features = condition(filter.feature, names.features);
  const environments = condition(filter.environment, names.environments);
  const authors = condition(filter.authors, names.authors);
  if (types === NOTHING || projects === NOTHING || features === NOTHING) return null;
  if (environments === NOTHING || authors === NOTHING || filter.ids?.length === 0) return null;
  const ids = filter.ids === undefined ? null : new Set(filter.ids);
  return { types, projects, features, environments, authors, ids, oldestId };
}

function visibleProjects(
  { project, hiddenProjects = [] }: EventFilter,
  names: NameTable,
): Wanted | undefined {
  if (hiddenProjects.length === 0) return project;
  const hidden = new Set<string | null>(hiddenProjects);
  const wanted: Iterable<string | null> = project === undefined ? names.all() : listOf(project);
  return [...wanted].filter((name) => !hidden.has(name));
}

const listOf = (names: Wanted): readonly (string | null)[] => (typeof names === 'string' ? [names] : names);

const NOTHING = Symbol('no event has such a name');

function condition(wanted: Wanted | undefined, names: NameTable): Condition | null | typeof NOTHING {
  if (wanted === undefined) return null;
  const codes = new Set<number>();
  for (const name of listOf(wanted)) {
    const code = name === null ? NO_NAME : names.find(name);
    if (code !== null) codes.add(code);
  }
  if (codes.size === 0) return NOTHING;
  return { codes: [...codes], table: codes.size === 1 ? null : tableOf(codes) };
}

/** No longer than the greatest code: a column can have many more names than are asked for. */
function tableOf(codes: ReadonlySet<number>): Uint8Array {
  let greatest = 0;
  for (const code of codes) greatest = Math.max(greatest, code);
  const table = new Uint8Array(greatest + 1);
  for (const code of codes) table[code] = 1;
  return table;
}

export const matchesAll = ({ oldestId, ...conditions }: CodeFilter): boolean =>
  oldestId === 0 && Object.values(conditions).every((condition) => condition === null);

/** A filter over the rows of one segment, without the conditions that every row meets: most filters have one or two. */
export class RowTest {
  readonly #firstId: number;
  readonly #oldestRow: number;
  readonly #ids: ReadonlySet<number> | null;
  readonly #conditions: Condition[] = [];
  /** The columns that the conditions are about, in their order. */
  readonly #columns: Uint32Array[] = [];

  constructor(filter: CodeFilter, view: SegmentView) {
    const { features, environments, projects, types, authors, ids } = filter;
    const { feature, environment, project, type, by } = view.columns;
    this.#firstId = view.firstId;
    this.#oldestRow = firstRow(filter, view);
    this.#ids = ids;
    this.#add(features, feature);
    this.#add(environments, environment);
    this.#add(types, type);
    this.#add(projects, project);
    this.#add(authors, by);
  }

  #add(condition: Condition | null, column: Uint32Array): void {
    if (condition === null) return;
    this.#conditions.push(condition);
    this.#columns.push(column);
  }

  /** The newest row at this one or before it that matches; -1 for none. */
  newestMatch(from: number): number {
    const [column, condition] = [this.#columns[0], this.#conditions[0]];
    if (column === undefined || condition === undefined) return this.#newestOfAll(from);
    const { codes, table } = condition;
    const [code, oldestRow] = [codes[0], this.#oldestRow];
    const isOnly = this.#conditions.length === 1 && this.#ids === null;
    // Most rows fail the first condition, which is compared without a call.
    for (let row = from; row >= oldestRow; row -= 1) {
      const isWanted = table === null ? column[row] === code : table[column[row]!] === 1;
      if (isWanted && (isOnly || this.matches(row))) return row;
    }
    return -1;
  }

  /** How many rows match up to this one. */
  count(to: number): number {
    let count = 0;
    const [first, second = first, third] = this.#conditions;
    const [column, other = column] = this.#columns;
    if (first === undefined || second === undefined || third !== undefined || this.#ids !== null) {
      for (let row = this.newestMatch(to); row >= 0; row = this.newestMatch(row - 1)) count += 1;
      return count;
    }
    // One condition or two, compared without a call.
    const [{ table, codes }, { table: otherTable, codes: otherCodes }] = [first, second];
    const [code, otherCode] = [codes[0], otherCodes[0]];
    for (let row = to; row >= this.#oldestRow; row -= 1) {
      if (
        (table === null ? column![row] === code : table[column![row]!] === 1) &&
        (otherTable === null ? other![row] === otherCode : otherTable[other![row]!] === 1)
      )
        count += 1;
    }
    return count;
  }

  #newestOfAll(from: number): number {
    for (let row = from; row >= this.#oldestRow; row -= 1) if (this.matches(row)) return row;
    return -1;
  }

  matches(row: number): boolean {
    if (row < this.#oldestRow) return false;
    const conditions = this.#conditions;
    for (let at = 0; at < conditions.length; at += 1) {
      if (!isWanted(conditions[at]!, this.#columns[at]![row])) return false;
    }
    return this.#ids === null || this.#ids.has(this.#firstId + row);
  }
}

function isWanted({ codes, table }: Condition, code = 0): boolean {
  return table === null ? codes[0] === code : table[code] === 1;
}

/** The first row of the segment that is not too old. */
export const firstRow = ({ oldestId }: CodeFilter, { firstId }: SegmentView): number =>
  Math.max(0, oldestId - firstId);

/**
 * Up to `limit` ids, newest first, none newer than `newestId`, and without the newest `skip` of those; further matches are
 * only counted.
 */
export class IdPage {
  readonly newestId: number;
  readonly limit: number;
  readonly ids: number[] = [];
  total = 0;
  #toSkip: number;

  constructor(newestId: number, limit: number, skip = 0) {
    this.newestId = newestId;
    this.limit = limit;
    this.#toSkip = skip;
  }

  get isFull(): boolean {
    return this.ids.length >= this.limit;
  }

  get toSkip(): number {
    return this.#toSkip;
  }

  /** Takes and counts neighbouring events, both included, all of which match. */
  takeAll(firstId: number, lastId: number): void {
    this.total += lastId - firstId + 1;
    const newest = Math.min(lastId, this.newestId);
    const skipped = Math.min(this.#toSkip, Math.max(0, newest - firstId + 1));
    this.#toSkip -= skipped;
    for (let id = newest - skipped; id >= firstId && !this.isFull; id -= 1) this.ids.push(id);
  }

  /** Takes a match that is counted already; they come newest first. */
  offer(id: number): void {
    if (id > this.newestId || this.isFull) return;
    if (this.#toSkip > 0) this.#toSkip -= 1;
    else this.ids.push(id);
  }
}
