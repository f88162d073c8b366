/**
 * Two of three NATS servers are away, so the log takes nothing. Each node is polled as by many SDKs, and one write is sent:
 *
 * No poll may wait for the log, and the write may not be left without a word. Once the servers are back, the write is there on
 * every node, or on none. The same polls before, with all servers there, tell what the machine itself makes them wait.
 */
import assert from 'node:assert/strict';
import { type Latencies, runOpenLoop } from '../../../../bench/lib/load/open-loop.ts';
import { ADMIN_TOKEN } from '../../../support/server.ts';
import { type Cluster, NODES, pause, withCluster } from './real-cluster.ts';

const FLAGS = '/projects/default/features';
const CLIENT_TOKEN = 'default:development.lost-quorum';
const CONNECTIONS = 20;
/** A poll that takes longer is given up by its client. */
const POLL_MS_MAX = 5_000;
const POLL = {
  ...{ method: 'GET', surface: '/api/client', path: '/features' },
  headers: { authorization: CLIENT_TOKEN },
} as const;

export interface LostQuorumOptions {
  readonly seconds: number;
  /** Polls a second at each node. */
  readonly rate: number;
}

export interface LostQuorumResult {
  readonly polls: number;
  /** The slowest node's, from the moment when a poll was due; before, and while two servers were away. */
  readonly pollP99BeforeMs: number;
  readonly pollP99Ms: number;
  readonly pollMostMs: number;
  readonly writeStatus: number;
  readonly writeMs: number;
  /** From the moment when the servers are back. */
  readonly writesAgainMs: number;
}

export const loseQuorum = (options: LostQuorumOptions): Promise<LostQuorumResult> =>
  withCluster((cluster) => run(cluster, options), { env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKEN } });

async function run(cluster: Cluster, { seconds, rate }: LostQuorumOptions): Promise<LostQuorumResult> {
  const leader = cluster.nodes[await cluster.leader()]!;
  for (let flag = 0; flag < 20; flag += 1) await leader.call('POST', FLAGS, { name: `flag-${flag}` });
  const before = await Promise.all(pollsOf(cluster, { seconds, rate }));
  const polls = Promise.all(pollsOf(cluster, { seconds, rate }));
  // A poll that fails before the servers are away is told when all are awaited.
  polls.catch(() => undefined);
  await pause(1_000);
  const [one, other] = cluster.nats.servers;
  await Promise.all([one!.kill(), other!.kill()]);
  await pause(500);
  const write = await sendWrite(leader.call);
  const results = await polls;
  const pollMostMs = Math.max(...results.map(({ max }) => max));
  assert(pollMostMs < POLL_MS_MAX, `a poll took ${pollMostMs} ms`);
  await Promise.all([one!.restart(), other!.restart()]);
  const backAt = performance.now();
  await untilWritten(cluster);
  const writesAgainMs = performance.now() - backAt;
  await agree(cluster);
  return {
    polls: results.length * rate * seconds,
    pollP99BeforeMs: Math.max(...before.map(({ p99 }) => p99)),
    pollP99Ms: Math.max(...results.map(({ p99 }) => p99)),
    pollMostMs,
    ...{ ...write, writesAgainMs },
  };
}

/** A poll that fails, or gets no response, fails all of it. */
const pollsOf = (cluster: Cluster, { seconds, rate }: LostQuorumOptions): Promise<Latencies>[] =>
  cluster.nodes.map((node, at) => {
    const target = { name: `node ${at}`, origin: node!.origin, basePath: '', token: ADMIN_TOKEN };
    const load = { operation: { requests: [POLL] }, connections: CONNECTIONS, perSecond: rate, seconds };
    return runOpenLoop({ ...load, target, folder: cluster.folder(at) });
  });

type Call = NonNullable<Cluster['nodes'][number]>['call'];

async function sendWrite(call: Call): Promise<{ readonly writeStatus: number; readonly writeMs: number }> {
  const sentAt = performance.now();
  const response = await call('PUT', `${FLAGS}/flag-0`, { description: 'in doubt' }, IN_DOUBT);
  if (response.status === 503) assert.match(JSON.stringify(response.body), /may have happened/);
  return { writeStatus: response.status, writeMs: performance.now() - sentAt };
}

const IN_DOUBT = { token: ADMIN_TOKEN, headers: { 'idempotency-key': 'in-doubt' } };

/** The same request again, until it succeeds. */
async function untilWritten(cluster: Cluster): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    await cluster.startDeposed();
    const { call } = cluster.nodes[attempt % NODES]!;
    const { status } = await call('PUT', `${FLAGS}/flag-0`, { description: 'in doubt' }, IN_DOUBT).catch(
      () => ({ status: 0 }),
    );
    if (status === 200) return;
    await pause(100);
  }
}

/** Every node has the change once. */
async function agree(cluster: Cluster): Promise<void> {
  const { headers: written } = await cluster.nodes[await cluster.leader()]!.call('PUT', `${FLAGS}/flag-1`, {
    description: 'the last one',
  });
  const headers = { 'flagstaff-at-least': written.get('flagstaff-event-id')! };
  for (const node of cluster.nodes) {
    let response = await node!.call('GET', '/events/flag-0', undefined, { headers });
    while (response.status === 503)
      response = await node!.call('GET', '/events/flag-0', undefined, { headers });
    const { body } = response;
    const changes = body.events.filter(({ type }: { type: string }) => type === 'feature-metadata-updated');
    assert.equal(changes.length, 1, 'the change in doubt is there once');
  }
}
