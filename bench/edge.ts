/**
 * An edge beside the same server without one, in the same run: `npm run bench:edge`, or parts of it by name.
 * - `reads`: what SDKs read, by the requests of sdk-reads.ts, in processor time, which depends less on what else the machine does than
 *   throughput.
 * - `shared`: the same of two and of four edges that share a port, in the processor time of all of them, against one.
 * - `streams`: from the response to a switch of the server to the last of `--streams` streams of the edge; then all are cut at once, and
 *   come back beside other requests.
 * - `starts`: `--kills` kills while the upstream is away, the time from each start to `ready`, and reads that fail once it is; of the
 *   program as `npm run build` compiled it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, get, request as sendTo } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOADER, runnable } from '../test/support/source.ts';
import { inParallel, request } from './lib/load/client.ts';
import { runClosedLoop } from './lib/load/closed-loop.ts';
import { runOpenLoop } from './lib/load/open-loop.ts';
import { startStreamClients } from './lib/load/stream-clients.ts';
import type { Target } from './lib/measurement.ts';
import { cpuMicrosOf } from './lib/servers/cpu-time.ts';
import { dataFolderOf, FLAG_ENVIRONMENT, flagName } from './lib/servers/data-set.ts';
import { freePort, ROOT_FOLDER, startServerProcess } from './lib/servers/server-process.ts';
import { median, quantile } from './lib/statistics.ts';
import { type Read, readsOf, secretOf } from './scenarios/sdk-reads.ts';

const FLAGS = 350;
const CONNECTIONS = 64;
const LOOK_MS = 20;

/** A run that is shorter than a step of the clock counts as one step. */
const MICROS_MIN = 10_000;

/** Milliseconds of the slowest of a hundred. */
const SLOWEST = 0.99;

const SHARING = [1, 2, 4];

const READS_OF_ONE_START = 100;

const EVALUATIONS = 'frontend, 1,000 users in turn';

/** Beside streams that come back: far below what an edge serves. */
const BESIDE = { perSecond: 200, seconds: 30 };

const PARTS = { reads: compareReads, shared: compareShared, streams: measureStreams, starts: measureStarts };

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    streams: { type: 'string', default: '10000' },
    switches: { type: 'string', default: '100' },
    kills: { type: 'string', default: '20' },
  },
  allowPositionals: true,
});
const say = (line: string): void => console.log(line);

interface Measured {
  readonly target: Target;
  readonly children: readonly ChildProcess[];
}

interface EdgeOptions {
  readonly upstream: string;
  readonly token: string;
  readonly more: readonly string[];
  /** Arguments of Node, up to the program. */
  readonly program: readonly string[];
}

const COMPILED = ['dist/cli/bin.js'];

interface Edges extends Measured {
  /** The time at which one of them was seen to respond. */
  listenedAt: number;
  kill(): Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), 'flagstaff-bench-edge-'));
const bench = { folder, say } as unknown as Parameters<typeof dataFolderOf>[0];
const server = await startServerProcess(await dataFolderOf(bench, { flags: FLAGS, projects: 1, events: 0 }));
const edges: Edges[] = [];
try {
  await inParallel(
    Array.from({ length: FLAGS }, (_, at) => flagName(at)),
    (name) => request(server.target, { method: 'POST', path: `${environmentPathOf(name)}/on` }),
  );
  say(`${FLAGS} flags, load before: ${loadavg()[0]?.toFixed(1)}`);
  for (const [name, measure] of Object.entries(PARTS))
    if (positionals.length === 0 || positionals.includes(name)) await measure();
} finally {
  for (const one of edges) await one.kill();
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
}

function environmentPathOf(name: string): string {
  return `/projects/default/features/${name}/environments/${FLAG_ENVIRONMENT}`;
}

async function compareReads(): Promise<void> {
  const edge = await startEdges(1);
  for (const read of await readsOf(server.target)) await compare(edge, read);
  await edge.kill();
}

async function compare(edge: Edges, read: Read): Promise<void> {
  const alone = { target: server.target, children: [server.child] };
  await microsOf(alone, read);
  await microsOf(edge, read);
  const pairs: { readonly alone: number; readonly behind: number }[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1)
    pairs.push({ alone: await microsOf(alone, read), behind: await microsOf(edge, read) });
  const behind = median(pairs.map((pair) => pair.behind));
  const ratio = median(pairs.map((pair) => pair.alone / pair.behind));
  const perSecond = Math.round(1e6 / behind).toLocaleString('en');
  say(
    `${read.what.padEnd(32)} edge ${behind.toFixed(1)} µs, server ${median(pairs.map((pair) => pair.alone)).toFixed(1)} µs, ratio ${ratio.toFixed(2)}, ${perSecond} for each second of processor time`,
  );
}

/** Measures in turn with one edge alone, so that both meet the same machine. */
async function compareShared(): Promise<void> {
  const [known] = await readsOf(server.target);
  const all: Edges[] = [];
  for (const count of SHARING) all.push(await startEdges(count));
  const micros = all.map((): number[] => []);
  // Each compiles what it runs often, and gets a share of the requests.
  for (const edge of all) for (const _ of edge.children) await microsOf(edge, known!);
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [at, edge] of all.entries()) micros[at]!.push(await microsOf(edge, known!));
  const [one = []] = micros;
  for (const [at, count] of SHARING.entries()) {
    const ratio = median(one.map((alone, round) => alone / micros[at]![round]!));
    say(
      `${count} on one port, ${known!.what}: ${median(micros[at]!).toFixed(1)} µs of all, ratio ${ratio.toFixed(2)}`,
    );
  }
  for (const edge of all) await edge.kill();
}

