/** A table's rows as text, for whoever draws it. */
import { type Results, rowsOf } from './results.ts';
import { formatted, type TableView } from './tables.ts';

export interface Cells {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function cellsOf(view: TableView, results: Results): Cells {
  const axis = view.at === null ? [] : [view.at];
  const head = [view.what, ...axis, ...view.columns.map(({ title }) => title)];
  const rows = rowsOf(results, view.name).map(({ what, at, values }) => [
    what,
    ...axis.map(() => formatted(at ?? undefined, 'count')),
    ...view.columns.map(({ key, format }) => formatted(values[key], format)),
  ]);
  return { head, rows };
}
