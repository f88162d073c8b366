/**
 * What SDKs read from an edge, beside the same server without one, by the requests of sdk-reads.ts and in the same run: `npm run bench:edge`.
 * Measured in processor time, which depends less on what else the machine does than throughput; `--seconds` and `--rounds` say how long.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOADER, runnable } from '../test/support/source.ts';
import { inParallel, request } from './lib/load/client.ts';
import { runClosedLoop } from './lib/load/closed-loop.ts';
import type { Target } from './lib/measurement.ts';
import { cpuMicrosOf } from './lib/servers/cpu-time.ts';
import { dataFolderOf, FLAG_ENVIRONMENT, flagName } from './lib/servers/data-set.ts';
import {
  freePort,
  ROOT_FOLDER,
  type ServerProcess,
  startServerProcess,
} from './lib/servers/server-process.ts';
import { median } from './lib/statistics.ts';
import { type Read, readsOf, secretOf } from './scenarios/sdk-reads.ts';

const FLAGS = 350;
const CONNECTIONS = 64;
const LOOK_MS = 20;

/** A run that is shorter than a step of the clock counts as one step. */
const MICROS_MIN = 10_000;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '2' }, rounds: { type: 'string', default: '5' } },
});
const say = (line: string): void => console.log(line);

type Measured = Pick<ServerProcess, 'child' | 'target'>;

const folder = mkdtempSync(join(tmpdir(), 'flagstaff-bench-edge-'));
const bench = { folder, say } as unknown as Parameters<typeof dataFolderOf>[0];
const server = await startServerProcess(await dataFolderOf(bench, { flags: FLAGS, projects: 1, events: 0 }));
const edge = await startEdgeProcess(server.target, await secretOf(server.target, 'client'));
try {
  await inParallel(
    Array.from({ length: FLAGS }, (_, at) => flagName(at)),
    (name) => {
      const path = `/projects/default/features/${name}/environments/${FLAG_ENVIRONMENT}/on`;
      return request(server.target, { method: 'POST', path });
    },
  );
  say(`${FLAGS} flags, load before: ${loadavg()[0]?.toFixed(1)}`);
  for (const read of await readsOf(server.target)) await compare(read);
} finally {
  edge.child.kill('SIGKILL');
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(read: Read): Promise<void> {
  await microsOf(server, read);
  await microsOf(edge, read);
  const pairs: { readonly alone: number; readonly behind: number }[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1)
    pairs.push({ alone: await microsOf(server, read), behind: await microsOf(edge, read) });
  const behind = median(pairs.map((pair) => pair.behind));
  const alone = median(pairs.map((pair) => pair.alone));
  const ratio = median(pairs.map((pair) => pair.alone / pair.behind));
  const perSecond = Math.round(1e6 / behind).toLocaleString('en');
  say(
    `${read.what.padEnd(32)} edge ${behind.toFixed(1)} µs, server ${alone.toFixed(1)} µs, ratio ${ratio.toFixed(2)}, ${perSecond} for each second of processor time`,
  );
}

/** Processor time of one request. */
async function microsOf(measured: Measured, { requests }: Read): Promise<number> {
  const before = cpuMicrosOf(measured);
  const seconds = Number(values.seconds);
  const load = {
    target: measured.target,
    operation: { requests },
    connections: CONNECTIONS,
    seconds,
    folder,
  };
  const run = await runClosedLoop(load);
  return Math.max(cpuMicrosOf(measured) - before, MICROS_MIN) / run.requests;
}

async function startEdgeProcess(upstream: Target, token: string): Promise<Measured> {
  const port = await freePort();
  const options = ['--upstream-url', upstream.origin, '--tokens', token, '--port', String(port)];
  const child = spawn(
    process.execPath,
    [
      '--max-semi-space-size=64',
      ...LOADER,
      runnable('src/cli/bin.ts'),
      'edge',
      ...options,
      '--log-level',
      'warn',
    ],
    { cwd: ROOT_FOLDER, env: { PATH: process.env['PATH'] }, stdio: 'inherit' },
  );
  const origin = `http://127.0.0.1:${port}`;
  for (let isReady = false; !isReady; ) {
    if (child.exitCode !== null) throw new Error(`the edge ended with ${child.exitCode}`);
    const response = await fetch(`${origin}/internal-backstage/ready`).catch(() => null);
    isReady = response?.ok === true;
    if (!isReady)
      await Promise.race([once(child, 'exit'), new Promise((resolve) => setTimeout(resolve, LOOK_MS))]);
  }
  return { child, target: { ...upstream, name: 'edge', origin } };
}
