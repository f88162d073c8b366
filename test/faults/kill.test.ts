/** The short form of kill.ts, which the long fault tests run for 200 rounds. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { FEATURES } from '../support/interface.ts';
import { KillOracle } from '../support/kill-oracle.ts';
import { type Call, startTestServer, type TestServer } from '../support/server.ts';
import { runKills } from './kill.ts';

it('nothing acknowledged is lost when the process is killed under load, again and again', async (t) => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`SEED=${seed}`);
  const { kills, acknowledged } = await runKills({ rounds: 5, seed });
  assert.equal(kills, 5);
  assert(acknowledged > 0);
});

describe('the oracle of the kills', () => {
  let server: TestServer;
  let oracle: KillOracle;
  beforeEach(async () => {
    server = await startTestServer();
    oracle = new KillOracle(2);
    await oracle.prepare(server.call);
  });
  afterEach(() => server.stop());

  const write = (call: Call) => oracle.clients[0]?.write(call, () => undefined);

  it('is content with a server that keeps what it answered', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const client of oracle.clients) await client.write(server.call, () => undefined);
      await oracle.check(server.call);
    }
  });

  it('accepts of an unanswered change that it is in, or out', async () => {
    for (const isIn of [true, false]) {
      const breaking: Call = async (...request) => {
        if (isIn) await server.call(...request);
        throw new Error('the connection broke');
      };
      await assert.rejects(async () => write(breaking), /broke/);
      await oracle.check(server.call);
    }
  });

  it('notices an answered change that is lost', async () => {
    const losing: Call = async (method, ...request) => {
      if (method === 'PUT') return { status: 200, headers: new Headers(), body: undefined };
      return server.call(method, ...request);
    };
    await write(losing);
    await assert.rejects(oracle.check(server.call), /exactly what was answered/);
  });

  it('notices a change that nobody made', async () => {
    await write(server.call);
    await server.call('PUT', `${FEATURES}/own-0`, { description: '2', stale: false });
    await assert.rejects(oracle.check(server.call), /exactly what was answered/);
  });

  it('notices a change of which only a part is there', async () => {
    const halving: Call = (method, path, body) =>
      server.call(method, path, method === 'PUT' ? { ...(body as object), stale: false } : body);
    await write(halving);
    await assert.rejects(oracle.check(server.call), /wholly in or wholly out/);
  });
});
