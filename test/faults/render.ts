/**
 * Writes docs/reliability.md from the table of faults (rows.ts) and from what the long forms counted (docs/reliability.json):
 *
 *   node --import tsx test/faults/render.ts
 *
 * A test that is named and is not there ends it with an error: the page never promises what nothing holds to.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Counted, type Recorded, recordedCounts } from './counts.ts';
import { FAULT_ROWS, type FaultRow, type TestName } from './rows.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TESTS = join(ROOT, 'test');
const PAGE = join(ROOT, 'docs/reliability.md');

const INTRODUCTION = `# Faults, promises and tests

Faults, what Flagstaff promises for each, and the tests that inject them
([by title](../test/faults/rows.ts)). \`test/faults/render.ts\` writes this page.

After any fault and a restart:

- All acknowledged changes are there.
- The state is that of a prefix of the submitted changes. An unacknowledged change is there as a whole or not at all.
- The recovered state has the hash of the live one at the same event.
- Nothing that was shown is undone.

The simulation (\`simulation/simulation\`) runs the engine on a simulated clock, scheduler and disk: over several restarts, commands of every
type meet these faults. \`node --import tsx test/simulation/simulate.ts --seed N\` repeats one run exactly. It detects all *broken builds*, each
broken on purpose in one line.
`;

function assertThere({ file, title }: TestName): void {
  const source = readFileSync(join(TESTS, file), 'utf8');
  assert(source.includes(title), `test/${file} has no test called "${title}"`);
}

/** The long form of the simulation stands for the short one, too. */
function rowOf({ fault, promise, tests, longForms = [] }: FaultRow): string {
  for (const test of tests) assertThere(test);
  const files = [...new Set(tests.map(({ file }) => file.replace(/(?:\.all)?\.test\.ts$/, '')))]
    .filter((file) => file !== 'simulation/simulation' || !longForms.includes('simulation'))
    .map((file) => `\`${file}\``);
  return `| ${fault} | ${promise} | ${[...files, ...longForms.map((name) => `*${name}*`)].join(', ')} |`;
}

function longFormRow(name: string, counted: Counted | undefined): string {
  if (counted === undefined) return `| ${name} | not counted |`;
  if (counted.skipped !== null) return `| ${name} | not run, ${counted.skipped} |`;
  const { done, total } = counted;
  const all = total.toLocaleString('en');
  return `| ${name} | ${done === total ? all : `${done.toLocaleString('en')} of ${all}`} |`;
}

/** The table of counts, and then the long forms of the table above that were not. */
function longFormTable({ longForms }: Recorded): string {
  const names = new Set([
    ...Object.keys(longForms),
    ...FAULT_ROWS.flatMap(({ longForms: named = [] }) => named),
  ]);
  const rows = [...names].map((name) => longFormRow(name, longForms[name]));
  return ['| long form | done |', '|---|---|', ...rows].join('\n');
}

/** The page as the table of faults and these counts make it. */
export function reliabilityPage(recorded: Recorded): string {
  const page = [
    INTRODUCTION,
    '## Faults\n\nTests are files below `test`; [long forms](#the-long-forms) are in italics.\n',
    '| fault | promise | tests |\n|---|---|---|',
    ...FAULT_ROWS.map(rowOf).map((row) => row.replaceAll('](docs/', '](')),
    '\n## The long forms\n\n`npm test` runs short forms, `npm run test:faults` long ones, within `FAULTS_BUDGET_SECONDS` if set; `--record` writes here, and in\n[reliability.json](reliability.json), what they counted.\n',
    longFormTable(recorded),
  ];
  return `${page.join('\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(PAGE, reliabilityPage(recordedCounts()));
