/** Invariants 3 and 4 as a client sees them: nothing is answered that a crash could take back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import '../../support/check-responses.ts';
import { type Gate, gatedDisk, settle } from '../../support/engine.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { addProject, addStrategy, environmentPath, FEATURES, makeFlag } from '../../support/interface.ts';
import { type ReceivedResponse, startTestServer, type TestServer } from '../../support/server.ts';

type Request = readonly [method: string, path: string, body?: unknown];

interface Pending {
  readonly request: Request;
  readonly response: Promise<ReceivedResponse>;
  hasResponded(): boolean;
}

describe('durability', () => {
  let server: TestServer;
  let gate: Gate;

  before(async () => {
    const gated = gatedDisk();
    gate = gated.gate;
    server = await startTestServer({
      store: { fs: gated.disk, logReader: inlineLogReader(gated.disk) },
    });
    await addProject(server, 'settled');
    await server.call('POST', '/projects/settled/features', { name: 'calm' });
    await makeFlag(server.call, 'known');
    await addStrategy(server.call, 'known');
  });
  after(async () => {
    gate.open();
    await server.stop();
  });

  const send = (request: Request): Pending => {
    let responded = false;
    const response = server.call(...request);
    void response.then(() => {
      responded = true;
    });
    return { request, response, hasResponded: () => responded };
  };

  /** Waits until a sync of the journal is held back: the change before it is applied, and not durable. */
  async function syncBegun(): Promise<void> {
    while (gate.waitingCount === 0) await settle();
  }

  /**
   * A settled read, sent last and answered: what was sent before it has been handled by then, as the server
   * handles requests in the order in which they arrive; a few more rounds let answers travel.
   */
  async function allHandled(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      const { status } = await server.call('GET', '/projects/settled/features/calm');
      assert.equal(status, 200, 'reads of settled state are answered at once');
      await settle();
    }
  }

  async function expectHeldBack(requests: readonly Request[]): Promise<readonly ReceivedResponse[]> {
    const pending = requests.map(send);
    await allHandled();
    for (const { request, hasResponded } of pending) assert(!hasResponded(), `${request} is answered early`);
    gate.open();
    return Promise.all(pending.map(({ response }) => response));
  }

  it('a change is not answered, and not seen by any read, before it is on disk', async () => {
    gate.close();
    const change = send(['PUT', `${FEATURES}/known`, { description: 'new' }]);
    await syncBegun();
    const responses = await expectHeldBack([
      ['GET', `${FEATURES}/known`],
      ['GET', '/projects/default'],
      ['GET', FEATURES],
      ['GET', `${FEATURES}/known/parents`],
      ['HEAD', `${FEATURES}/known`],
    ]);
    assert.equal((await change.response).body.description, 'new');
    assert.equal(responses[0]?.body.description, 'new');
    assert(responses.every(({ status }) => status === 200));
  });

  it('refusals and responses without change wait for what they depend on', async () => {
    gate.close();
    const created = send(['POST', FEATURES, { name: 'fresh' }]);
    await syncBegun();
    const responses = await expectHeldBack([
      ['POST', FEATURES, { name: 'fresh' }],
      ['POST', '/projects/settled/features', { name: 'fresh' }],
      ['POST', `${environmentPath('fresh')}/on`],
      ['PUT', `${FEATURES}/fresh`, {}],
      ['GET', `${FEATURES}/absent`],
      ['DELETE', `${FEATURES}/absent`],
    ]);
    assert.equal((await created.response).status, 201);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [409, 409, 409, 200, 404, 404],
    );
  });

  it('the search shows what is on disk and nothing else, without waiting', async () => {
    gate.close();
    const change = send(['PUT', `${FEATURES}/known`, { description: 'not yet' }]);
    await syncBegun();
    const found = async () =>
      (await server.call('POST', '/events/search', { query: 'not yet' })).body.totalEvents;
    assert.equal(await found(), 0);
    gate.open();
    await change.response;
    assert.equal(await found(), 1);
  });

  it('reads of other projects, requests of the wrong shape and unknown paths do not wait', async () => {
    gate.close();
    const change = send(['PUT', `${FEATURES}/known`, { description: 'slow' }]);
    await syncBegun();
    const statuses: number[] = [];
    const requests: readonly Request[] = [
      ['GET', '/projects/settled'],
      ['GET', '/projects/settled/features'],
      ['POST', FEATURES, { name: 5 }],
      ['GET', '/nothing'],
      ['DELETE', '/user/profile'],
      ['GET', '/user/profile'],
    ];
    for (const request of requests) statuses.push((await server.call(...request)).status);
    assert.deepEqual(statuses, [200, 200, 400, 404, 405, 200]);
    const { status } = await server.call('GET', `${FEATURES}/known`, undefined, { token: null });
    assert.equal(status, 401, 'nor do callers without a valid token');
    assert(!change.hasResponded());
    gate.open();
    assert.equal((await change.response).status, 200);
  });
});
