/** The events as lines of JSON: all of them once, from the log and then as they happen, after kills and beside slow readers. */
import assert from 'node:assert/strict';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { it } from 'node:test';
import { LoggedLines } from '../../../src/http/admin/event-lines.ts';
import { LINES_BYTES_MAX } from '../../../src/persistence/event-log/event-log.ts';
import { addUser, FEATURES, makeFlag, record, refused } from '../../support/interface.ts';
import { liveBytes } from '../../support/live-bytes.ts';
import { ADMIN_TOKEN, describeInterface, type TestServer } from '../../support/server.ts';

const VIEWER = 3;

interface Line {
  readonly id: number;
  readonly type: string;
}

interface Reading {
  readonly status: number;
  readonly response: IncomingMessage;
  /** Whole lines so far, without the empty ones. */
  readonly lines: Line[];
  /** Resolves once there are so many lines. */
  until(count: number): Promise<void>;
  readonly ended: Promise<void>;
  kill(): void;
}

function open(server: TestServer, query: string, token: string | null = ADMIN_TOKEN): Promise<Reading> {
  const headers = token === null ? {} : { authorization: token };
  const sent = request(`${server.origin}/api/admin/events.ndjson${query}`, { headers, agent: false });
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => resolve(reading(sent, response)));
    sent.end();
  });
}

function reading(sent: ClientRequest, response: IncomingMessage): Reading {
  const lines: Line[] = [];
  let rest = '';
  let onLine = (): void => undefined;
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.filter((part) => part !== '').map((part) => JSON.parse(part) as Line));
    onLine();
  });
  response.on('error', () => undefined);
  return {
    ...{ status: response.statusCode ?? 0, response, lines },
    until: (count) =>
      new Promise((resolve) => {
        onLine = () => lines.length >= count && resolve();
        onLine();
      }),
    ended: new Promise((resolve) => void response.on('close', resolve)),
    kill: () => void sent.destroy(),
  };
}

async function linesOf(server: TestServer, query: string, token?: string): Promise<readonly Line[]> {
  const whole = await open(server, query, token);
  assert.equal(whole.status, 200);
  await whole.ended;
  return whole.lines;
}

const idsOf = (lines: readonly Line[]): readonly number[] => lines.map(({ id }) => id);
const idsFrom = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

const tagType = (name: string, description = '') => ({
  ...{
    type: 'tag-type-created' as const,
    project: null,
    featureName: null,
    environment: null,
    preData: null,
  },
  data: { name, description, icon: null, color: null },
});

