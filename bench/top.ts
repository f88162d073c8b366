/**
 * Room at the top: what a server with very many flags and events takes, and where it bends.
 *
 *   node --import tsx bench/top.ts --flags 1000000 --events 20000000 --heap 12288
 *   node --import tsx bench/top.ts --folder <data folder> …     with one that was made before, which it changes
 *
 * The folder is made by the server's own engine and journal, as those of the other scenarios are. It takes some minutes, some 400 bytes of
 * disk for each event and 800 for each flag, so it is no part of `npm run bench`. What it prints is what docs/limits.md tells.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { askServer } from '../src/control/control-client.ts';
import { runClosedLoop } from './lib/load/closed-loop.ts';
import { type Operation, toggles } from './lib/load/operation.ts';
import { timedMs, timedResponse } from './lib/load/timed-get.ts';
import { environmentPath, flagPath, flagsInTurn } from './lib/paths.ts';
import { askProbe } from './lib/servers/ask-probe.ts';
import type { DataSet } from './lib/servers/data-set.ts';
import { type ServerProcess, startServerProcess } from './lib/servers/server-process.ts';
import { shuffled } from './lib/shuffled.ts';
import { median } from './lib/statistics.ts';

const BUILDER_FILE = fileURLToPath(new URL('./lib/servers/build-data-set.ts', import.meta.url));

const CONNECTIONS = 64;
const SECONDS = 3;
const SEARCHES = 5;
/** The flags that are asked for at random: enough for none to come from the processor's caches. */
const RANDOM_FLAGS = 100_000;

interface Options {
  readonly flags: string;
  readonly events: string;
  readonly heap: string;
  readonly folder?: string;
}

const say = (what: string, value: number | string): void =>
  console.log(`${what.padEnd(64)} ${typeof value === 'number' ? Number(value.toPrecision(3)) : value}`);

async function main({ flags, events, heap, folder: made }: Options): Promise<void> {
  const set: DataSet = { flags: Number(flags), projects: 1, events: Number(events) };
  const heapOption = `--max-old-space-size=${heap}`;
  const folder = made ?? join(mkdtempSync(join(tmpdir(), 'top-')), 'data');
  if (!existsSync(folder)) {
    const begun = performance.now();
    await promisify(execFile)(process.execPath, [
      heapOption,
      '--import',
      'tsx',
      BUILDER_FILE,
      folder,
      JSON.stringify(set),
    ]);
    say('making the folder, s', (performance.now() - begun) / 1000);
  }
  try {
    await withServer(folder, heapOption, (server) => measured(server, folder, set));
    await withServer(folder, heapOption, async (server) => {
      say('the next start, from its own snapshot, until /ready, s', server.startMs / 1000);
    });
    await refusals(folder, heapOption, set);
  } finally {
    if (made === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function withServer(
  folder: string,
  heapOption: string,
  use: (server: ServerProcess) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const server = await startServerProcess(folder, {
    isProbed: true,
    env: { NODE_OPTIONS: heapOption, ...env },
  });
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

async function measured(server: ServerProcess, folder: string, set: DataSet): Promise<void> {
  const { target } = server;
  say('start until /ready, with Node and the compiler, s', server.startMs / 1000);
  say('first read of a flag, ms', await timedMs(target, { method: 'GET', path: flagPath(set.flags - 1) }));
  const asked = shuffled(Math.min(set.flags, RANDOM_FLAGS));
  const reads: Operation = { requests: asked.map((number) => ({ method: 'GET', path: flagPath(number) })) };
  await load(server, folder, 'reads at random while flags are decoded', reads);
  const { heap, rss } = await askProbe(server, 'memory');
  say('heap after a collection, GiB', heap / 2 ** 30);
  say('resident, GiB', rss / 2 ** 30);
  await load(server, folder, 'reads at random', reads);
  const switched = flagsInTurn({ flags: set.flags, connections: CONNECTIONS }).map(environmentPath);
  const switches: Operation = { requests: toggles(switched) };
  await load(server, folder, 'durable switches', switches);
  await searches(server);
  await askProbe(server, 'watch-stalls');
  const snapshot = await askServer(folder, 'snapshot');
  say('snapshot beside nothing else, s', (snapshot?.durationMs ?? Number.NaN) / 1000);
  say('snapshot, longest stall of the event loop, ms', await askProbe(server, 'longest-stall'));
  await load(server, folder, 'switches once more', switches);
  const [beside] = await Promise.all([
    askServer(folder, 'snapshot'),
    load(server, folder, 'switches beside a snapshot', switches),
  ]);
  say('snapshot that began with them, s', (beside?.durationMs ?? Number.NaN) / 1000);
}

async function load(
  server: ServerProcess,
  folder: string,
  what: string,
  operation: Operation,
): Promise<void> {
  const run = await runClosedLoop({
    ...{ target: server.target, operation, connections: CONNECTIONS, seconds: SECONDS, folder },
  });
  say(`${what}, ${CONNECTIONS} connections, requests/s`, run.perSecond);
  say(`${what}, p99, ms`, run.p99);
}

async function searches({ target }: ServerProcess): Promise<void> {
  const search = (body: object) => ({ method: 'POST', path: '/events/search', body }) as const;
  const asked = {
    'newest 10 events of a type': search({ type: 'feature-environment-enabled', limit: 10 }),
    'newest 10 events of a flag': search({ feature: 'flag-000001', limit: 10 }),
    'oldest events of a flag and type': search({
      type: 'feature-created',
      feature: 'flag-000001',
      limit: 10,
    }),
    'text that no event has': search({ query: 'nowhere to be found', limit: 10 }),
  };
  for (const [what, request] of Object.entries(asked)) {
    const took: number[] = [];
    let status = 0;
    for (let count = 0; count < SEARCHES; count += 1) {
      const response = await timedResponse(target, request);
      took.push(response.ms);
      status = response.status;
    }
    say(`search, ${what}, ms${shownStatus(status)}`, median(took));
  }
  for (const when of ['first time', 'again']) {
    const { ms, status } = await timedResponse(target, { method: 'GET', path: '/projects/default' });
    say(`overview of the project, ${when}, ms${shownStatus(status)}`, ms);
  }
}

/** Nothing for a success. */
const shownStatus = (status: number): string => (status === 200 ? '' : ` (${status})`);

/** With a memory budget that the state has reached. */
async function refusals(folder: string, heapOption: string, set: DataSet): Promise<void> {
  const env = { MEMORY_BUDGET_BYTES: String(set.flags * 1_000) };
  await withServer(
    folder,
    heapOption,
    async ({ target }) => {
      const ask = async (what: string, path: string, body: object | undefined): Promise<void> => {
        const { status } = await timedResponse(target, { method: 'POST', path, ...(body && { body }) });
        say(`beyond the memory budget: ${what}`, status);
      };
      await ask('a new flag', '/projects/default/features', { name: 'one-more' });
      await ask('a switch', `${environmentPath(0)}/on`, undefined);
    },
    env,
  );
}

await new Command('top')
  .requiredOption('--flags <number>', 'how many flags')
  .requiredOption('--events <number>', 'how many events at least')
  .requiredOption('--heap <MiB>', 'heap of the server and of what makes the folder')
  .option('--folder <path>', 'a data folder; made there unless it exists, and kept')
  .action(main)
  .parseAsync();