async function measureStreams(): Promise<void> {
  const edge = await startEdges(1);
  const clients = await startStreamClients(server.target, true, edge.target);
  try {
    const count = Number(values.streams);
    await clients.open(count);
    const lastMs: number[] = [];
    for (let round = 0; round < Number(values.switches); round += 1) {
      const path = environmentPathOf(flagName(Math.floor(round / 2) % FLAGS));
      lastMs.push((await clients.switchFlag(`${path}/${round % 2 === 0 ? 'off' : 'on'}`)).lastMs);
    }
    say(`switch to the last of ${count} streams: p99 ${quantile(lastMs, SLOWEST).toFixed(1)} ms`);
    const evaluations = (await readsOf(server.target)).find(({ what }) => what === EVALUATIONS)!;
    const beside = { target: edge.target, operation: evaluations, connections: 8, folder };
    await clients.cut();
    const begunAt = performance.now();
    const backAfter = clients.open(count).then(() => (performance.now() - begunAt) / 1000);
    const { p99 } = await runOpenLoop({ ...beside, ...BESIDE });
    say(
      `${count} streams cut at once: back after ${(await backAfter).toFixed(1)} s, other requests meanwhile p99 ${p99.toFixed(1)} ms`,
    );
  } finally {
    await clients.stop();
    await edge.kill();
  }
}

/** The upstream is a proxy of the server, which can be closed. */
async function measureStarts(): Promise<void> {
  const upstream = createServer((asked, response) => {
    const { method, headers, url } = asked;
    const passed = sendTo(`${server.target.origin}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const token = await secretOf(server.target, 'client');
  const more = ['--backup-folder', join(folder, 'copy')];
  const options = { upstream: origin, token, more, program: COMPILED };
  const first = await startEdges(1, options);
  const [child] = first.children;
  child!.kill('SIGTERM');
  await once(child!, 'exit');
  const closed = once(upstream, 'close');
  upstream.close();
  upstream.closeAllConnections();
  await closed;
  const listenedMs: number[] = [];
  const readyMs: number[] = [];
  const usedMs: number[] = [];
  let failed = 0;
  for (let kill = 0; kill < Number(values.kills); kill += 1) {
    const begunAt = performance.now();
    const edge = await startEdges(1, options);
    listenedMs.push(edge.listenedAt - begunAt);
    readyMs.push(performance.now() - begunAt);
    usedMs.push(cpuMicrosOf({ child: edge.children[0]! }) / 1000);
    for (let read = 0; read < READS_OF_ONE_START; read += 1) {
      const answer = await fetch(`${edge.target.origin}/api/client/features`, {
        headers: { authorization: token },
      });
      if (answer.status !== 200) failed += 1;
      await answer.arrayBuffer();
    }
    await edge.kill();
  }
  say(
    `${readyMs.length} starts without the upstream, each ended by a kill: the port open after ${median(listenedMs).toFixed(0)} ms, ready after ${median(readyMs).toFixed(0)} ms, at most ${Math.max(...readyMs).toFixed(0)} ms, of which ${median(usedMs).toFixed(0)} ms of processor time; ${failed} reads failed`,
  );
}

/** Processor time of one request, of all processes together. */
async function microsOf({ target, children }: Measured, { requests }: Read): Promise<number> {
  const used = (): number => children.reduce((sum, child) => sum + cpuMicrosOf({ child }), 0);
  const before = used();
  const seconds = Number(values.seconds);
  // As many for each of several, so that each has as much to do in one round.
  const connections = CONNECTIONS * children.length;
  const load = { target, operation: { requests }, connections, seconds, folder };
  const run = await runClosedLoop(load);
  return Math.max(used() - before, MICROS_MIN) / run.requests;
}

/** Edges that share a port. */
async function startEdges(count: number, given: Partial<EdgeOptions> = {}): Promise<Edges> {
  const port = await freePort();
  const {
    upstream = server.target.origin,
    token = await secretOf(server.target, 'client'),
    more = [],
    program = [...LOADER, runnable('src/cli/bin.ts')],
  } = given;
  const origin = `http://127.0.0.1:${port}`;
  const options = ['--upstream-url', upstream, '--tokens', token, '--port', String(port), ...more];
  const children = Array.from({ length: count }, (_, at) =>
    spawn(
      process.execPath,
      [
        ...['--max-semi-space-size=16', ...program, 'edge', ...options],
        ...['--instance-id', String(at), '--log-level', 'error'],
      ],
      { cwd: ROOT_FOLDER, env: { PATH: process.env['PATH'] }, stdio: 'inherit' },
    ),
  );
  const kill = async (): Promise<void> => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
  };
  const started: Edges = {
    children,
    target: { ...server.target, name: 'edge', origin },
    kill,
    listenedAt: 0,
  };
  edges.push(started);
  // The kernel shares connections out, so each look may meet another edge.
  const ready = new Set<string>();
  while (ready.size < count) {
    const ended = children.find(({ exitCode }) => exitCode !== null);
    if (ended !== undefined) throw new Error(`an edge ended with ${ended.exitCode}`);
    const name = await readyName(origin).catch(() => undefined);
    if (name !== undefined) started.listenedAt ||= performance.now();
    if (name === null || name === undefined) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    else ready.add(name);
  }
  return started;
}

/** The name of the edge that responds; null where it is not ready. */
async function readyName(origin: string): Promise<string | null> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const ask = async (page: string): Promise<{ readonly status?: string; readonly identifier?: string }> => {
      const [response] = await once(get(`${origin}/internal-backstage/${page}`, { agent }), 'response');
      return JSON.parse(Buffer.concat(await response.toArray()).toString());
    };
    const { status } = await ask('ready');
    const { identifier = null } = await ask('instancedata');
    return status === 'READY' ? identifier : null;
  } finally {
    agent.destroy();
  }
}
