/** The figures in the README: what was measured beside another server, between two marks that the page has. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Results, rowsOf } from './results.ts';

const BEGIN = '<!-- beside another server: written by npm run bench -- --peer -->';
const END = '<!-- end -->';

export function writeReadme(results: Results, file: string): void {
  const page = readFileSync(file, 'utf8');
  writeFileSync(file, withFigures(page, results));
}

/** The page as it is where nothing has been measured. */
export function withFigures(page: string, results: Results): string {
  const [first, ...others] = rowsOf(results, 'peer');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (first === undefined) return page;
  if (from === -1 || to < from) throw new Error(`the page has no ${BEGIN} with ${END} behind it`);
  const { title, circumstances } = first.scenario;
  const peer = title.replace('Beside ', '');
  const rate = (value = 0): string => Math.round(value).toLocaleString('en');
  const rows = [first, ...others].map(
    ({ what, values }) =>
      `| ${what} | ${rate(values['perSecond'])} | ${rate(values['theirs'])} | ${rate(values['share'])} × |`,
  );
  const { at, machine, loadAverage, loadGenerator } = circumstances;
  const engines = rowsOf(results, 'databases').filter((row) => row.at === first.at);
  const text = [
    BEGIN,
    `| requests a second, ${first.at} connections | Flagstaff | ${peer} | ratio |`,
    '|---|---:|---:|---:|',
    ...rows,
    '',
    `Measured on ${at.slice(0, 10)} on ${machine}, by ${loadGenerator} on the same machine, with a load of ${loadAverage.toFixed(1)} before.`,
    ...engines.map(
      ({ what, at: connections, values, scenario }) =>
        `On ${scenario.circumstances.at.slice(0, 10)}, with ${connections} connections, ${what}: ${rate(values['theirs'])} a second, where Flagstaff makes ${rate(values['perSecond'])} switches.`,
    ),
    '',
  ];
  return page.slice(0, from) + text.join('\n') + page.slice(to);
}
