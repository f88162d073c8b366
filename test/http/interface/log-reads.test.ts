/** Reads of the event log under load: pages bounded in bytes, few reads at a time, fair turns, and none for who has left. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import '../../support/check-responses.ts';
import { PAGE_BYTES_MAX } from '../../../src/persistence/event-log/event-page.ts';
import { Gate, settle } from '../../support/engine.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import {
  type AddedUser,
  addStrategy,
  addUser,
  environmentPath,
  FEATURES,
  makeFlag,
} from '../../support/interface.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import {
  ADMIN_TOKEN,
  describeInterface,
  type ReceivedResponse,
  startTestServer,
  type TestServer,
} from '../../support/server.ts';
import { post, RawConnection } from '../transport/raw-connection.ts';

const VIEWER = 3;

describeInterface('pages of events', (server) => {
  it('end when they reach their bytes, and say where the next one starts', async () => {
    const { call } = server();
    await makeFlag(call, 'large');
    const { id } = await addStrategy(call, 'large');
    const path = `${environmentPath('large')}/strategies/${id}`;
    for (let round = 0; round < 20; round += 1) {
      const value = { text: String(round).repeat(60_000 / String(round).length) };
      const { status } = await call('PATCH', path, [{ op: 'replace', path: '/parameters', value }]);
      assert.equal(status, 200);
    }
    const all = await call('GET', '/events/large?limit=1');
    const seen: number[] = [];
    let pages = 0;
    for (let offset: number | undefined = 0; offset !== undefined; pages += 1) {
      const { status, body }: ReceivedResponse = await call('GET', `/events/large?offset=${offset}`);
      assert.equal(status, 200);
      assert(JSON.stringify(body).length < PAGE_BYTES_MAX + 200_000, 'beyond the limit by one event at most');
      assert.equal(body.totalEvents, all.body.totalEvents);
      seen.push(...body.events.map((event: { id: number }) => event.id));
      offset = body.nextOffset;
    }
    assert(pages > 1, `${pages} pages`);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => b - a),
    );
    assert.equal(new Set(seen).size, all.body.totalEvents);
  });
});

describe('reads of the log', () => {
  let server: TestServer;
  let disk: MemoryFileSystem;
  let gate: Gate;
  let opened = 0;
  let alice: AddedUser;
  let bob: AddedUser;

  before(async () => {
    disk = new MemoryFileSystem();
    server = await startTestServer({
      store: { fs: disk, logReader: inlineLogReader(disk) },
    });
    alice = await addUser(server, VIEWER);
    bob = await addUser(server, VIEWER);
    await makeFlag(server.call, 'read');
  });
  after(() => server.stop());

  let events = 0;
  beforeEach(async () => {
    disk.beforeCall = null;
    // The texts of events that were listed are kept: each list has to read this one.
    events += 1;
    await makeFlag(server.call, `unread-${events}`);
    gate = new Gate();
    opened = 0;
    disk.beforeCall = ({ kind, path }) => {
      if (!path.endsWith('.journal')) return;
      if (kind === 'open') opened += 1;
      return kind === 'read' ? gate.pass() : undefined;
    };
  });

  const reads = () => server.server.store.reads;
  const read = (path: string, { token }: AddedUser, signal?: AbortSignal): Promise<Response> =>
    fetch(`${server.origin}/api/admin${path}`, {
      headers: { authorization: token },
      ...(signal === undefined ? {} : { signal }),
    });
  const untilAre = async (running: number, waiting: number): Promise<void> => {
    while (reads().runningCount !== running || reads().waitingCount !== waiting) await settle();
  };
  const at = `${FEATURES}/read?at=1`;

  it('run a few at a time, so that they never take the descriptors that the journal needs', async () => {
    gate.close();
    const lists = Array.from({ length: 20 }, (_, index) => read('/events', index < 10 ? alice : bob));
    await untilAre(4, 16);
    assert.equal(opened, 4);
    gate.open();
    for (const response of await Promise.all(lists)) assert.equal(response.status, 200);
  });

  it('of one caller leave room for another one, whose read does not wait behind them', async () => {
    gate.close();
    const many = Array.from({ length: 30 }, () => read('/events', alice));
    await untilAre(2, 28);
    const one = read(`${FEATURES}/read?at=${server.server.store.engine.durableId}`, bob);
    await untilAre(3, 28);
    gate.open();
    assert.equal((await one).status, 200);
    await Promise.all(many);
  });

  it('are not begun, or not gone on with, for a client that has left', async () => {
    gate.close();
    const leaving = new AbortController();
    const abandoned = Array.from({ length: 30 }, (_, index) =>
      read(index % 2 === 0 ? at : '/events', alice, leaving.signal),
    );
    const settled = Promise.allSettled(abandoned);
    await untilAre(2, 28);
    leaving.abort();
    await settled;
    await untilAre(2, 0);
    gate.open();
    await untilAre(0, 0);
    assert.equal(opened, 2);
    assert.equal((await read('/events', alice)).status, 200);
  });

  it('beyond the queue are refused with 503 and Retry-After, those of the busiest caller first', async () => {
    gate.close();
    const many = Array.from({ length: 66 }, () => read('/events', alice));
    await untilAre(2, 64);
    const refused = await read('/events', alice);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
    const other = [read('/events', bob), read('/events', bob), read('/events', bob)];
    await untilAre(4, 64);
    gate.open();
    for (const response of await Promise.all(other)) assert.equal(response.status, 200);
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 503).length, 1);
    assert.equal(statuses.filter((status) => status === 200).length, 65);
  });

  it('for a rollback end with the client, and nothing is changed', async (t) => {
    const { port, store, transport } = server.server;
    await server.call('PUT', `${FEATURES}/read`, { description: 'later' });
    const { lastId } = store.engine;
    gate.close();
    const client = await RawConnection.open(t, port);
    client.write(
      post(`/api/admin${FEATURES}/read/rollback`, JSON.stringify({ eventId: lastId - 1 }), [
        `Authorization: ${ADMIN_TOKEN}`,
        'Content-Type: application/json',
      ]),
    );
    await untilAre(1, 0);
    client.reset();
    while (transport.openRequests > 0) await settle();
    gate.open();
    await untilAre(0, 0);
    await settle();
    assert.equal(store.engine.lastId, lastId);
  });
});
