/**
 * A dependency that throws behind every route there is: the client gets 500 with an id for the log, nothing is
 * changed, no request hangs, and the next one is served. The routes come from the table that the server serves.
 */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Engine } from '../../src/actors/engine.ts';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { DESCRIBED } from '../support/described-routes.ts';
import { exampleBody } from '../support/example-body.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ADMIN_SURFACE } from '../support/surfaces.ts';

/** Makes every look at the state throw, until `mend`. */
function breakState(): { readonly mend: () => void } {
  const { prototype } = Engine;
  const world = Object.getOwnPropertyDescriptor(prototype, 'world');
  assert(world?.get !== undefined, 'whoever looks at the state asks for it anew');
  const broken = new Proxy(
    {},
    {
      get: () => {
        throw new Error('a dependency is broken');
      },
    },
  );
  Object.defineProperty(prototype, 'world', { configurable: true, get: () => broken });
  return { mend: () => void Object.defineProperty(prototype, 'world', world) };
}

/** These respond without a look at the state, or want a user, which nobody is while authentication is off. */
const INDEPENDENT: Readonly<Record<string, number>> = {
  validateConstraint: 204,
  getEventTypes: 200,
  searchUsers: 200,
  validatePassword: 200,
  getTelemetrySettings: 200,
  getOidcSettings: 200,
  setOidcSettings: 409,
  getSamlSettings: 200,
  setSamlSettings: 200,
  createFeedback: 200,
  updateFeedback: 200,
  updateSplashSettings: 200,
  recordUiError: 204,
  // What applications reported is no part of the state, and none has reported here.
  getApplications: 200,
  getApplication: 404,
  getApplicationOverview: 404,
  getApplicationEnvironmentInstances: 200,
  getOutdatedSdks: 200,
  getUsage: 200,
};

describe('a dependency that throws', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ env: { AUTH_TYPE: 'none' } });
  });
  after(() => server.stop());

  for (const described of DESCRIBED.filter(({ surface }) => surface === ADMIN_SURFACE)) {
    const { route } = described;
    it(`behind ${route.method} ${route.path} is a 500, and nothing hangs`, async () => {
      const { engine } = server.server.store;
      const before = stateHash(engine.world);
      const { mend } = breakState();
      const path = route.path.replaceAll(/:[A-Za-z]+/g, '1');
      const response = await server.call(route.method, path, exampleBody(described)).finally(mend);
      const expected = route.permission === 'personal' ? 403 : (INDEPENDENT[route.operationId] ?? 500);
      assert.equal(response.status, expected, `${route.operationId}: ${response.body?.message}`);
      if (expected === 500) {
        assert.equal(response.body.name, 'InternalError');
        assert(!JSON.stringify(response.body).includes('is broken'), 'what went wrong is for the log');
      }
      assert.equal((await server.call('GET', '/projects')).status, 200, 'the next request is served');
      assert.equal(server.server.transport.openRequests, 0, 'nothing hangs');
      assert.equal(stateHash(engine.world), before, 'nothing changed');
    });
  }
});
