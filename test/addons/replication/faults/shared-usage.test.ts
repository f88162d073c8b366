/**
 * Reports of applications at the nodes of a cluster on real NATS servers: each node tells of all of them, whichever node
 * they reached, and a node whose disk is lost counts them all again. `REPORTS=10000` sends so many, and prints how long it took until each node had told of all.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { it } from 'node:test';
import { startTestServer, type TestServer } from '../../../support/server.ts';
import { initCluster, noNatsServer, startNats } from '../nats-servers.ts';
import { pause } from './real-cluster.ts';

const REPORTS = Number(process.env['REPORTS'] ?? 300);
const AT_ONCE = 16;
const CLIENT = '*:development.reports';

it('every node tells of all reports, also after its disk was lost', {
  skip: noNatsServer ?? false,
}, async () => {
  const nats = await startNats(3);
  const env = { ...(await initCluster(nats.urls)), INIT_CLIENT_API_TOKENS: CLIENT, HTTP_HOST: '127.0.0.1' };
  const nodes = await Promise.all(
    [1, 2, 3].map((at) => startTestServer({ env: { ...env, REPLICATION_NODE: `node-${at}` } })),
  );
  try {
    const created = await nodes[0]!.call('POST', '/projects/default/features', { name: 'counted' });
    assert.equal(created.status, 201);
    const headers = { 'flagstaff-at-least': created.headers.get('flagstaff-event-id') ?? '' };
    for (const node of nodes)
      await node.call('GET', '/projects/default/features/counted', undefined, { headers });
    await Promise.all(Array.from({ length: AT_ONCE }, (_, of) => reportTo(nodes, of)));
    const begunAt = performance.now();
    await nodes[2]!.restart(() => rmSync(nodes[2]!.folder, { recursive: true }));
    for (const node of nodes) while ((await countedBy(node)) < REPORTS) await pause(50);
    await pause(1_000);
    for (const node of nodes) {
      assert.equal(await countedBy(node), REPORTS, 'no report counts twice');
      assert.equal(await countedByMinute(node), REPORTS, 'minutes are those of all nodes');
    }
    if (process.env['REPORTS'] !== undefined)
      process.stderr.write(`${REPORTS} reports: ${Math.round(performance.now() - begunAt)} ms\n`);
  } finally {
    for (const node of nodes) await node.stop();
    await nats.close();
  }
});

async function reportTo(nodes: readonly TestServer[], of: number): Promise<void> {
  for (let report = of; report < REPORTS; report += AT_ONCE) {
    const node = nodes[Math.floor(Math.random() * nodes.length)]!;
    const now = new Date().toISOString();
    const bucket = { start: now, stop: now, toggles: { counted: { yes: 1, no: 0, variants: {} } } };
    const body = { appName: 'reporter', instanceId: `i-${of}`, bucket };
    const { status } = await node.callBelow('/api')('POST', '/client/metrics', body, { token: CLIENT });
    assert.equal(status, 202);
  }
}

async function countedBy(node: TestServer): Promise<number> {
  const { status, body } = await node.call('GET', '/client-metrics/features/counted');
  assert.equal(status, 200);
  return (body.lastHourUsage as { yes: number }[]).reduce((sum, { yes }) => sum + yes, 0);
}

async function countedByMinute(node: TestServer): Promise<number> {
  const { body } = await node.call('GET', '/client-metrics/usage?feature=counted&step=minute');
  return (body.data as { yes: number }[]).reduce((sum, { yes }) => sum + yes, 0);
}
