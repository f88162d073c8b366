/** The stream of changes: what a client gets first, what it is told, what it goes on from, and when it ends. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { flagStreams } from '../../../src/addons/sdk/flag-streams.ts';
import {
  NARROWED_STREAMED_MAX,
  NARROWED_STREAMED_PER_TOKEN_MAX,
} from '../../../src/addons/sdk/query-watches.ts';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { type OpenedStream, openStream, streamFor } from '../../support/event-stream.ts';
import { addProject, addStrategy, archive, environmentPath, makeFlag } from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

const STREAMING = '/api/client/streaming';

const clientToken = (server: TestServer, fields: object = {}): Promise<string> =>
  addToken(server, { type: 'client', environment: 'development', ...fields });

async function opened(
  server: TestServer,
  { token, query = '', lastEventId }: { token?: string; query?: string; lastEventId?: string } = {},
): Promise<OpenedStream> {
  const stream = await openStream(server.origin, STREAMING + query, {
    token: token ?? (await clientToken(server)),
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  });
  assert.equal(stream.status, 200);
  return stream;
}

const namesIn = (hydration: { features: readonly { name: string }[] }): string[] =>
  hydration.features.map(({ name }) => name).sort();

describeInterface('GET /api/client/streaming', (server) => {
  const toggle = (flag: string, to: 'on' | 'off', environment = 'development') =>
    server().call('POST', `${environmentPath(flag, environment)}/${to}`);

  it('begins with all flags, and then tells of each change once it is durable, under the id of its event', async () => {
    await makeRunningFlag(server().call, 'streamed');
    const stream = await opened(server());
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    assert.equal(stream.headers['cache-control'], 'no-cache');
    const { event, id, data } = await stream.next();
    assert.equal(event, 'unleash-connected');
    const [hydration, ...others] = data.events;
    assert.deepEqual([hydration.type, String(hydration.eventId), others], ['hydration', id, []]);
    const features = await server().callBelow('/api/client')('GET', '/features', undefined, {
      token: await clientToken(server()),
      headers: { 'unleash-client-spec': '5.2.0' },
    });
    assert.deepEqual(hydration.features, features.body.features);
    await toggle('streamed', 'off');
    const update = await stream.next();
    const { lastId } = server().server.store.engine;
    assert.deepEqual([update.event, update.id], ['unleash-updated', String(lastId)]);
    assert.equal(update.data.events.length, 1);
    const [{ type, eventId, feature }] = update.data.events;
    assert.deepEqual(
      [type, eventId, feature.name, feature.enabled],
      ['feature-updated', lastId, 'streamed', false],
    );
    stream.close();
  });

  it('tells of archived, revived and deleted flags', async () => {
    const { call } = server();
    await makeRunningFlag(call, 'come-and-gone');
    const stream = await opened(server());
    await stream.next();
    await archive(call, 'come-and-gone');
    const gone = await stream.next();
    const removed = { type: 'feature-removed', featureName: 'come-and-gone', project: 'default' };
    assert.deepEqual(gone.data.events, [{ ...removed, eventId: Number(gone.id) }]);
    await call('POST', '/archive/revive/come-and-gone');
    const back = await stream.next();
    assert.deepEqual(
      back.data.events.map(({ type, feature }: { type: string; feature: { name: string } }) => [
        type,
        feature.name,
      ]),
      [['feature-updated', 'come-and-gone']],
    );
    stream.close();
  });

  it('says nothing of other environments and projects, nor of what SDKs do not see', async () => {
    const { call } = server();
    const project = `elsewhere-${server().server.store.engine.lastId}`;
    await addProject(server(), project);
    await makeRunningFlag(call, 'silent');
    await addStrategy(call, 'silent', {}, 'production');
    const stream = await opened(server(), { token: await clientToken(server(), { projects: ['default'] }) });
    assert.deepEqual(namesIn((await stream.next()).data.events[0]).includes('silent'), true);
    await toggle('silent', 'on', 'production');
    await addStrategy(call, 'silent', { name: 'default' }, 'production');
    await call('POST', `/projects/${project}/features`, { name: 'of-another-project' });
    await call('POST', '/features/silent/tags', { type: 'simple', value: 'quiet' });
    await toggle('silent', 'off');
    const { data } = await stream.next();
    assert.deepEqual(
      data.events.map(({ feature }: { feature: { name: string; enabled: boolean } }) => [
        feature.name,
        feature.enabled,
      ]),
      [['silent', false]],
      'the first thing that it hears of is the change that it sees',
    );
    stream.close();
  });

  it('goes on after the id that a client names, and says nothing if it missed nothing', async () => {
    await makeRunningFlag(server().call, 'resumed');
    const token = await clientToken(server());
    const first = await opened(server(), { token });
    const { id } = await first.next();
    first.close();
    await toggle('resumed', 'off');
    await makeFlag(server().call, 'made-meanwhile');
    const second = await opened(server(), { token, lastEventId: id });
    const { event, id: newestId, data } = await second.next();
    assert.equal(event, 'unleash-connected');
    assert.deepEqual(
      data.events.map(({ type, feature }: { type: string; feature: { name: string } }) => [
        type,
        feature.name,
      ]),
      [
        ['feature-updated', 'resumed'],
        ['feature-updated', 'made-meanwhile'],
      ],
    );
    second.close();
    const third = await opened(server(), { token, lastEventId: newestId });
    await toggle('resumed', 'on');
    const next = await third.next();
    assert.equal(next.event, 'unleash-updated', 'nothing came before the next change');
    third.close();
  });

  it('begins anew for an id that is unknown, too new or no id', async () => {
    const token = await clientToken(server());
    for (const lastEventId of ['0', '1', '999999999', 'x', '1.5', '-1', '']) {
      const stream = await opened(server(), { token, lastEventId });
      assert.equal((await stream.next()).data.events[0].type, 'hydration', lastEventId);
      stream.close();
    }
  });

  it('is narrowed by a query', async () => {
    const { call } = server();
    await makeFlag(call, 'narrow-a');
    await makeFlag(call, 'wide-b');
    const stream = await opened(server(), { query: '?namePrefix=narrow-' });
    assert.deepEqual(namesIn((await stream.next()).data.events[0]), ['narrow-a']);
    await makeFlag(call, 'wide-c');
    await makeFlag(call, 'narrow-d');
    assert.deepEqual((await stream.next()).data.events[0].feature.name, 'narrow-d');
    stream.close();
  });

  it('tells a client of a segment before the flag that refers to it, of its changes, and when no flag needs it', async () => {
    const { call } = server();
    await makeFlag(call, 'segmented');
    const segment = await call('POST', '/segments', {
      name: `north-${server().server.store.engine.lastId}`,
      constraints: [{ contextName: 'country', operator: 'IN', values: ['NO'] }],
    });
    const { id } = segment.body;
    const stream = await opened(server());
    assert.deepEqual((await stream.next()).data.events[0].segments, [], 'no flag refers to it');
    const { id: strategyId } = await addStrategy(call, 'segmented', { segments: [id] });
    const used = (await stream.next()).data.events;
    assert.deepEqual(
      used.map(({ type, eventId }: { type: string; eventId: number }) => [type, eventId]),
      [
        ['segment-updated', used[0].eventId],
        ['feature-updated', used[0].eventId],
      ],
    );
    assert.deepEqual([used[0].segment.id, used[1].feature.strategies[0].segments], [id, [id]]);
    const constraints = [{ contextName: 'country', operator: 'IN', values: ['SE'] }];
    await call('PUT', `/segments/${id}`, { name: segment.body.name, constraints });
    const changed = (await stream.next()).data.events;
    assert.deepEqual(
      changed.map(({ type }: { type: string }) => type),
      ['segment-updated'],
    );
    assert.deepEqual(changed[0].segment.constraints[0].values, ['SE']);
    await call('DELETE', `${environmentPath('segmented')}/strategies/${strategyId}`);
    const unused = (await stream.next()).data.events;
    assert.deepEqual(
      unused.map(({ type }: { type: string }) => type),
      ['feature-updated', 'segment-removed'],
    );
    assert.equal(unused[1].segmentId, id);
    stream.close();
  });

  it('ends when the token is deleted, and lets other streams go on', async () => {
    const [gone, staying] = [await clientToken(server()), await clientToken(server())];
    const [first, second] = [
      await opened(server(), { token: gone }),
      await opened(server(), { token: staying }),
    ];
    await Promise.all([first.next(), second.next()]);
    assert.equal((await server().call('DELETE', `/api-tokens/${gone}`)).status, 200);
    await first.ended;
    await makeFlag(server().call, 'after-the-token');
    assert.equal((await second.next()).data.events[0].feature.name, 'after-the-token');
    second.close();
  });

  it('goes on silently when a project that it saw is deleted, whose flags were archived before', async () => {
    const { call } = server();
    const project = `leaving-${server().server.store.engine.lastId}`;
    await addProject(server(), project);
    await call('POST', `/projects/${project}/features`, { name: `${project}-flag` });
    const stream = await opened(server());
    await stream.next();
    await call('DELETE', `/projects/${project}/features/${project}-flag`);
    assert.equal((await stream.next()).data.events[0].type, 'feature-removed');
    assert.equal((await call('DELETE', `/projects/${project}`)).status, 200);
    await makeFlag(call, `after-${project}`);
    const { data } = await stream.next();
    assert.deepEqual(
      data.events.map(({ feature }: { feature: { name: string } }) => feature.name),
      [`after-${project}`],
    );
    stream.close();
  });

  const narrowed = (token: string, number: number): Promise<OpenedStream> =>
    openStream(server().origin, `${STREAMING}?namePrefix=${number}-`, { token });

  it('is refused for one filter more than there may be, of a token and of all, and not for one that others use', async () => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => clientToken(server())));
    const half = NARROWED_STREAMED_PER_TOKEN_MAX;
    const streams = await Promise.all(Array.from({ length: half }, (_, at) => narrowed(first!, at)));
    await Promise.all(streams.map((stream) => stream.next()));
    const beyondToken = await narrowed(first!, half);
    assert.equal(beyondToken.status, 503);
    for (let at = half; at < NARROWED_STREAMED_MAX; at += 1) streams.push(await narrowed(second!, at));
    assert(streams.every(({ status }) => status === 200));
    const refused = await narrowed(third!, NARROWED_STREAMED_MAX);
    const [shared, whole] = [await narrowed(third!, 0), await opened(server(), { token: third! })];
    assert.deepEqual([refused.status, shared.status, whole.status], [503, 200, 200]);
    for (const stream of [...streams, beyondToken, refused, shared, whole]) stream.close();
  });

  it('is refused to those beyond the filters that there may be when all are opened at once', async () => {
    const token = await clientToken(server());
    const asked = Array.from({ length: NARROWED_STREAMED_PER_TOKEN_MAX + 5 }, (_, at) => narrowed(token, at));
    const streams = await Promise.all(asked);
    const statuses = streams.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses.slice(NARROWED_STREAMED_PER_TOKEN_MAX), Array(5).fill(503));
    assert.equal(statuses[NARROWED_STREAMED_PER_TOKEN_MAX - 1], 200);
    for (const stream of streams) stream.close();
  });

  it('responds to HEAD with the head alone, and opens no stream', async () => {
    const response = await fetch(server().origin + STREAMING, {
      method: 'HEAD',
      headers: { authorization: await clientToken(server()) },
    });
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream']);
    assert.equal(flagStreams(server().server.store.engine).count, server().server.transport.openStreams);
  });

  it('asks for a client token', async (t) => {
    const frontend = await addToken(server(), { type: 'frontend', environment: 'development' });
    for (const [token, status] of [
      [null, 401],
      ['default:development.unknown', 401],
      [frontend, 403],
    ] as const) {
      const stream = await streamFor(t, server().origin, STREAMING, { token });
      assert.equal(stream.status, status);
      stream.close();
    }
  });
});
