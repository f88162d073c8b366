/**
 * Filters over events. Before a scan, a filter is compiled to comparisons of codes, so that scanning a million rows
 * reads no string. A filter with a name that no event has compiles to null, because no event can match.
 */
import type { SegmentView } from './event-columns.ts';
import type { NameTable } from './name-table.ts';

/** One name, or several of which any will do. */
export type Names = string | readonly string[];

/** All the given conditions hold. Comparisons are case-sensitive. */
export interface EventFilter {
  readonly types?: readonly string[];
  readonly project?: Names;
  readonly feature?: Names;
  /** Names of those who made the change. */
  readonly authors?: readonly string[];
}

/** By code: 1 where the name is wanted; null when every one is. */
type CodeTable = Uint8Array | null;

/** Plain data, so that it can be handed to another thread. */
export interface CodeFilter {
  readonly types: CodeTable;
  readonly projects: CodeTable;
  readonly features: CodeTable;
  readonly authors: CodeTable;
  /** Older events do not match. */
  readonly oldestId: number;
}

export const MATCH_ALL: CodeFilter = {
  types: null,
  projects: null,
  features: null,
  authors: null,
  oldestId: 0,
};

export interface EventNames {
  readonly types: NameTable;
  readonly projects: NameTable;
  readonly features: NameTable;
  readonly authors: NameTable;
}

/** Null when no event can match. */
export function compileFilter(filter: EventFilter, names: EventNames, oldestId = 0): CodeFilter | null {
  const types = codeTable(filter.types, names.types);
  const projects = codeTable(filter.project, names.projects);
  const features = codeTable(filter.feature, names.features);
  const authors = codeTable(filter.authors, names.authors);
  const isImpossible = [types, projects, features, authors].some((table) => table?.includes(1) === false);
  return isImpossible ? null : { types, projects, features, authors, oldestId };
}

function codeTable(wanted: Names | undefined, names: NameTable): CodeTable {
  if (wanted === undefined) return null;
  const table = new Uint8Array(names.size);
  for (const name of typeof wanted === 'string' ? [wanted] : wanted) {
    const code = names.find(name);
    if (code !== null) table[code] = 1;
  }
  return table;
}

export const matchesAll = ({ types, projects, features, authors, oldestId }: CodeFilter): boolean =>
  types === null && projects === null && features === null && authors === null && oldestId === 0;

export function rowMatches(filter: CodeFilter, view: SegmentView, row: number): boolean {
  const { type, project, feature, by } = view.columns;
  return (
    row >= firstRow(filter, view) &&
    isWanted(filter.features, feature[row]) &&
    isWanted(filter.projects, project[row]) &&
    isWanted(filter.types, type[row]) &&
    isWanted(filter.authors, by[row])
  );
}

const isWanted = (table: CodeTable, code = 0): boolean => table === null || table[code] === 1;

const firstRow = ({ oldestId }: CodeFilter, { firstId }: SegmentView): number =>
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

  get toSkip(): number {
    return this.#toSkip;
  }

  /** Takes a match that is counted already; they come newest first. */
  offer(id: number): void {
    if (id > this.newestId || this.ids.length >= this.limit) return;
    if (this.#toSkip > 0) this.#toSkip -= 1;
    else this.ids.push(id);
  }
}

/**
 * Goes through a segment from its newest row to its oldest. Call it for the newest segment first.
 *
 * The condition is that of `rowMatches`, written out so that the columns are looked up once and not once a row: that
 * halves the time, and this is the loop that every filtered listing runs over the whole log to count its matches.
 */
export function collectMatches(filter: CodeFilter, view: SegmentView, page: IdPage): void {
  const { types, projects, features, authors } = filter;
  const { firstId, columns } = view;
  const { type, project, feature, by } = columns;
  const oldestRow = firstRow(filter, view);
  for (let row = view.count - 1; row >= oldestRow; row--) {
    if (features !== null && features[feature[row] as number] !== 1) continue;
    if (projects !== null && projects[project[row] as number] !== 1) continue;
    if (types !== null && types[type[row] as number] !== 1) continue;
    if (authors !== null && authors[by[row] as number] !== 1) continue;
    page.total++;
    page.offer(firstId + row);
  }
}
