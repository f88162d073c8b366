/** Evaluations that workers keep: the same as the main thread gives, never an old one, and to nobody who may not have it any more. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RouteMeter } from '../../../src/http/dispatch/meters.ts';
import type { WorkersTransport } from '../../../src/http/workers/workers-transport.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Answer, Connection } from './connections.ts';

const FLAGS = '/admin/projects/default/features';
const WORKERS = 2;
const ORIGIN = 'https://shop.example';

describe('evaluations by a server with two HTTP workers', () => {
  let server: TestServer;
  /** One for each worker. */
  let connections: Connection[];
  let token: string;
  before(async () => {
    const env = { HTTP_WORKERS: String(WORKERS), UNLEASH_FRONTEND_API_ORIGINS: ORIGIN };
    server = await startTestServer({ env });
    connections = Array.from({ length: WORKERS }, () => new Connection(server.origin));
    token = await addToken();
  });
  after(async () => {
    for (const connection of connections) connection.close();
    await server.stop();
  });

  const admin = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await (connections[0] as Connection).ask(path, { method, body });
    assert.ok(answer.status < 300, `${method} ${path} ${answer.status}`);
    return answer;
  };

  async function addToken(): Promise<string> {
    const body = { tokenName: 'page', type: 'frontend', environment: 'development', projects: ['*'] };
    return (await admin('POST', '/admin/api-tokens', body)).body.secret;
  }

  /** A flag that is on for users whose id is in the list, and for others by a strategy of its own. */
  async function makeFlag(name: string, strategy: unknown): Promise<void> {
    await admin('POST', FLAGS, { name });
    await admin('POST', `${FLAGS}/${name}/environments/development/strategies`, strategy);
    await admin('POST', `${FLAGS}/${name}/environments/development/on`);
  }

  interface Form {
    readonly what: string;
    readonly route: readonly ['GET' | 'POST', string];
    ask(connection: Connection, userId: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
    /** Whether the flag is on, in a response. */
    isOn(answer: Answer, name: string): boolean;
  }

  const inToggles = ({ body }: Answer, name: string): boolean =>
    body.toggles.some((toggle: { readonly name: string }) => toggle.name === name);
  const FORMS: readonly Form[] = [
    {
      what: 'toggles',
      route: ['GET', '/api/frontend'],
      ask: (connection, userId, headers = {}) =>
        connection.ask(`/frontend?userId=${userId}`, { token, headers }),
      isOn: inToggles,
    },
    {
      what: 'toggles for a context in a body',
      route: ['POST', '/api/frontend'],
      ask: (connection, userId, headers = {}) =>
        connection.ask('/frontend', { method: 'POST', token, headers, body: { context: { userId } } }),
      isOn: inToggles,
    },
    {
      what: 'evaluations',
      route: ['POST', '/ofrep/v1/evaluate/flags'],
      ask: (connection, userId, headers = {}) => {
        const body = { context: { targetingKey: userId } };
        return connection.ask('/../ofrep/v1/evaluate/flags', { method: 'POST', token, headers, body });
      },
      isOn: ({ body }, name) =>
        body.flags.find((flag: { readonly key: string }) => flag.key === name).value === true,
    },
    {
      what: 'one evaluation',
      route: ['POST', '/ofrep/v1/evaluate/flags/:featureName'],
      ask: (connection, userId, headers = {}) => {
        const body = { context: { targetingKey: userId } };
        return connection.ask('/../ofrep/v1/evaluate/flags/mine', { method: 'POST', token, headers, body });
      },
      isOn: ({ body }) => body.value === true,
    },
  ];

  it('are those for each context, and show each change on every worker', async () => {
    await makeFlag('mine', { name: 'userWithId', parameters: { userIds: 'ann' } });
    const on = `${FLAGS}/mine/environments/development/on`;
    for (const isOn of [true, false, true]) {
      await admin('POST', isOn ? on : on.replace(/on$/, 'off'));
      for (const { what, ask, isOn: isOnIn } of FORMS) {
        for (const connection of [...connections, ...connections, ...connections]) {
          assert.equal(isOnIn(await ask(connection, 'ann'), 'mine'), isOn, `${what} for ann`);
          assert.equal(isOnIn(await ask(connection, 'bob'), 'mine'), false, `${what} for bob`);
        }
      }
    }
  });

  it('may be read by pages of other origins, also with 304', async () => {
    for (const { what, ask } of FORMS) {
      for (const connection of [...connections, ...connections, ...connections]) {
        const answer = await ask(connection, 'page', { origin: ORIGIN });
        assert.equal(answer.headers['access-control-allow-origin'], ORIGIN, what);
        const other = await ask(connection, 'page', { origin: 'https://other.example' });
        assert.equal(other.headers['access-control-allow-origin'], undefined, what);
        if (answer.etag === '' || what === 'toggles for a context in a body') continue;
        const known = await ask(connection, 'page', { origin: ORIGIN, 'if-none-match': answer.etag });
        const { status, headers, body } = known;
        assert.deepEqual([status, headers['access-control-allow-origin'], body.length], [304, ORIGIN, 0]);
      }
    }
  });

  it('are given by workers where a context comes again', async () => {
    const transport = server.server.transport as WorkersTransport;
    const given = (): number => {
      const meters = FORMS.map(({ route }) => new RouteMeter(...route));
      transport.addTo(meters);
      const counts = meters.flatMap((meter) => meter.statuses().map(({ count }) => count));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    given();
    const times = 10;
    for (const { ask } of FORMS)
      for (let time = 0; time < times; time += 1)
        for (const connection of connections) await ask(connection, 'again');
    // Two times on each worker, the context is not known yet.
    const least = FORMS.length * (times * connections.length - 2 * WORKERS);
    assert.ok(given() >= least, 'the rest the workers give by themselves');
  });

  it('are made anew where they depend on more than what was sent', async () => {
    const stickiness = { rollout: '50', stickiness: 'random', groupId: 'random' };
    await makeFlag('random', { name: 'flexibleRollout', parameters: stickiness });
    const seen = new Set<boolean>();
    const [connection] = connections as [Connection];
    for (let time = 0; time < 60; time += 1)
      seen.add(inToggles(await connection.ask('/frontend?userId=any', { token }), 'random'));
    assert.equal(seen.size, 2, 'on for some requests and off for others');
  });

  it('are refused to a token everywhere from the moment that its deletion is acknowledged', async () => {
    for (const { ask } of FORMS)
      for (const connection of [...connections, ...connections, ...connections])
        assert.equal((await ask(connection, 'ann')).status, 200);
    await admin('DELETE', `/admin/api-tokens/${token}`);
    for (const { what, ask } of FORMS)
      for (const connection of connections)
        assert.equal((await ask(connection, 'ann')).status, 401, `${what} without a token`);
  });
});
