/** Changes past the protection of an environment: nobody makes one unnoticed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { metricsOf } from '../../../src/addons/change-requests/configure.ts';
import { makeFlag } from '../../support/interface.ts';
import { startTestServer } from '../../support/server.ts';
import { addPermitted, as, protect, ROLLOUT, succeeded } from './scene.ts';

it('a change past the protection is counted, found by its type with who made it and of what, and told to others', async (t) => {
  const server = await startTestServer({ env: { INTEGRATION_PRIVATE_HOSTS: '127.0.0.1' } });
  t.after(() => server.stop());
  let arrived: (body: string) => void;
  const told = new Promise<string>((resolve) => {
    arrived = resolve;
  });
  const receiver = createServer(async (request, response) => {
    const [body] = await once(request.setEncoding('utf8'), 'data');
    response.end();
    arrived(String(body));
  }).listen(0, '127.0.0.1');
  t.after(() => receiver.close());
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const integration = {
    ...{ provider: 'webhook', enabled: true, description: null, events: ['change-request-skipped'] },
    parameters: { url: `http://127.0.0.1:${port}/` },
  };
  await succeeded(server.call('POST', '/addons', integration));
  await makeFlag(server.call, 'urgent');
  await protect(server);
  const user = await addPermitted(server, 'SKIP_CHANGE_REQUEST', 'CREATE_FEATURE_STRATEGY');
  const path = '/projects/default/features/urgent/environments/production/strategies';
  assert.equal((await server.call('POST', path, ROLLOUT)).status, 403, 'an Admin has no such permission');
  const skips = () => metricsOf(server.server.store.engine).counters![0]![2]();
  assert.equal(skips(), 0);
  await succeeded(as(server, user)('POST', path, ROLLOUT));
  assert.equal(skips(), 1);
  const { events, total } = await succeeded(
    server.call('GET', '/search/events?type=IS:change-request-skipped'),
  );
  assert.equal(total, 1);
  const [{ project, environment, createdByUserId, data }] = events;
  assert.deepEqual([project, environment, createdByUserId], ['default', 'production', user.id]);
  assert.deepEqual(data.skip, {
    ...{ reason: 'permission', features: ['urgent'], events: ['feature-strategy-add'] },
  });
  assert.match(await told, /"change-request-skipped"/);
});
