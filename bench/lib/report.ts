/** The results page. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cellsOf } from './cells.ts';
import { type Results, rowsOf } from './results.ts';
import { ROOT_FOLDER } from './server-process.ts';
import { TABLE_VIEWS, type TableView } from './tables.ts';

export const REPORT_FILE = join(ROOT_FOLDER, 'bench', 'RESULTS.md');

export function writeReport(results: Results): void {
  writeFileSync(REPORT_FILE, reportText(results));
}

export function reportText(results: Results): string {
  const views = TABLE_VIEWS.filter(({ name }) => rowsOf(results, name).length > 0);
  return ['# What it does on a machine', ...views.map((view) => tableSection(view, results))]
    .join('\n\n')
    .concat('\n');
}

function tableSection(view: TableView, results: Results): string {
  const { head, rows } = cellsOf(view, results);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return `## ${view.title}\n\n${view.note}\n\n${[head, rule, ...rows].map(line).join('\n')}`;
}
