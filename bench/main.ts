/**
 * `npm run bench`: measures the server, beside the limits of this machine in the same run, and writes the results page.
 *
 *   npm run bench                          everything; writes bench/results and bench/RESULTS.md
 *   npm run bench -- --only toggle,create  these scenarios; their results replace the earlier ones
 *   npm run bench -- --quick               30 seconds: one scenario of each sort, to see that it works; writes --json only
 *   npm run bench -- --peer http://localhost:4243 --peer-token '*:*.secret'
 */
import { Command } from 'commander';
import { EFFORTS, type Scenario, type Target } from './lib/measurement.ts';
import { writeReport } from './lib/report/report.ts';
import { merged, REPORT_FILE, RESULTS_FILE, readResults, writeResults } from './lib/report/results.ts';
import { terminalReport } from './lib/report/terminal-report.ts';
import { runScenarios } from './lib/run-scenarios.ts';
import { QUICK_SCENARIOS, SCENARIOS } from './scenarios/all.ts';

interface Options {
  readonly quick?: true;
  readonly only?: string;
  readonly folder?: string;
  readonly json?: string;
  readonly peer?: string;
  readonly peerToken?: string;
}

const NAMES = SCENARIOS.map(({ name }) => name);

const program = new Command('bench')
  .description('Measures the server beside the limits of this machine.')
  .option('--quick', 'one scenario of each sort with few requests, to see that they work')
  .option('--only <names>', `some scenarios, separated by commas: ${NAMES.join(', ')}`)
  .option('--folder <path>', 'a folder on the disk to measure; default: that of temporary files')
  .option('--json <file>', 'write the results of this run there')
  .option('--peer <url>', 'run the same load on another server of this interface')
  .option('--peer-token <token>', 'an admin token of the other server')
  .action(main);

async function main(options: Options): Promise<void> {
  const fresh = await runScenarios({
    scenarios: chosen(options),
    effort: options.quick ? EFFORTS.quick : EFFORTS.full,
    peer: peerOf(options),
    ...(options.folder === undefined ? {} : { parentFolder: options.folder }),
    say: (line) => process.stderr.write(`${line}\n`),
  });
  const ofThisRun = merged(readResults(''), fresh, NAMES);
  process.stdout.write(terminalReport(ofThisRun));
  if (options.json !== undefined) writeResults(options.json, ofThisRun);
  if (options.quick) return;
  const results = merged(readResults(RESULTS_FILE), fresh, NAMES);
  writeResults(RESULTS_FILE, results);
  writeReport(results, REPORT_FILE);
}

function chosen({ only, quick }: Options): readonly Scenario[] {
  if (only === undefined) return quick ? QUICK_SCENARIOS : SCENARIOS;
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown !== undefined)
    program.error(`there is no scenario "${unknown}"; there are: ${NAMES.join(', ')}`);
  return SCENARIOS.filter(({ name }) => names.includes(name));
}

function peerOf({ peer, peerToken }: Options): Target | null {
  if (peer === undefined) return null;
  const { origin, pathname } = new URL(peer);
  return { name: origin, origin, basePath: pathname.replace(/\/+$/, ''), token: peerToken ?? '' };
}

await program.parseAsync();
