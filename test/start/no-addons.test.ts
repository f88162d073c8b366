/** A server without add-ons. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog } from '../../src/process/log.ts';
import { startServer } from '../../src/server.ts';
import { caller, temporaryFolder, testConfig } from '../support/server.ts';

it('without the add-on that hashes passwords a user with one is refused, and one without is created', async (t) => {
  const server = await startServer({
    config: testConfig(temporaryFolder()),
    log: createLog('silent'),
    addons: [],
    stop: (error) => {
      throw error;
    },
    announceToken: async () => undefined,
  });
  t.after(() => server.close());
  const call = caller(`http://127.0.0.1:${server.port}`);
  const user = { username: 'ada', rootRole: 'Viewer' };
  const refused = await call('POST', '/user-admin', { ...user, password: 'Correct-horse-7' });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.details[0].path, '/body/password');
  assert.equal((await call('POST', '/user-admin', user)).status, 201);
});
