import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { createLog } from '../../../src/process/log.ts';
import { type Call, startTestServer } from '../../support/server.ts';
import { type Receiver, startReceiver } from './receiver.ts';

interface Told {
  readonly id: string;
  readonly name: unknown;
}

interface Scene {
  readonly call: Call;
  readonly id: number;
  readonly told: readonly Told[];
  readonly receiver: Receiver;
  /** The status with which the receiver responds. */
  status: number;
  readonly lines: readonly string[];
  restart(): Promise<void>;
  /** Resolves when the receiver has got another request. */
  next(): Promise<void>;
}

const SECRET = 'Bearer very-secret';

async function startScene(t: TestContext): Promise<Scene> {
  const told: Told[] = [];
  const lines: string[] = [];
  let wake = (): void => undefined;
  const receiver = await startReceiver(t, ({ headers }, response, body) => {
    told.push({
      id: String(headers['webhook-id']),
      name: (JSON.parse(body) as { featureName: unknown }).featureName,
    });
    response.writeHead(scene.status).end(SECRET);
    wake();
  });
  const log = createLog('trace', { write: (line: string) => void lines.push(line) });
  const server = await startTestServer({ env: { INTEGRATION_PRIVATE_HOSTS: '127.0.0.1' }, log });
  t.after(() => server.stop());
  const parameters = { url: `${receiver.url}very-secret`, authorization: SECRET };
  const sent = {
    provider: 'webhook',
    enabled: true,
    description: null,
    parameters,
    events: ['feature-created'],
  };
  const created = await server.call('POST', '/addons', sent);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const scene: Scene = {
    ...{ told, receiver, lines, status: 200 },
    call: server.call,
    id: (created.body as { id: number }).id,
    restart: () => server.restart(),
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
  return scene;
}

const createFlag = async ({ call }: Scene, name: string): Promise<void> => {
  const { status } = await call('POST', '/projects/default/features', { name });
  assert.equal(status, 201);
};

interface Row {
  readonly state: string;
  readonly stateDetails: string;
  readonly event: { readonly featureName: string; readonly data: { readonly name: string } } | null;
  readonly details: { readonly eventId: number | null };
}

async function rowsOf({ call, id }: Scene, query = ''): Promise<readonly Row[]> {
  const { status, body } = await call('GET', `/addons/${id}/events${query}`);
  assert.equal(status, 200);
  return (body as { integrationEvents: readonly Row[] }).integrationEvents;
}

/** Waits until the server shows what is true of its deliveries. */
async function until(
  scene: Scene,
  holds: (state: { lastEventId: number; newestEventId: number; state: string }) => boolean,
) {
  for (;;) {
    const { status, body } = await scene.call('GET', `/addons/${scene.id}/delivery`);
    assert.equal(status, 200, JSON.stringify(body));
    if (holds(body as Parameters<typeof holds>[0])) return body as Parameters<typeof holds>[0];
  }
}

const isDone = ({ lastEventId, newestEventId }: { lastEventId: number; newestEventId: number }): boolean =>
  lastEventId === newestEventId;

test('an event is delivered, listed, and delivered again from its id, also after a restart', async (t) => {
  const scene = await startScene(t);
  await createFlag(scene, 'a');
  await createFlag(scene, 'b');
  const { newestEventId } = await until(scene, isDone);
  assert.deepEqual(
    scene.told.map(({ name }) => name),
    ['a', 'b'],
  );
  const rows = await rowsOf(scene);
  assert.deepEqual(
    rows.map(({ state, event }) => [state, event?.featureName]),
    [
      ['success', 'b'],
      ['success', 'a'],
    ],
  );
  assert.equal(rows[0]?.event?.data.name, 'b');
  assert.deepEqual(await rowsOf(scene, '?limit=1&offset=1'), [rows[1]]);
  await scene.restart();
  assert.deepEqual(await rowsOf(scene), rows, 'a restart keeps the list');
  await createFlag(scene, 'c');
  await until(scene, isDone);
  assert.deepEqual(
    scene.told.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  const eventId = Number(scene.told[1]?.id);
  const moved = await scene.call('POST', `/addons/${scene.id}/delivery/position`, { eventId });
  assert.equal(moved.status, 202);
  await until(scene, isDone);
  assert.deepEqual(
    scene.told.map(({ name }) => name),
    ['a', 'b', 'c', 'b', 'c'],
  );
  for (const wrong of [0, newestEventId + 1_000, 1.5, 'x']) {
    const refused = await scene.call('POST', `/addons/${scene.id}/delivery/position`, { eventId: wrong });
    assert.equal(refused.status, 400);
  }
});

/** A receiver that refuses what it gets, and has got something. */
async function startFailing(t: TestContext): Promise<Scene> {
  const scene = await startScene(t);
  scene.status = 500;
  const failed = scene.next();
  await createFlag(scene, 'a');
  await failed;
  await until(scene, ({ state }) => state === 'retrying');
  return scene;
}

test('a failed delivery is shown, and sent again on request', async (t) => {
  const scene = await startFailing(t);
  const [row] = await rowsOf(scene);
  assert.deepEqual([row?.state, row?.stateDetails], ['failed', 'The receiver answered with status 500.']);
  const tested = await scene.call('POST', `/addons/${scene.id}/delivery/test`);
  assert.equal((tested.body as { state: string }).state, 'failed');
  scene.status = 200;
  assert.equal((await scene.call('POST', `/addons/${scene.id}/delivery/retry`)).status, 202);
  await until(scene, isDone);
  assert.equal((await rowsOf(scene))[0]?.state, 'success');
});

test('a test reaches the receiver with the id 0, and is shown', async (t) => {
  const scene = await startScene(t);
  await until(scene, isDone);
  const tested = await scene.call('POST', `/addons/${scene.id}/delivery/test`);
  assert.deepEqual(tested.body, { state: 'success', details: '' });
  assert.deepEqual(scene.told, [{ id: '0', name: 'test-of-an-integration' }]);
  assert.equal((await rowsOf(scene))[0]?.details.eventId, 0);
});

test('secrets of an integration are in no log line, response or row', async (t) => {
  const scene = await startFailing(t);
  const shown = [await scene.call('GET', '/addons'), await scene.call('GET', `/addons/${scene.id}/events`)];
  shown.push(await scene.call('GET', '/events'), await scene.call('GET', `/addons/${scene.id}/delivery`));
  for (const { body } of shown) assert(!JSON.stringify(body).includes('very-secret'));
  for (const line of scene.lines) assert(!line.includes(SECRET) && !line.includes('very-secret'), line);
});

test('a private receiver that no setting lists is not reached', async (t) => {
  const receiver = await startReceiver(t);
  const server = await startTestServer();
  t.after(() => server.stop());
  const { body } = await server.call('POST', '/addons', {
    provider: 'webhook',
    enabled: true,
    parameters: { url: receiver.url },
    events: ['feature-created'],
  });
  const { id } = body as { id: number };
  const tested = await server.call('POST', `/addons/${id}/delivery/test`);
  assert.deepEqual(tested.body, {
    state: 'failed',
    details:
      '127.0.0.1 has no public address; INTEGRATION_PRIVATE_HOSTS lists the hosts that may have private ones.',
  });
  assert.equal(receiver.connections(), 0);
});

test('calls about an integration that is not there get 404', async (t) => {
  const server = await startTestServer();
  t.after(() => server.stop());
  for (const path of ['/addons/9/events', '/addons/9/delivery', '/addons/x/events'])
    assert.equal((await server.call('GET', path)).status, 404, path);
  for (const path of ['retry', 'test'])
    assert.equal((await server.call('POST', `/addons/9/delivery/${path}`)).status, 404, path);
});

test('a setting that lists no host is refused by name', async () => {
  for (const INTEGRATION_PRIVATE_HOSTS of ['http://a', 'a:80', 'a, b c', '10.0.0.0/8'])
    await assert.rejects(
      startTestServer({ env: { INTEGRATION_PRIVATE_HOSTS } }),
      /INTEGRATION_PRIVATE_HOSTS must hold/,
    );
});