describeInterface('GET /api/admin/events.ndjson', (server) => {
  const newest = (): number => server().server.store.engine.durableId;
  const describe = (flag: string, description: string) =>
    server().call('PUT', `${FEATURES}/${flag}`, { description });

  it('gives each event as a search shows it, from the oldest to the newest, and then ends or goes on', async () => {
    await makeFlag(server().call, 'lined');
    const lines = await linesOf(server(), '?follow=false');
    assert.deepEqual(idsOf(lines), idsFrom(1, newest()));
    const { body } = await server().call('POST', '/events/search', { feature: 'lined', limit: 1 });
    assert.deepEqual(
      lines.find(({ id }) => id === body.events[0].id),
      body.events[0],
    );
    const following = await open(server(), `?after=${newest() - 1}`);
    await following.until(1);
    await describe('lined', 'changed');
    await following.until(2);
    assert.deepEqual(idsOf(following.lines), idsFrom(newest() - 1, newest()));
    assert.equal(following.response.headers['content-type'], 'application/x-ndjson');
    following.kill();
  });

  it('gives only events that match, and all events to Admins alone', async () => {
    const viewer = await addUser(server(), VIEWER);
    await makeFlag(server().call, 'wanted');
    await makeFlag(server().call, 'unwanted');
    const wanted = '?follow=false&feature=IS:wanted&type=IS_ANY_OF:feature-created,feature-archived';
    assert.deepEqual(
      (await linesOf(server(), wanted)).map(({ type }) => type),
      ['feature-created'],
    );
    const seen = new Set((await linesOf(server(), '?follow=false', viewer.token)).map(({ type }) => type));
    assert(seen.has('feature-created') && !seen.has('user-created') && !seen.has('pat-created'));
    const following = await open(server(), `?after=${newest()}&feature=IS:wanted`, viewer.token);
    for (const flag of ['unwanted', 'wanted']) await describe(flag, 'changed');
    await following.until(1);
    assert.deepEqual(idsOf(following.lines), [newest()]);
    const { body } = await server().call('GET', `/user-admin/${viewer.id}/tokens`);
    await server().call('DELETE', `/user-admin/${viewer.id}/tokens/${body.pats[0].id}`);
    await following.ended;
    assert.equal((await open(server(), '', viewer.token)).status, 401);
    assert.equal((await open(server(), '', null)).status, 401);
  });

  it('loses and repeats nothing for a client that is killed and goes on after its last whole line', async () => {
    const { engine } = server().server.store;
    const start = newest();
    const got: number[] = [];
    const writing = (async () => {
      for (let round = 0; round < 30; round += 1)
        await record(
          server(),
          ...Array.from({ length: 40 }, (_, at) => tagType(`kill-${round}-${at}`, 'x'.repeat(900))),
        );
    })();
    for (let kills = 0; kills < 12; kills += 1) {
      const client = await open(server(), `?after=${got.at(-1) ?? start}`);
      await client.until(1 + 13 * kills);
      client.kill();
      got.push(...idsOf(client.lines));
    }
    await writing;
    got.push(...idsOf(await linesOf(server(), `?follow=false&after=${got.at(-1)}`)));
    assert.deepEqual(got, idsFrom(start + 1, engine.durableId));
  });

  it('keeps little for a client that does not read, which gets all once it does', async () => {
    const { engine } = server().server.store;
    const start = newest();
    const idle = await open(server(), `?after=${start}`);
    idle.response.pause();
    for (let round = 0; round < 20; round += 1)
      await record(
        server(),
        ...Array.from({ length: 250 }, (_, at) => tagType(`slow-${round}-${at}`, 'y'.repeat(1_000))),
      );
    assert(server().server.transport.unreadBytes < 2 ** 20 + 2 * LINES_BYTES_MAX);
    idle.response.resume();
    await idle.until(5_000);
    assert.deepEqual(idsOf(idle.lines), idsFrom(start + 1, engine.durableId));
    idle.kill();
  });

  it('holds on to no lines that its clients have taken', async () => {
    const start = newest();
    const big = Array.from({ length: 300 }, (_, at) => tagType(`held-${at}`, 'z'.repeat(1_000)));
    await record(server(), ...big);
    const before = liveBytes();
    const clients: Reading[] = [];
    for (let opened = 0; opened < 40; opened += 1) {
      const client = await open(server(), `?after=${start}`);
      await client.until(big.length);
      client.lines.length = 0;
      clients.push(client);
    }
    const held = liveBytes() - before;
    for (const client of clients) client.kill();
    assert(held < (clients.length * LINES_BYTES_MAX) / 2, `${held} bytes`);
  });

  it('gives no lines that were read under rights which have changed since', async () => {
    const { engine, reads } = server().server.store;
    let onReady = (): void => undefined;
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
    });
    const requester = { name: 'reader' };
    const lines = new LoggedLines({ context: { engine, reads, requester }, heard: () => null, onReady });
    const id = newest() - 1;
    assert.equal(lines.take(id), null);
    await ready;
    await addUser(server(), VIEWER);
    assert.equal(lines.take(id), null);
    lines.close();
  });

  it('refuses what is no event, an event that is not there yet, and one whose successors are no longer kept', async (t) => {
    for (const query of [
      'after=-1',
      'after=1e3',
      'after=9999999999999999',
      'after=x',
      `after=${newest() + 1}`,
      'follow=no',
      'type=user',
    ])
      await refused(server(), 400, 'ValidationError', { method: 'GET', path: `/events.ndjson?${query}` });
    assert.deepEqual(await linesOf(server(), `?follow=false&after=${newest()}`), []);
    const { eventLog } = server().server.store.engine;
    const oldest = newest();
    t.mock.method(eventLog, 'oldestId', () => oldest);
    const path = `/events.ndjson?after=${oldest - 2}`;
    const { body } = await refused(server(), 410, 'GoneError', { method: 'GET', path });
    assert.match(body.message, new RegExp(`before ${oldest} are no longer kept`));
    assert.deepEqual(idsOf(await linesOf(server(), '?follow=false')), [oldest]);
  });
});
