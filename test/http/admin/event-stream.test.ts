/** The stream of recorded events: what it tells, from where it goes on, whom it ends for, and its bounds. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { recordedStreams, STREAMS_PER_CALLER_MAX } from '../../../src/http/admin/event-stream.ts';
import { EVENTS_TOLD_MAX, TOLD_LENGTH_MAX } from '../../../src/http/admin/recorded-news.ts';
import { type OpenedStream, openStream } from '../../support/event-stream.ts';
import { addUser, FEATURES, makeFlag, record, refused } from '../../support/interface.ts';
import { ADMIN_TOKEN, describeInterface, type TestServer } from '../../support/server.ts';

const VIEWER = 3;
const DAY_MS = 86_400_000;

interface Opening {
  readonly token?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const streamed = (
  server: TestServer,
  { token = ADMIN_TOKEN, query = '', headers = {} }: Opening = {},
): Promise<OpenedStream> => openStream(server.origin, `/api/admin/event-stream${query}`, { token, headers });

describeInterface('GET /api/admin/event-stream', (server) => {
  const describe = (flag: string, description: string) =>
    server().call('PUT', `${FEATURES}/${flag}`, { description });

  it('tells of users and tokens only those who may list them', async () => {
    const viewer = await addUser(server(), VIEWER);
    await makeFlag(server().call, 'beside');
    const [all, some] = [await streamed(server()), await streamed(server(), { token: viewer.token })];
    for (const stream of [all, some]) assert.equal((await stream.next()).event, 'opened');
    await server().call('POST', '/api-tokens', { tokenName: 'secret', type: 'admin' });
    assert.equal((await all.next()).data.events[0].type, 'api-token-created');
    await describe('beside', 'changed');
    for (const stream of [all, some]) {
      assert.equal((await stream.next()).data.events[0].type, 'feature-metadata-updated');
      stream.close();
    }
  });

  it('tells each reader of each event by its head, once, in order', async () => {
    const { engine } = server().server.store;
    const viewer = await addUser(server(), VIEWER);
    await makeFlag(server().call, 'told');
    const before = engine.durableId;
    const streams = [await streamed(server()), await streamed(server(), { token: viewer.token })];
    for (const stream of streams) {
      assert.deepEqual(await stream.next(), { event: 'opened', id: String(before), data: {} });
    }
    await describe('told', 'secret words');
    for (const stream of streams) {
      const { event, id, data } = await stream.next();
      assert.deepEqual([event, id], ['recorded', String(before + 1)]);
      const [{ createdAt, ...head }, ...others] = data.events;
      assert(!Number.isNaN(Date.parse(createdAt)));
      assert.deepEqual(
        [head, others],
        [
          {
            id: before + 1,
            type: 'feature-metadata-updated',
            createdBy: 'admin',
            createdByUserId: -42,
            environment: null,
            project: 'default',
            featureName: 'told',
          },
          [],
        ],
      );
      stream.close();
    }
  });

  it('tells Admins whole events, as a search shows them, and nobody else', async () => {
    const viewer = await addUser(server(), VIEWER);
    await makeFlag(server().call, 'whole');
    const path = '/api/admin/event-stream/full';
    const stream = await openStream(server().origin, path, { token: ADMIN_TOKEN });
    assert.equal((await openStream(server().origin, path, { token: viewer.token })).status, 403);
    const next = async () => {
      for (;;) {
        const told = await stream.next();
        if (told.event !== 'signed') return told;
      }
    };
    await next();
    await describe('whole', 'words');
    const { data } = await next();
    const { body } = await server().call('POST', '/events/search', { feature: 'whole', limit: 1 });
    assert.equal(body.events[0].preData.name, 'whole');
    assert.deepEqual(data.events, body.events);
    await record(server(), {
      ...{ type: 'tag-type-created', project: null, featureName: null, environment: null, preData: null },
      data: { name: 'large', description: 'x'.repeat(TOLD_LENGTH_MAX), icon: null, color: null },
    });
    assert.equal((await next()).event, 'missed');
    stream.close();
  });

  it('goes on from the id that the client knows, and says so when more was missed than it tells', async () => {
    const { engine } = server().server.store;
    await makeFlag(server().call, 'missed');
    const known = engine.durableId;
    for (const word of ['one', 'two']) await describe('missed', word);
    for (const opening of [
      { query: `?after=${known}` },
      { query: '?after=0', headers: { 'last-event-id': String(known) } },
    ]) {
      const stream = await streamed(server(), opening);
      assert.equal((await stream.next()).id, String(known));
      const { data } = await stream.next();
      assert.deepEqual(
        data.events.map(({ id }: { id: number }) => id),
        [known + 1, known + 2],
      );
      stream.close();
    }
    const many = Array.from({ length: EVENTS_TOLD_MAX + 1 }, (_, at) => ({
      type: 'tag-type-created' as const,
      ...{ project: null, featureName: null, environment: null, preData: null },
      data: { name: `kind-${at}`, description: '', icon: null, color: null },
    }));
    await record(server(), ...many);
    for (const after of [known, known + 1_000_000]) {
      const stream = await streamed(server(), { query: `?after=${after}` });
      await stream.next();
      const { event, id } = await stream.next();
      assert.deepEqual([event, id], ['missed', String(engine.durableId)]);
      stream.close();
    }
    await refused(server(), 400, 'ValidationError', { method: 'GET', path: '/event-stream?after=-1' });
  });

  it('ends when the token is deleted, the user goes, or the token expires; and is for readers only', async (t) => {
    let aheadMs = 0;
    const { now } = Date;
    t.mock.method(Date, 'now', () => now() + aheadMs);
    await server().restart();
    const { call } = server();
    const [deleted, gone] = [await addUser(server(), VIEWER), await addUser(server(), VIEWER)];
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
    const expiring = await addUser(server(), VIEWER, { expiresAt });
    const streams = [];
    for (const { token } of [deleted, gone, expiring]) streams.push(await streamed(server(), { token }));
    await Promise.all(streams.map((stream) => stream.next()));
    aheadMs = DAY_MS;
    const { body } = await call('GET', `/user-admin/${deleted.id}/tokens`);
    await call('DELETE', `/user-admin/${deleted.id}/tokens/${body.pats[0].id}`);
    await call('DELETE', `/user-admin/${gone.id}`);
    await Promise.all(streams.map((stream) => stream.ended));
    assert.equal(recordedStreams(server().server.store.engine).count, 0);
    for (const { token } of [deleted, expiring]) {
      assert.equal((await streamed(server(), { token })).status, 401);
    }
    await refused(server(), 401, 'AuthenticationRequired', {
      ...{ method: 'GET', path: '/event-stream', token: 'user:nobody' },
    });
  });

  it('is open as often as a caller may have it, leaves room for others, and ends at a stop', async () => {
    const many = await addUser(server(), VIEWER);
    const open: OpenedStream[] = [];
    for (let count = 0; count < STREAMS_PER_CALLER_MAX; count += 1) {
      open.push(await streamed(server(), many));
    }
    assert.equal((await streamed(server(), many)).status, 503);
    const other = await streamed(server());
    assert.equal(other.status, 200);
    for (const stream of open) stream.close();
    await Promise.all([other.ended, server().restart()]);
  });
});
