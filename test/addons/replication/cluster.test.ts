/** Whole servers as nodes of a cluster, over a log in memory: what clients see of it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { LAG_MS_MAX } from '../../../src/addons/replication/node-view.ts';
import { type OpenCluster, reach } from '../../../src/addons/replication/open-cluster.ts';
import type { Replica } from '../../../src/addons/replication/replica.ts';
import { runCommands } from '../../../src/cli/main.ts';
import { unrefTimer } from '../../../src/process/timers.ts';
import { freePort } from '../../support/free-port.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../../support/server.ts';
import { MemoryArchive } from './memory-archive.ts';
import { MemoryLog } from './memory-log.ts';
import { memoryNode } from './memory-node.ts';

const PROBES = '';

async function startCluster(count: number): Promise<readonly TestServer[]> {
  const log = new MemoryLog(unrefTimer).begin('test');
  const archive = new MemoryArchive(unrefTimer);
  const starts = Array.from({ length: count }, (_, at) =>
    startTestServer({
      more: () => memoryNode(`node-${at}`, log.connect(), archive.connect()),
    }),
  );
  return Promise.all(starts);
}

const replicaOf = ({ server }: TestServer): Replica => (server.cluster as OpenCluster).replica;
const isLeading = (node: TestServer): boolean => replicaOf(node).isLeading;

describe('the address of a node', () => {
  const answers: readonly (readonly [what: string, found: string, cluster: object | null | undefined])[] = [
    ['a leader', 'leads', { node: 'a', role: 'leading' }],
    ['a leader that is cut off', 'leads', { node: 'a', role: 'cutOff' }],
    ['a follower', 'follows', { node: 'a', role: 'following' }],
    ['a node that starts', 'follows', undefined],
    ['another node', 'nothing', { node: 'b', role: 'leading' }],
    ['a connection that ends before its response', 'refused', null],
  ];
  for (const [what, found, cluster] of answers) {
    it(`that leads to ${what} is told from the others`, async (t) => {
      const server = createServer(({ socket }, response) => {
        if (cluster === null) socket.destroy();
        else response.end(JSON.stringify({ cluster }));
      }).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      assert.equal(await reach({ node: 'a', address: `http://127.0.0.1:${port}` }, ''), found);
    });
  }

  it('at which nobody listens is told from one that says nothing', async () => {
    assert.equal(await reach({ node: 'a', address: `http://127.0.0.1:${await freePort()}` }, ''), 'refused');
    assert.equal(await reach({ node: 'a', address: 'http://a-node.invalid:4242' }, ''), 'nothing');
  });
});

describe('servers of a cluster', () => {
  let nodes: readonly TestServer[];
  let leader: TestServer;
  let follower: TestServer;

  before(async () => {
    nodes = await startCluster(2);
    leader = nodes.find(isLeading)!;
    follower = nodes.find((node) => !isLeading(node))!;
    // A follower makes itself known once a second.
    while (replicaOf(leader).view.peers.length < nodes.length)
      await new Promise((resolve) => setTimeout(resolve, 10));
  });
  after(() => Promise.all(nodes.map((node) => node.stop())));

  it('take a write on any node, and show it on every node to whoever asks for its event', async () => {
    const flags = '/projects/default/features';
    const created = await follower.call('POST', flags, { name: 'from-a-follower' });
    assert.equal(created.status, 201);
    const id = created.headers.get('flagstaff-event-id');
    assert.match(id ?? '', /^[0-9]+$/);
    for (const node of nodes) {
      const read = await node.call('GET', `${flags}/from-a-follower`, undefined, {
        headers: { 'flagstaff-at-least': id! },
      });
      assert.equal(read.status, 200);
      assert.equal(
        read.headers.get('etag'),
        (await leader.call('GET', `${flags}/from-a-follower`)).headers.get('etag'),
      );
    }
    const [one, other] = nodes.map(({ server }) => stateHash(server.store.engine.world));
    assert.equal(one, other);
  });

  it('record a forwarded write under its own caller', async () => {
    const user = await leader.call('POST', '/user-admin', { username: 'ada', rootRole: 2, sendEmail: false });
    assert.equal(user.status, 201);
    const before = await follower.call(
      'POST',
      '/projects/default/features',
      { name: 'by-nobody' },
      { token: null },
    );
    assert.equal(before.status, 401);
    await follower.call('POST', '/projects/default/features', { name: 'by-the-admin' });
    const { body } = await leader.call('GET', '/events?limit=1');
    const direct = await leader.call('POST', '/projects/default/features', { name: 'direct' });
    assert.equal(direct.status, 201);
    const { body: then } = await leader.call('GET', '/events?limit=1');
    assert.equal(body.events[0].createdBy, then.events[0].createdBy);
  });

  it("take a write by a browser's session on any node, and none that a page of another site makes", async () => {
    const begun = await fetch(`${follower.origin}/auth/session`, {
      method: 'POST',
      headers: { authorization: ADMIN_TOKEN },
    });
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
    const create = (name: string, site: string) =>
      follower.call(
        'POST',
        '/projects/default/features',
        { name },
        { token: null, headers: { cookie, 'sec-fetch-site': site } },
      );
    assert.equal((await create('by-session', 'same-origin')).status, 201);
    assert.equal((await create('by-another-site', 'cross-site')).status, 403);
  });

  it('keep If-Match and Idempotency-Key of a forwarded write', async () => {
    const path = '/projects/default/features/kept';
    await leader.call('POST', '/projects/default/features', { name: 'kept' });
    const etag = (await leader.call('GET', path)).headers.get('etag')!;
    const change = { description: 'changed', type: 'release' };
    const changed = await follower.call(
      'PUT',
      path,
      { name: 'kept', ...change },
      { headers: { 'if-match': etag } },
    );
    assert.equal(changed.status, 200);
    const late = await follower.call(
      'PUT',
      path,
      { name: 'kept', ...change },
      { headers: { 'if-match': etag } },
    );
    assert.equal(late.status, 412);
    const headers = { 'idempotency-key': 'once' };
    const first = await follower.call('POST', '/projects/default/features', { name: 'once' }, { headers });
    const again = await leader.call('POST', '/projects/default/features', { name: 'once' }, { headers });
    assert.deepEqual([first.status, again.status, again.body], [201, 201, first.body]);
  });

  it('count wrong passwords by the caller, whichever node he asks, and not by the node that hands them on', async () => {
    const created = await leader.call('POST', '/user-admin', {
      ...{ username: 'grace', password: 'Correct-horse-9', rootRole: 2, sendEmail: false },
    });
    assert.equal(created.status, 201);
    const { peers } = replicaOf(leader).view;
    assert.equal(peers.length, 2, 'the nodes have heard of each other');
    const signIn = (node: TestServer, from: string, password: string): Promise<number> =>
      statusFrom(from, `${node.origin}/auth/simple/login`, { username: 'grace', password });
    for (let attempt = 0; attempt < 12; attempt += 1) await signIn(follower, '127.0.0.2', 'wrong');
    assert.equal(await signIn(follower, '127.0.0.2', 'wrong'), 429);
    assert.equal(await signIn(leader, '127.0.0.2', 'wrong'), 429);
    assert.equal(await signIn(follower, '127.0.0.3', 'Correct-horse-9'), 200);
  });

  it('believe nobody who the caller is but a node that was heard of', () => {
    const { cluster } = leader.server;
    const from = (key: string) =>
      cluster!.handedOnFor({ header: (name) => (name === 'flagstaff-hop-key' ? key : '203.0.113.9') });
    assert.deepEqual([from(''), from('made-up')], [null, null]);
  });

  it('refuse a wrong body and a wrong method as one server does', async () => {
    const wrong = await follower.call('POST', '/projects/default/features', { name: 'no spaces' });
    const same = await leader.call('POST', '/projects/default/features', { name: 'no spaces' });
    assert.deepEqual(
      [wrong.status, wrong.body.name, wrong.body.message],
      [400, same.body.name, same.body.message],
    );
  });

  it('refuse what was forwarded once already, so that no request goes round in circles', async () => {
    const looped = await follower.call(
      'POST',
      '/projects/default/features',
      { name: 'loop' },
      {
        headers: { 'flagstaff-forwarded-by': 'node-9' },
      },
    );
    assert.equal(looped.status, 503);
    assert.match(looped.body.message, /handed on to this node, which does not lead/);
  });

  it('wait a second for an event that does not come, and refuse what is no event', async () => {
    const path = '/projects/default/features';
    const never = await follower.call('GET', path, undefined, {
      headers: { 'flagstaff-at-least': '999999' },
    });
    assert.deepEqual([never.status, never.headers.get('retry-after')], [503, '1']);
    const wrong = await follower.call('GET', path, undefined, {
      headers: { 'flagstaff-at-least': 'newest' },
    });
    assert.equal(wrong.status, 400);
  });

  it('make links with the address that the client asked, by HTTPS where its page was, whatever else it writes', async () => {
    const { host } = new URL(follower.origin);
    const linkFor = async (node: TestServer, headers: Readonly<Record<string, string>> = {}) => {
      const invitation = { name: 'asked', expiresAt: '2999-01-01T00:00:00Z' };
      const { body } = await node.call('POST', '/invite-link/tokens', invitation, { headers });
      return body.url.replace(/\/welcome#.*/, '');
    };
    assert.equal(await linkFor(follower), follower.origin);
    assert.equal(await linkFor(follower, { origin: `https://${host}` }), `https://${host}`);
    const forged = { 'x-forwarded-host': 'evil.example', 'flagstaff-asked-host': 'evil.example' };
    assert.equal(await linkFor(follower, forged), follower.origin);
    assert.equal(await linkFor(leader, { ...forged, 'flagstaff-hop-key': 'made-up' }), leader.origin);
  });

  it('say in each response how old it may be, beyond what a ready node may lag', async (t) => {
    const { replica } = follower.server.cluster as OpenCluster;
    let lagMs = LAG_MS_MAX;
    t.mock.getter(replica, 'lagMs', () => lagMs);
    const age = async (): Promise<string | null> =>
      (await follower.call('GET', '/projects')).headers.get('flagstaff-age-ms');
    assert.equal(await age(), null);
    lagMs = 12_345;
    assert.equal(await age(), '12345');
    assert.equal((await follower.callBelow(PROBES)('GET', '/ready')).status, 503);
  });

  it('tell who leads, to probes, metrics and operators', async () => {
    const health = await follower.callBelow(PROBES)('GET', '/health');
    const leading = (await leader.callBelow(PROBES)('GET', '/health')).body.cluster;
    assert.equal(leading.role, 'leading');
    assert.deepEqual([health.body.cluster.role, health.body.cluster.leader], ['following', leading.leader]);
    const ready = await follower.callBelow(PROBES)('GET', '/ready');
    assert.deepEqual([ready.status, ready.body.role], [200, 'following']);
    const metrics = await (await fetch(`${leader.origin}/internal-backstage/prometheus`)).text();
    assert.match(metrics, /^flagstaff_cluster_leading 1$/m);
    assert.match(
      await outputOf(['cluster', 'status', '-d', follower.folder]),
      /^this node +following, epoch 2, node-/,
    );
    await (leader.server.cluster as OpenCluster).archivist!.step();
    assert.match(
      await outputOf(['cluster', 'status', '-d', leader.folder]),
      /^archive +no events yet, no snapshot; the log begins with position 1 and may forget events up to 0$/m,
    );
    assert.match(await outputOf(['status', '-d', leader.folder]), /^cluster +leading, epoch 2$/m);
    assert.match(
      await outputOf(['cluster', 'handover', '-d', follower.folder]),
      /does not lead; ask the node that does/,
    );
  });

  it('hand over on request, and take writes on every node afterwards', async () => {
    assert.match(await outputOf(['cluster', 'handover', '-d', leader.folder]), /has handed over and follows/);
    while (!isLeading(follower)) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const [at, node] of nodes.entries()) {
      for (;;) {
        const { status } = await node.call('POST', '/projects/default/features', { name: `after-${at}` });
        if (status === 201) break;
        assert.equal(status, 503);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  });
});

/** The status of the response to a POST from this address of the machine. */
function statusFrom(localAddress: string, url: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    request(url, { method: 'POST', localAddress, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}

async function outputOf(args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const say = (text: string): void => void lines.push(text);
  await runCommands(args, { out: say, err: say, env: {} } as never);
  return lines.join('\n');
}
