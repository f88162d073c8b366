/**
 * Reads of flags beside ten reports of applications a second, each with counts of 350 flags: latencies at a fixed rate on one server,
 * with and without the reports in turn.
 */
import { request } from '../lib/load/client.ts';
import { type Latencies, runOpenLoop } from '../lib/load/open-loop.ts';
import type { Operation } from '../lib/load/operation.ts';
import type { BenchRun, Effort, Scenario } from '../lib/measurement.ts';
import { dataFolderOf, flagName } from '../lib/servers/data-set.ts';
import { type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { median } from '../lib/statistics.ts';
import { flagReadRandom } from './flag-read-random.ts';

const FLAGS_MAX = 350;
const REPORTS_PER_SECOND = 10;
const APPLICATIONS = 10;
const READS_PER_SECOND = 1_000;
const CONNECTIONS = 16;

/** The tail of a second is that of ten reads, so that one round says little. */
const ROUNDS: Readonly<Record<Effort['name'], number>> = { full: 11, quick: 2, tiny: 1 };
const SECONDS_PER_ROUND = 3;

/** At ten a second, the compiler would not have come to them before the end: a server has taken more within some minutes. */
const WARM_UP_REPORTS: Readonly<Record<Effort['name'], number>> = { full: 1_000, quick: 100, tiny: 2 };

export const usage: Scenario = {
  name: 'usage',
  title: 'Reports of applications',
  async run(bench) {
    const { effort } = bench;
    const flags = Math.min(FLAGS_MAX, effort.flags);
    const server = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
    try {
      const besides = { operation: await reportsFor(server, flags), perSecond: REPORTS_PER_SECOND };
      const operation = await flagReadRandom.prepare(server.target, { flags, connections: CONNECTIONS });
      const seconds = effort.name === 'full' ? SECONDS_PER_ROUND : effort.openLoopSeconds;
      const plan = { target: server.target, operation, connections: CONNECTIONS, seconds };
      const reads = { ...plan, perSecond: READS_PER_SECOND, folder: bench.folder };
      const rounds: { readonly beside: Latencies; readonly alone: Latencies }[] = [];
      await sendEach(server, besides.operation, WARM_UP_REPORTS[effort.name]);
      await runOpenLoop(reads);
      for (let round = 0; round < ROUNDS[effort.name]; round += 1) {
        const first = round % 2 === 0 ? await runOpenLoop(reads) : null;
        const beside = await runOpenLoop({ ...reads, besides });
        // The machine's mood changes slowly: what comes second has no advantage over all rounds.
        rounds.push({ beside, alone: first ?? (await runOpenLoop(reads)) });
      }
      const values = valuesOf(bench, rounds);
      return [{ table: 'usage', what: 'flag-read-random', at: READS_PER_SECOND, values }];
    } finally {
      await server.stop();
    }
  },
};

function valuesOf(
  bench: BenchRun,
  rounds: readonly { readonly beside: Latencies; readonly alone: Latencies }[],
) {
  const values = {
    p50: median(rounds.map(({ beside }) => beside.p50)),
    aloneP50: median(rounds.map(({ alone }) => alone.p50)),
    p99: median(rounds.map(({ beside }) => beside.p99)),
    aloneP99: median(rounds.map(({ alone }) => alone.p99)),
    ratio: median(rounds.map(({ beside, alone }) => beside.p99 / alone.p99)),
  };
  const { p99, aloneP99 } = values;
  bench.say(`reads beside reports: p99 ${p99.toFixed(2)} ms, alone ${aloneP99.toFixed(2)} ms`);
  return values;
}

/** One after the other, `count` in all. */
async function sendEach({ target }: ServerProcess, { requests }: Operation, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    const asked = requests[sent % requests.length];
    if (asked !== undefined) await request(target, asked);
  }
}

/**
 * Reports of one application after another, each of all flags. The process that reads sends them: a third one would take the core of the
 * server from time to time, and reads would wait for that.
 */
async function reportsFor({ target }: ServerProcess, flags: number): Promise<Operation> {
  const made = await request(target, {
    method: 'POST',
    path: '/api-tokens',
    body: { tokenName: 'reporter', type: 'client', environment: 'development' },
  });
  const { secret } = JSON.parse(made.body.toString()) as { readonly secret: string };
  const counts = { yes: 10, no: 2, variants: { disabled: 12 } };
  const toggles = Object.fromEntries(Array.from({ length: flags }, (_, at) => [flagName(at), counts]));
  const now = new Date().toISOString();
  const requests = Array.from({ length: APPLICATIONS }, (_, at) => ({
    method: 'POST',
    ...{ surface: '/api/client', path: '/metrics', headers: { authorization: secret } },
    body: { appName: `app-${at}`, bucket: { start: now, stop: now, toggles } },
  }));
  return { requests };
}
