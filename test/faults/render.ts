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

After any fault and a restart:

- All acknowledged changes are there.
- The state is that of a prefix of the submitted changes. An unacknowledged change is there as a whole or not at all.
- The recovered state has the hash of the live one at the same event.
- Nothing that was shown is undone.

The simulation (\`simulation/simulation\`) runs the engine on a simulated clock, scheduler and disk through these faults, over several
restarts. \`node --import tsx test/simulation/simulate.ts --seed N\` repeats one run exactly. It detects all *broken builds*, each broken on
purpose in one line.
`;

function assertThere({ file, title }: TestName): void {
  const source = readFileSync(join(TESTS, file), 'utf8');
  assert(source.includes(title), `test/${file} has no test called "${title}"`);
}

/** The long form of the simulation stands for the short one, too. */
function rowOf({ fault, promise, tests, longForms = [] }: FaultRow, recorded: Recorded): string {
  for (const test of tests) assertThere(test);
  const files = [...new Set(tests.map(({ file }) => file.replace(/(?:\.all)?\.test\.ts$/, '')))]
    .filter((file) => file !== 'simulation/simulation' || !longForms.includes('simulation'))
    .map((file) => `\`${file}\``);
  const forms = longForms.map((name) => longForm(name, recorded.longForms[name]));
  return `| ${fault} | ${promise} | ${[...files, ...forms].join(', ')} |`;
}

/** A long form with what it counted, where that is recorded. */
function longForm(name: string, counted: Counted | undefined): string {
  if (counted === undefined) return `*${name}*`;
  if (counted.skipped !== null) return `*${name}* (not run, ${counted.skipped})`;
  const { done, total } = counted;
  const all = total.toLocaleString('en');
  return `*${name}* (${done === total ? all : `${done.toLocaleString('en')} of ${all}`})`;
}

/** The long forms that belong to no fault. */
function otherForms({ longForms }: Recorded): string {
  const named = new Set(FAULT_ROWS.flatMap((row) => row.longForms ?? []));
  return Object.entries(longForms)
    .filter(([name]) => !named.has(name))
    .map(([name, counted]) => longForm(name, counted))
    .join(', ');
}

/** The page as the table of faults and these counts make it. */
export function reliabilityPage(recorded: Recorded): string {
  const page = [
    INTRODUCTION,
    '## Faults\n\nTests are files below `test`; [long forms](#the-long-forms) are in italics, with what they counted when last recorded.\n',
    '| fault | promise | tests |\n|---|---|---|',
    ...FAULT_ROWS.map((row) => rowOf(row, recorded).replaceAll('](docs/', '](')),
    '\n## The long forms\n\n`npm test` runs short forms, `npm run test:faults` long ones, within `FAULTS_BUDGET_SECONDS` if set. `--record` writes their counts here, and in\n[reliability.json](reliability.json).',
    `They also have ${otherForms(recorded)}.`,
  ];
  return `${page.join('\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(PAGE, reliabilityPage(recordedCounts()));
