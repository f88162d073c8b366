/** The tables at the end of a run, for a terminal. */
import { cellsOf } from './cells.ts';
import { GOALS, verdictOf } from './goals.ts';
import { type Results, rowsOf } from './results.ts';
import { TABLE_VIEWS, type TableView } from './tables.ts';

export function terminalReport(results: Results): string {
  const tables = TABLE_VIEWS.filter(({ name }) => rowsOf(results, name).length > 0);
  return `${tables.map((view) => tableText(view, results)).join('')}${goalsText(results)}`;
}

/** Says of a run with few requests what it shows: rates of so few mean nothing. */
export const quickReport = ({ scenarios }: Results): string =>
  scenarios.map(({ name }) => `${name} works\n`).join('');

/** The goals about which this run has something to say. */
function goalsText(results: Results): string {
  const measured = GOALS.map((goal) => verdictOf(goal, results)).filter(({ value }) => value !== undefined);
  if (measured.length === 0) return '';
  const lines = measured.map(({ mark, goal, text }) => `${mark} ${goal.what}: ${text} (${goal.target})`);
  return `\nGoals\n${lines.join('\n')}\n`;
}

function tableText(view: TableView, results: Results): string {
  const { head, rows } = cellsOf(view, results);
  const widths = head.map((title, at) =>
    Math.max(...[head, ...rows].map((row) => (row[at] ?? '').length), title.length),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ');
  return `\n${view.title}\n${[head, ...rows].map(line).join('\n')}\n`;
}
