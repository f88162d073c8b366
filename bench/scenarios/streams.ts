/**
 * Streams of changes: how soon the last of many clients hears of a switch, what a stream costs that is idle, and what
 * streams cost the writes beside them.
 */
import { switchesBeside } from '../lib/beside.ts';
import { type StreamClients, startStreamClients } from '../lib/load/stream-clients.ts';
import type { SwitchTimes } from '../lib/load/stream-clients-process.ts';
import type { BenchRun, Measurement, Scenario } from '../lib/measurement.ts';
import { environmentPath } from '../lib/paths.ts';
import { askProbe } from '../lib/servers/ask-probe.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { quantile } from '../lib/statistics.ts';

/** Flags for which the first event of a stream is some 100 KB. */
const FLAGS = 100;

const ENGINES = ['uws', 'node'] as const;

export const streams: Scenario = {
  name: 'streams',
  title: 'Streams of changes',
  run: async (bench) => [await killSwitch(bench), ...(await idleStreams(bench)), await togglesBeside(bench)],
};

interface Running {
  readonly server: ServerProcess;
  readonly clients: StreamClients;
}

async function withStreams<T>(
  bench: BenchRun,
  { env = {}, isProbed = false, areStreams = true }: Partial<Setting>,
  measure: (running: Running) => Promise<T>,
): Promise<T> {
  const folder = await dataFolderOf(bench, { flags: FLAGS, projects: 1, events: 0 });
  const server = await startServerProcess(folder, { env, isProbed });
  try {
    const clients = await startStreamClients(server.target, areStreams);
    try {
      return await measure({ server, clients });
    } finally {
      await clients.stop();
    }
  } finally {
    await server.kill();
  }
}

interface Setting {
  readonly env: Readonly<Record<string, string>>;
  readonly isProbed: boolean;
  readonly areStreams: boolean;
}

function killSwitch(bench: BenchRun): Promise<Measurement> {
  const { killSwitchStreams: count, killSwitches } = bench.effort;
  return withStreams(bench, {}, async ({ clients }) => {
    await clients.open(count);
    const times: SwitchTimes[] = [];
    // Twice as many: the server compiles what it runs often.
    for (let round = 0; round < killSwitches * 2; round += 1) {
      const path = environmentPath(Math.floor(round / 2) % FLAGS);
      times.push(await clients.switchFlag(`${path}/${round % 2 === 0 ? 'on' : 'off'}`));
    }
    const measured = times.slice(killSwitches);
    const [first, last] = [measured.map(({ firstMs }) => firstMs), measured.map(({ lastMs }) => lastMs)];
    const values = {
      firstP50: quantile(first, 0.5),
      firstP99: quantile(first, 0.99),
      lastP50: quantile(last, 0.5),
      lastP99: quantile(last, 0.99),
    };
    bench.say(`kill switch, ${count} streams: last p99 ${values.lastP99.toFixed(1)} ms`);
    return { table: 'kill-switch', what: 'switch', at: count, values };
  });
}

async function idleStreams(bench: BenchRun): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const engine of ENGINES) {
    const sockets = await memoryOfEach(bench, engine, false);
    const streams = await memoryOfEach(bench, engine, true);
    const values = {
      heap: streams.heap,
      rss: streams.rss,
      socketHeap: sockets.heap,
      socketRss: sockets.rss,
      ownHeap: streams.heap - sockets.heap,
      ownRss: streams.rss - sockets.rss,
    };
    bench.say(`idle streams on ${engine}: ${Math.round(values.heap)} B of heap each`);
    measurements.push({ table: 'idle-streams', what: engine, at: bench.effort.streams, values });
  }
  return measurements;
}

/** Bytes, after garbage collections: what the second half takes, because the first ones make the heap grow for good. */
function memoryOfEach(bench: BenchRun, engine: (typeof ENGINES)[number], areStreams: boolean) {
  const count = bench.effort.streams / 2;
  const setting = { env: { HTTP_ENGINE: engine }, isProbed: true, areStreams };
  return withStreams(bench, setting, async ({ server, clients }) => {
    await clients.open(count);
    const before = await askProbe(server, 'memory');
    await clients.open(count);
    const after = await askProbe(server, 'memory');
    return { heap: (after.heap - before.heap) / count, rss: (after.rss - before.rss) / count };
  });
}

function togglesBeside(bench: BenchRun): Promise<Measurement> {
  return withStreams(bench, {}, async ({ server, clients }) => {
    const { streams } = bench.effort;
    await clients.open(streams);
    const values = await switchesBeside(bench, { server, flags: FLAGS });
    const open = await clients.count();
    if (open !== streams) throw new Error(`${streams - open} streams ended beside switches`);
    bench.say(`switches beside ${open} streams: ${Math.round(values.share * 100)} % of without`);
    return { table: 'beside-streams', what: 'toggle', at: open, values };
  });
}
