/**
 * The cost of a cluster: three nodes on three NATS servers that write to the disk before they acknowledge, beside one node without
 * replication. All of them share the machine's processors, so the processor time of one request is told too.
 */

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type JetStreamManager, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { initCluster, type NatsCluster, startNats } from '../../test/addons/replication/nats-servers.ts';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import { runOpenLoop } from '../lib/load/open-loop.ts';
import { type Operation, toggles } from '../lib/load/operation.ts';
import type { BenchRun, Effort, Measurement, Scenario } from '../lib/measurement.ts';
import { environmentPath, flagPath, flagsInTurn } from '../lib/paths.ts';
import { cpuMicrosOf } from '../lib/servers/cpu-time.ts';
import { seedPeer } from '../lib/servers/seed-peer.ts';
import { freePort, type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { median } from '../lib/statistics.ts';

const NODES = 3;
const FLAGS = 256;
const CONNECTIONS = 64;
const MANY = 256;

const EQUAL_RATE = 'switch at the leader, half as many a second at both';

const LOOK_MS = 20;

/** Bytes of the record of one switch in the log. */
const RECORD_BYTES = 200;
const LOG_STREAM = 'BENCH';
const LOG_SUBJECT = 'bench.records';

interface Nodes {
  readonly leader: ServerProcess;
  readonly followers: readonly ServerProcess[];
  readonly single: ServerProcess;
  readonly nats: NatsCluster;
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
}

/** The results of one run, with the processor time of each request in microseconds. */
interface Run {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  /** Processor time of the process that was asked. */
  readonly micros: number;
  /** Processor time of the other nodes and of the NATS servers together. */
  readonly otherMicros: number;
}

export const clusterScenario: Scenario = {
  name: 'cluster',
  title: 'Cluster of three',
  async run(bench) {
    const nats = await startNats(NODES);
    await initCluster(nats.urls);
    const connection = await connect({ servers: [...nats.urls] });
    const started: ServerProcess[] = [];
    try {
      const ofCluster = await Promise.all(
        Array.from({ length: NODES }, (_, at) => startNode(bench, nats, at)),
      );
      started.push(...ofCluster);
      const single = await startServerProcess(mkdtempSync(join(bench.folder, 'single-')));
      started.push(single);
      const leader = await leaderOf(ofCluster);
      const followers = ofCluster.filter((node) => node !== leader);
      for (const { target } of [leader, single]) await seedPeer(target, FLAGS);
      const manager = await jetstreamManager(connection);
      return await measured(bench, { leader, followers, single, nats, connection, manager });
    } finally {
      for (const server of started) await server.kill();
      await connection.close();
      await nats.close();
    }
  },
};

async function startNode(bench: BenchRun, nats: NatsCluster, at: number): Promise<ServerProcess> {
  const port = await freePort();
  return startServerProcess(mkdtempSync(join(bench.folder, `node-${at}-`)), {
    env: {
      REPLICATION_URL: nats.urls.join(','),
      REPLICATION_CLUSTER: 'test',
      REPLICATION_NODE: `node-${at}`,
      REPLICATION_ADDRESS: `http://127.0.0.1:${port}`,
    },
    port,
  });
}

async function leaderOf(nodes: readonly ServerProcess[]): Promise<ServerProcess> {
  for (;;) {
    for (const node of nodes) {
      const health = (await (await fetch(`${node.target.origin}/health`)).json()) as {
        readonly cluster: { readonly role: string };
      };
      if (health.cluster.role === 'leading') return node;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

interface OurRun extends Run {
  readonly records: number;
}

type Load = (asked: ServerProcess, others: readonly HasChild[]) => Promise<Run>;

async function measured(bench: BenchRun, nodes: Nodes): Promise<Measurement[]> {
  const { leader, followers } = nodes;
  const switching = (connections: number): Operation => ({
    requests: toggles(flagsInTurn({ flags: FLAGS, connections }).map(environmentPath)),
  });
  const reading: Operation = { requests: [{ method: 'GET', path: flagPath(0) }] };
  const atOnce =
    (operation: Operation, connections: number): Load =>
    (asked, others) =>
      runOnce(bench, asked, others, operation, connections);
  const beside = (what: string, at: number, load: Load, asked = leader): Promise<Measurement[]> =>
    compared(bench, nodes, { what, at, load, asked });
  const loaded = await beside(
    'switch at the leader',
    CONNECTIONS,
    atOnce(switching(CONNECTIONS), CONNECTIONS),
  );
  const perSecond = Math.ceil((loaded[0]?.values['perSecond'] ?? 0) / 2);
  const paced: Load = (asked, others) =>
    runPaced(bench, asked, others, { operation: switching(CONNECTIONS), perSecond });
  return [
    ...loaded,
    ...(await beside('switch at the leader', MANY, atOnce(switching(MANY), MANY))),
    ...(await beside('switch at the leader', 1, atOnce(switching(1), 1))),
    ...(await beside(EQUAL_RATE, CONNECTIONS, paced)),
    ...(await beside('read at the leader', CONNECTIONS, atOnce(reading, CONNECTIONS))),
    ...(await beside('read at a follower', CONNECTIONS, atOnce(reading, CONNECTIONS), followers[0]!)),
    ...(await logAlone(bench, nodes)),
  ];
}

interface Compared {
  readonly what: string;
  /** Connections. */
  readonly at: number;
  readonly load: Load;
  readonly asked: ServerProcess;
}

/** The same load on a node of the cluster and on the one without replication, in turn. */
async function compared(
  bench: BenchRun,
  nodes: Nodes,
  { what, at, load, asked }: Compared,
): Promise<Measurement[]> {
  const others = othersThan(asked, nodes);
  const ours = async (): Promise<OurRun> => {
    const before = await recordsOf(nodes);
    const run = await load(asked, others);
    return { ...run, records: (await recordsOf(nodes)) - before };
  };
  const theirs = () => load(nodes.single, []);
  // Once each for nothing: a server compiles what it runs often.
  await ours();
  await theirs();
  const pairs: { readonly ours: OurRun; readonly theirs: Run }[] = [];
  for (let round = 0; round < bench.effort.roundsForGoals; round += 1)
    pairs.push({ ours: await ours(), theirs: await theirs() });
  const of = (side: 'ours' | 'theirs', key: keyof Run): number =>
    median(pairs.map((pair) => pair[side][key]));
  const values = {
    perSecond: of('ours', 'perSecond'),
    theirs: of('theirs', 'perSecond'),
    share: median(pairs.map((pair) => pair.ours.perSecond / pair.theirs.perSecond)),
    p50: of('ours', 'p50'),
    theirP50: of('theirs', 'p50'),
    micros: of('ours', 'micros'),
    theirMicros: of('theirs', 'micros'),
    otherMicros: of('ours', 'otherMicros'),
  };
  bench.say(
    `${what}, ${at} connections: ${Math.round(values.perSecond)}/s of ${Math.round(values.theirs)}/s, ${values.p50.toFixed(2)} ms, ${Math.round(values.micros)} µs beside ${Math.round(values.theirMicros)}`,
  );
  const records = pairs.map(({ ours: { records, requests, perSecond } }) => ({
    perSecond: (records * perSecond) / requests,
    changes: requests / records,
  }));
  const ofLog = {
    perSecond: median(records.map((record) => record.perSecond)),
    changes: median(records.map(({ changes }) => changes)),
    p50: values.p50,
  };
  return [
    { table: 'cluster', what, at, values },
    ...(ofLog.perSecond > 0 ? [{ table: 'cluster-log' as const, what, at, values: ofLog }] : []),
  ];
}

/** Records that the log of the cluster has taken. */
async function recordsOf({ manager }: Nodes): Promise<number> {
  const { state } = await manager.streams.info('FLAGSTAFF_test');
  return state.last_seq;
}

/** Processes whose time counts as that of the others. */
const othersThan = (asked: ServerProcess, { leader, followers, nats }: Nodes): readonly HasChild[] => [
  ...[leader, ...followers].filter((node) => node !== asked),
  ...nats.servers.map(({ process: child }) => ({ child })),
];

interface HasChild {
  readonly child: ChildProcess;
}

/** Sends as many requests as the server takes. */
const runOnce = (
  { folder, effort: { runSeconds: seconds } }: BenchRun,
  asked: ServerProcess,
  others: readonly HasChild[],
  operation: Operation,
  connections: number,
): Promise<Run> =>
  costOf(asked, others, () =>
    runClosedLoop({ target: asked.target, operation, connections, seconds, folder }),
  );

/** Sends requests that are due at fixed times, so that both servers get as many a second, however fast they are. */
const runPaced = (
  { folder, effort }: BenchRun,
  asked: ServerProcess,
  others: readonly HasChild[],
  { operation, perSecond }: { readonly operation: Operation; readonly perSecond: number },
): Promise<Run> =>
  costOf(asked, others, async () => {
    const seconds = secondsOf(effort);
    const load = { operation, connections: CONNECTIONS, perSecond, seconds, folder };
    const { p50 } = await runOpenLoop({ target: asked.target, ...load });
    return { perSecond, p50, requests: perSecond * seconds };
  });

async function costOf(
  asked: ServerProcess,
  others: readonly HasChild[],
  load: () => Promise<Pick<Run, 'perSecond' | 'p50' | 'requests'>>,
): Promise<Run> {
  const otherCpu = (): number => others.reduce((sum, other) => sum + cpuMicrosOf(other), 0);
  const [before, othersBefore] = [cpuMicrosOf(asked), otherCpu()];
  const { perSecond, p50, requests } = await load();
  return {
    ...{ requests, perSecond, p50 },
    micros: (cpuMicrosOf(asked) - before) / requests,
    otherMicros: (otherCpu() - othersBefore) / requests,
  };
}

/** Records of one switch each, published to a stream that three servers keep: what no node on such a log can go below. */
async function logAlone(bench: BenchRun, { connection, manager }: Nodes): Promise<Measurement[]> {
  await manager.streams.add({
    ...{ name: LOG_STREAM, subjects: [LOG_SUBJECT], num_replicas: NODES, storage: StorageType.File },
  });
  const measurements: Measurement[] = [];
  for (const at of [CONNECTIONS, 1]) {
    const { perSecond, p50 } = await published(jetstream(connection), at, secondsOf(bench.effort));
    bench.say(`the log alone, ${at} at once: ${Math.round(perSecond)}/s, ${p50.toFixed(2)} ms`);
    const values = { perSecond, changes: 1, p50 };
    measurements.push({ table: 'cluster-log', what: 'the log alone', at, values });
  }
  return measurements;
}

const secondsOf = ({ runSeconds, openLoopSeconds }: Effort): number => runSeconds ?? openLoopSeconds;

async function published(
  stream: ReturnType<typeof jetstream>,
  atOnce: number,
  seconds: number,
): Promise<Pick<Run, 'perSecond' | 'p50'>> {
  const record = new Uint8Array(RECORD_BYTES);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const publisher = async (): Promise<void> => {
    for (let sentAt = performance.now(); sentAt < endsAt; sentAt = performance.now()) {
      await stream.publish(LOG_SUBJECT, record);
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, publisher));
  const perSecond = (latencies.length * 1_000) / (performance.now() - startedAt);
  return { perSecond, p50: median(latencies) };
}
