/**
 * `npm run bench`: measures the server, beside the limits of this machine in the same run, and writes the results page.
 *
 *   npm run bench                          what the server is judged by, in some five minutes; writes bench/results and bench/RESULTS.md
 *   npm run bench -- --all                 every scenario, in some ten minutes
 *   npm run bench -- --only toggle,create  these scenarios; their results replace the earlier ones
 *   npm run bench -- --quick               30 seconds: one scenario of each sort, to see that it works; writes --json only
 *   npm run bench -- --only cluster        a cluster of three beside one node; needs nats-server 2.10 or newer, by its path in NATS_SERVER
 *   npm run bench -- --peer                beside Unleash on PostgreSQL, and beside Redis and PostgreSQL themselves; five minutes
 *   npm run bench -- --peer http://localhost:4243 --peer-token '*:*.secret'
 */
import { tmpdir } from 'node:os';
import { Command } from 'commander';
import { EFFORTS, type Scenario } from './lib/measurement.ts';
import { type Peer, startUnleash } from './lib/peer/unleash.ts';
import { writeReadme } from './lib/report/readme.ts';
import { writeReport } from './lib/report/report.ts';
import {
  merged,
  README_FILE,
  REPORT_FILE,
  RESULTS_FILE,
  readResults,
  writeResults,
} from './lib/report/results.ts';
import { quickReport, terminalReport } from './lib/report/terminal-report.ts';
import { runScenarios } from './lib/run-scenarios.ts';
import { QUICK_SCENARIOS, SCENARIOS, STANDARD_SCENARIOS } from './scenarios/all.ts';
import { clusterScenario } from './scenarios/cluster.ts';
import { DATABASES_SCENARIO_NAME } from './scenarios/databases.ts';
import { PEER_SCENARIO_NAME, peerScenario } from './scenarios/peer.ts';

interface Options {
  readonly quick?: true;
  readonly all?: true;
  readonly only?: string;
  readonly folder?: string;
  readonly json?: string;
  /** `true` without an address. */
  readonly peer?: string | true;
  readonly peerToken?: string;
}

/** Scenarios that need other servers: their results stay where these are not installed. */
const BESIDE_OTHERS = [clusterScenario.name, DATABASES_SCENARIO_NAME, PEER_SCENARIO_NAME];

/** The scenarios, in the order of the page. */
const NAMES = [
  ...SCENARIOS.map(({ name }) => name).filter((name) => !BESIDE_OTHERS.includes(name)),
  ...BESIDE_OTHERS,
];

const program = new Command('bench')
  .description('Measures the server beside the limits of this machine.')
  .option('--quick', 'one scenario of each sort with few requests, to see that they work')
  .option('--all', 'every scenario, which takes twice as long')
  .option(
    '--only <names>',
    `some scenarios, separated by commas: ${SCENARIOS.map(({ name }) => name).join(', ')}`,
  )
  .option('--folder <path>', 'a folder on the disk to measure; default: that of temporary files')
  .option('--json <file>', 'write the results of this run there')
  .option(
    '--peer [url]',
    'only what is measured beside another server of this interface; without an address, beside Unleash on PostgreSQL, which are started for it; and beside Redis and PostgreSQL themselves, where they are installed',
  )
  .option('--peer-token <token>', 'an admin token of the other server')
  .action(main);

async function main(options: Options): Promise<void> {
  if (options.peer === undefined) return measure(options, chosen(options));
  const peer = await peerOf(options);
  try {
    await measure(options, [
      ...SCENARIOS.filter(({ name }) => name === DATABASES_SCENARIO_NAME),
      peerScenario(peer.target),
    ]);
  } finally {
    await peer.stop();
  }
}

async function measure(options: Options, scenarios: readonly Scenario[]): Promise<void> {
  const fresh = await runScenarios({
    scenarios,
    effort: options.quick ? EFFORTS.quick : EFFORTS.full,
    ...(options.folder === undefined ? {} : { parentFolder: options.folder }),
    say: options.quick ? () => undefined : say,
  });
  const ofThisRun = merged(readResults(''), fresh, NAMES);
  process.stdout.write(options.quick ? quickReport(ofThisRun) : terminalReport(ofThisRun));
  if (options.json !== undefined) writeResults(options.json, ofThisRun);
  if (options.quick) return;
  const results = merged(readResults(RESULTS_FILE), fresh, NAMES);
  writeResults(RESULTS_FILE, results);
  writeReport(results, REPORT_FILE);
  writeReadme(results, README_FILE);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function chosen({ only, quick, all }: Options): readonly Scenario[] {
  if (only === undefined) return quick ? QUICK_SCENARIOS : all ? SCENARIOS : STANDARD_SCENARIOS;
  const names = only.split(',').map((name) => name.trim());
  const known = SCENARIOS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    program.error(`there is no scenario "${unknown}"; there are: ${known.join(', ')}`);
  return SCENARIOS.filter(({ name }) => names.includes(name));
}

async function peerOf({ peer, peerToken, folder = tmpdir() }: Options): Promise<Peer> {
  if (peer === undefined || peer === true) return startUnleash(folder, say);
  const { origin, pathname } = new URL(peer);
  const basePath = pathname.replace(/\/+$/, '');
  return {
    target: { name: origin, origin, basePath, token: peerToken ?? '' },
    // Whoever has started it stops it.
    stop: () => Promise.resolve(),
  };
}

await program.parseAsync();
