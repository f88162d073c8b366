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
import { type Recorded, recordedCounts } from './counts.ts';
import { FAULT_ROWS, type FaultRow, type TestName } from './rows.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TESTS = join(ROOT, 'test');
const PAGE = join(ROOT, 'docs/reliability.md');

const INTRODUCTION = `# Faults, promises and the tests that hold to them

What can go wrong with a machine, a disk, a network or a client, what Flagstaff promises then, and which test injects
the fault and checks the promise. This page is written by \`test/faults/render.ts\`; its numbers are what the
long forms counted when they were run last, and a test that it names and that is not there keeps it from being written.

**The oracle.** After a fault and a restart: whatever was acknowledged is there; the state is that of some prefix of
what was submitted, without a hole; what was not acknowledged is wholly in or wholly out; the hash of the recovered
state is that of the live one at the same event; nothing that was shown to anybody is taken back.

**The simulation** (\`test/simulation\`) runs the whole engine on a simulated clock, scheduler and disk. From one seed
come several lives of a process: commands of every type from several clients, with retries, reads and searches; kills, power cuts, failing calls, full disks, slow syncs and jumping clocks in between; and damage to the folder at the end.
A seed that fails is run again, to the last byte, by

    node --import tsx test/simulation/simulate.ts --seed N

Builds that are broken on purpose, one line each, show that it can fail: every one of them is found out.

\`npm test\` runs the short forms; \`npm run test:faults\` runs the long ones, within \`FAULTS_BUDGET_SECONDS\` if that is
set; then a form whose smallest batch takes longer than its share is skipped. \`--record\` keeps their counts for this page.
`;

function assertThere({ file, title }: TestName): void {
  const source = readFileSync(join(TESTS, file), 'utf8');
  assert(source.includes(title), `test/${file} has no test called "${title}"`);
}

function sectionOf(row: FaultRow, index: number, recorded: Recorded): string {
  for (const test of row.tests) assertThere(test);
  const tests = [...new Set(row.tests.map(({ file }) => file))].map((file) => {
    const titles = row.tests.filter((test) => test.file === file).map(({ title }) => `“… ${title} …”`);
    return `- \`test/${file}\`: ${titles.join(', ')}`;
  });
  const longForms = (row.longForms ?? []).map((name) => `- Long form ${longFormOf(name, recorded)}`);
  return [`### ${index + 1}. ${row.fault}`, '', row.promise, '', ...tests, ...longForms].join('\n');
}

function longFormOf(name: string, { longForms }: Recorded): string {
  const counted = longForms[name];
  if (counted === undefined) return `*${name}*: not counted`;
  if (counted.skipped !== null) return `*${name}*: not run, ${counted.skipped}`;
  return `*${name}*: ${counted.done.toLocaleString('en')}`;
}

function longFormTable({ longForms }: Recorded): string {
  const rows = Object.entries(longForms).map(([name, { done, total, seconds, counts }]) => {
    const what = Object.entries(counts).map(
      ([key, count]) => `${wordsOf(key)} ${count.toLocaleString('en')}`,
    );
    return `| ${name} | ${done.toLocaleString('en')} of ${total.toLocaleString('en')} | ${seconds} | ${what.join(', ')} |`;
  });
  return ['| Long form | Done | Seconds | Counted |', '|---|---|---|---|', ...rows].join('\n');
}

/** `clockJumps` → `clock jumps`. */
const wordsOf = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The page as the table of faults and these counts make it. */
export function reliabilityPage(recorded: Recorded): string {
  const page = [
    INTRODUCTION,
    '## Row by row\n',
    FAULT_ROWS.map((row, index) => sectionOf(row, index, recorded)).join('\n\n'),
    '\n## The long forms\n',
    longFormTable(recorded),
  ];
  return `${page.join('\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(PAGE, reliabilityPage(recordedCounts()));
