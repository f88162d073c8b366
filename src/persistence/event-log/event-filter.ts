/**
 * Filters over events. Before a scan, a filter is compiled to comparisons of codes, so that scanning a million rows
 * reads no string. A filter with a name that no event has compiles to null, because no event can match.
 */
import type { SegmentView } from './event-columns.ts';
import type { NameTable } from './name-table.ts';

/** All the given conditions hold. Comparisons are case-sensitive. */
export interface EventFilter {
  readonly types?: readonly string[];
  readonly project?: string;
  readonly feature?: string;
}

const ANY = -1;

/** Plain data, so that it can be handed to another thread. */
export interface CodeFilter {
  /** By type code: 1 where the type is wanted; null when every type is. */
  readonly types: Uint8Array | null;
  readonly project: number;
  readonly feature: number;
}

export const MATCH_ALL: CodeFilter = { types: null, project: ANY, feature: ANY };

export interface EventNames {
  readonly types: NameTable;
  readonly projects: NameTable;
  readonly features: NameTable;
}

/** Null when no event can match. */
export function compileFilter(filter: EventFilter, names: EventNames): CodeFilter | null {
  const types = filter.types === undefined ? null : typeTable(filter.types, names.types);
  const project = filter.project === undefined ? ANY : names.projects.find(filter.project);
  const feature = filter.feature === undefined ? ANY : names.features.find(filter.feature);
  if (project === null || feature === null || (types !== null && !types.includes(1))) return null;
  return { types, project, feature };
}

function typeTable(types: readonly string[], names: NameTable): Uint8Array {
  const table = new Uint8Array(names.size);
  for (const type of types) {
    const code = names.find(type);
    if (code !== null) table[code] = 1;
  }
  return table;
}

export const matchesAll = (filter: CodeFilter): boolean =>
  filter.types === null && filter.project === ANY && filter.feature === ANY;

export function rowMatches(filter: CodeFilter, view: SegmentView, row: number): boolean {
  const { type, project, feature } = view.columns;
  return (
    (filter.feature === ANY || feature[row] === filter.feature) &&
    (filter.project === ANY || project[row] === filter.project) &&
    (filter.types === null || filter.types[type[row] ?? 0] === 1)
  );
}

/** Up to `limit` ids, newest first, none newer than `newestId`; further matches are only counted. */
export class IdPage {
  readonly newestId: number;
  readonly limit: number;
  readonly ids: number[] = [];
  total = 0;

  constructor(newestId: number, limit: number) {
    this.newestId = newestId;
    this.limit = limit;
  }
}

/**
 * Goes through a segment from its newest row to its oldest. Call it for the newest segment first.
 *
 * The condition is that of `rowMatches`, written out so that the columns are looked up once and not once a row: that
 * halves the time, and this is the loop that every filtered listing runs over the whole log to count its matches.
 */
export function collectMatches(
  { types, project, feature }: CodeFilter,
  view: SegmentView,
  page: IdPage,
): void {
  const { firstId, columns } = view;
  const [typeColumn, projectColumn, featureColumn] = [columns.type, columns.project, columns.feature];
  let total = 0;
  for (let row = view.count - 1; row >= 0; row--) {
    if (feature !== ANY && featureColumn[row] !== feature) continue;
    if (project !== ANY && projectColumn[row] !== project) continue;
    if (types !== null && types[typeColumn[row] as number] !== 1) continue;
    total++;
    const id = firstId + row;
    if (id <= page.newestId && page.ids.length < page.limit) page.ids.push(id);
  }
  page.total += total;
}
