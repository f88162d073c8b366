/** The results page and its charts, written from the results alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cellsOf } from './cells.ts';
import { type Chart, chartsOf } from './charts.ts';
import { GOALS, verdictOf } from './goals.ts';
import { type Results, rowsOf, type ScenarioResult } from './results.ts';
import { TABLE_VIEWS, type TableView } from './tables.ts';

/** Beside the page. */
const CHART_FOLDER = 'charts';

/** The charts, by the table above which they stand. */
const CHART_OF: Readonly<Partial<Record<TableView['name'], string>>> = {
  http: 'shares',
  latency: 'latency',
};

export function writeReport(results: Results, file: string): void {
  const charts = chartsOf(results);
  const folder = join(dirname(file), CHART_FOLDER);
  mkdirSync(folder, { recursive: true });
  for (const { name, svg } of charts) writeFileSync(join(folder, `${name}.svg`), svg);
  writeFileSync(file, reportText(results, charts));
}

export function reportText(results: Results, charts: readonly Chart[]): string {
  const views = TABLE_VIEWS.filter(({ name }) => rowsOf(results, name).length > 0);
  const sections = [
    '# What it does on a machine',
    INTRODUCTION,
    goalSection(results),
    ...views.map((view) => tableSection(view, results, charts)),
    circumstancesSection(results.scenarios),
  ];
  return `${sections.join('\n\n')}\n`;
}

const INTRODUCTION = `\`npm run bench\` writes this page. The command beside a figure, or \`npm run bench -- --only <name>\` with the name of its row,
measures it again; [the last section](#how-and-where) says on what machine, at which commit and under what load each was measured.

The limit is a bare uWebSockets.js server that sends the same bytes with the same headers. Load generator, server and limit share the machine's
processors. Where two servers or two loads are compared, their runs alternate, and the share or ratio is the median over neighbouring pairs.`;

function goalSection(results: Results): string {
  const rows = GOALS.map((goal) => {
    const { text, mark } = verdictOf(goal, results);
    return [mark, goal.what, goal.target, text, `\`npm run bench -- --only ${goal.scenario}\``];
  });
  return `## Goals\n\n${table(['', 'what', 'goal', 'measured', 'again'], rows)}`;
}

function tableSection(view: TableView, results: Results, charts: readonly Chart[]): string {
  const { head, rows } = cellsOf(view, results);
  const shown = charts.filter(({ name }) => CHART_OF[view.name] === name);
  const images = shown.map(({ name, title }) => `![${title}](${CHART_FOLDER}/${name}.svg)\n\n`).join('');
  return `## ${view.title}\n\n${images}${view.note}\n\n${table(head, rows)}`;
}

function circumstancesSection(scenarios: readonly ScenarioResult[]): string {
  const machines = [...new Set(scenarios.map(({ circumstances }) => circumstances.machine))];
  const rows = scenarios.map(({ name, title, seconds, circumstances }) => {
    const { at, machine, node, loadAverage, commit, loadGenerator } = circumstances;
    const when = at.slice(0, 16).replace('T', ' ');
    return [
      name,
      title,
      when,
      commit,
      node,
      loadAverage.toFixed(1),
      loadGenerator,
      `${seconds.toFixed(0)} s`,
      letterOf(machines.indexOf(machine)),
    ];
  });
  const head = ['scenario', 'what', 'UTC', 'commit', 'Node', 'load before', 'load by', 'took', 'machine'];
  const legend = machines.map((machine, at) => `${letterOf(at)}: ${machine}.`).join(' ');
  return `## How and where\n\nA plus behind a commit: the server's files differed from it. Machines: ${legend}\n\n${table(head, rows)}`;
}

/** A letter for the machine at the index, from A on. */
const letterOf = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const isNumber = (cell: string | undefined): boolean => /^[0-9–]/.test(cell ?? '');
  const rule = head.map((_, at) => (isNumber(rows[0]?.[at]) ? '---:' : '---'));
  return [head, rule, ...rows].map(line).join('\n');
}
