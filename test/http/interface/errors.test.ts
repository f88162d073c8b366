/** Rules for every endpoint: the order of checks, errors, credentials, encodings, HEAD, prefixes. */
import assert from 'node:assert/strict';
import { get as httpGet } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { refuseForeignHost } from '../../../src/http/serving/caller-check.ts';
import type { TransportRequestHead } from '../../../src/http/transport/transport.ts';
import '../../support/check-responses.ts';
import {
  addStrategy,
  addUser,
  archive,
  environmentPath,
  FEATURES,
  makeFlag,
  type RefusedCall,
  recording,
  refused,
} from '../../support/interface.ts';
import {
  ADMIN_TOKEN,
  caller,
  describeInterface,
  startTestServer,
  type TestServer,
} from '../../support/server.ts';

type Endpoint = readonly [method: string, path: string, body?: unknown];

/** Every endpoint of docs/specification/README.md#endpoints. */
const endpoints = (
  flag: string,
  environment: string,
  strategyId: string,
  userId: number,
): readonly Endpoint[] => [
  ['GET', '/projects/p'],
  ['GET', '/projects/p/features'],
  ['POST', '/projects/p/features', { name: 'new' }],
  ['GET', flag],
  ['PUT', flag, {}],
  ['PATCH', flag, []],
  ['POST', `${flag}/clone`, { name: 'copy' }],
  ['DELETE', flag],
  ['POST', `${flag}/environments/${environment}/strategies`, { name: 'default' }],
  ['PUT', `${flag}/environments/${environment}/strategies/${strategyId}`, { name: 'default' }],
  ['PATCH', `${flag}/environments/${environment}/strategies/${strategyId}`, []],
  ['DELETE', `${flag}/environments/${environment}/strategies/${strategyId}`],
  ['POST', `${flag}/environments/${environment}/on`],
  ['POST', `${flag}/environments/${environment}/off`],
  ['PUT', `${flag}/variants`, []],
  ['PATCH', `${flag}/variants`, []],
  ['POST', `/projects/p/users/${userId}/roles/4`],
  ['PUT', `/projects/p/users/${userId}/roles/4`],
  ['DELETE', `/projects/p/users/${userId}/roles/4`],
  ['POST', '/events/search', {}],
  ['PUT', `/user-admin/${userId}`, {}],
  ['GET', '/user/profile'],
  ['GET', `${flag}/parents`],
];

/** About things that do not exist. */
const ENDPOINTS = endpoints('/projects/p/features/f', 'e', '00000000-0000-4000-8000-000000000000', 999);

describeInterface('errors', (server) => {
  it('every endpoint refuses a caller without a valid token, before it looks at anything else', async () => {
    const expired = await addUser(server(), 1, { expiresAt: '2024-01-01T00:00:00.000Z' });
    const tokens = [null, 'nonsense', `${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(0, -1), 'Bearer', expired.token];
    const responses = new Set<string>();
    for (const [index, [method, path, body]] of ENDPOINTS.entries()) {
      const token = tokens[index % tokens.length] ?? null;
      const call = { method, path, body: body === undefined ? undefined : 'no JSON', token };
      const response = await refused(server(), 401, 'AuthenticationRequired', call);
      if (token !== null) responses.add(response.body.message);
    }
    assert.deepEqual(
      [...responses],
      ['The token in the header Authorization is unknown, revoked or expired.'],
    );
  });

  it('every endpoint looks for what the path names before it looks at the body', async () => {
    for (const [method, path, body] of ENDPOINTS) {
      if (path.startsWith('/events') || path.startsWith('/user/')) continue;
      const call: RefusedCall = { method, path, body: body === undefined ? undefined : '{ no JSON' };
      await refused(server(), 404, 'NotFoundError', call);
    }
  });

  it('looks at the body before it looks for a conflict', async () => {
    await makeFlag(server().call, 'conflicted');
    await archive(server().call, 'conflicted');
    const flag = `${FEATURES}/conflicted`;
    for (const [method, path] of [
      ['PUT', flag],
      ['PATCH', flag],
      ['POST', `${flag}/clone`],
      ['POST', `${environmentPath('conflicted')}/strategies`],
      ['PUT', `${flag}/variants`],
      ['PATCH', `${flag}/variants`],
    ] as const) {
      await refused(server(), 400, 'ValidationError', { method, path, body: '5' });
    }
    await refused(server(), 400, 'ValidationError', {
      method: 'POST',
      path: FEATURES,
      body: { name: 'conflicted', type: 'none' },
    });
  });

  it('knows no other path, and no other method on a path, whoever asks', async () => {
    for (const path of [
      '/',
      '',
      '/nothing',
      '/projects/default/',
      '//projects',
      '/projects/default/feature',
    ]) {
      await refused(server(), 404, 'NotFoundError', { method: 'GET', path, token: null });
    }
    for (const [method, path, allow] of [
      ['DELETE', '/events/search', 'GET, HEAD, POST'],
      ['PUT', `${FEATURES}/f/clone`, 'POST'],
      ['POST', '/user/profile', 'GET, HEAD'],
      ['GET', `${environmentPath('f')}/on`, 'POST'],
      ['OPTIONS', `${FEATURES}/f/parents`, 'GET, HEAD'],
      ['PATCH', '/projects/p/users/1/roles/4', 'DELETE, POST, PUT'],
      ['HEAD', '/projects/p/users/1/roles/4', 'DELETE, POST, PUT'],
    ] as const) {
      const response = await server().call(method, path, undefined, { token: null });
      assert.deepEqual([method, path, response.status], [method, path, 405]);
      assert.equal(response.headers.get('allow'), allow);
    }
  });

  it('refuses bodies that are no JSON, and where the fault lies inside one, says where', async () => {
    const bodies = [
      '{',
      '{"name": }',
      "{'name': 'x'}",
      'undefined',
      'NaN',
      '{"name":"x"} {}',
      '{"name":"x",}',
    ];
    for (const body of [
      ...bodies,
      '{"name":"a","name":"b"}',
      '{"name":"\\ud800"}',
      '[1e999]',
      '{"__proto__":1}',
    ]) {
      await refused(server(), 400, 'ValidationError', { method: 'POST', path: FEATURES, body });
    }
    await refused(server(), 400, 'ValidationError', { method: 'POST', path: FEATURES });
    const latin1 = Buffer.from('{"name":"x","description":"ü"}', 'latin1');
    await refused(server(), 400, 'ValidationError', { method: 'POST', path: FEATURES, body: latin1 });
    const deep = `{"name":"x","description":${'['.repeat(70)}${']'.repeat(70)}}`;
    await refused(server(), 400, 'ValidationError', { method: 'POST', path: FEATURES, body: deep });
  });

  it('refuses a body of another content type, on every endpoint that takes one', async () => {
    await makeFlag(server().call, 'typed');
    const { id } = await addStrategy(server().call, 'typed');
    const real = endpoints(`${FEATURES}/typed`, 'development', id, 1);
    for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1', 'json']) {
      for (const [method, path, body] of real.filter(([, , sent]) => sent !== undefined)) {
        const headers = { 'content-type': type };
        const call = { method, path: path.replace('/p/', '/default/'), body: JSON.stringify(body), headers };
        await refused(server(), 415, 'UnsupportedMediaTypeError', call);
      }
    }
  });

  it('takes JSON under every spelling of its content type', async () => {
    for (const [index, type] of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
    ].entries()) {
      const headers = { 'content-type': type };
      const { status } = await server().call('POST', FEATURES, { name: `type-${index}` }, { headers });
      assert.equal(status, 201);
    }
  });

  it('refuses a body beyond the limit, and takes one up to it', async () => {
    const limit = 1024 * 1024;
    const padded = (name: string, bytes: number) => {
      const head = `{"name":"${name}","padding":"`;
      return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
    };
    const call = { method: 'POST', path: FEATURES, body: padded('too-large', limit + 1) };
    await refused(server(), 413, 'PayloadTooLargeError', call);
    assert.equal((await server().call('POST', FEATURES, padded('largest', limit))).status, 201);
    await archive(server().call, 'largest');
  });

  it('decodes a path once, and refuses what cannot be decoded', async () => {
    await makeFlag(server().call, 'decoded');
    const found = await server().call('GET', '/projects/%64efault/features/dec%6Fded');
    assert.deepEqual([found.status, found.body.name], [200, 'decoded']);
    for (const name of ['dec%256Fded', 'dec%2Foded', 'decoded%20', 'decoded;v=1', '%2e%2e']) {
      await refused(server(), 404, 'NotFoundError', { method: 'GET', path: `${FEATURES}/${name}` });
    }
    for (const name of ['%', '%zz', 'decoded%00', '%C0%AF', '%ff', '%ED%A0%80']) {
      await refused(server(), 400, 'ValidationError', { method: 'GET', path: `${FEATURES}/${name}` });
    }
  });

  it('ignores a query string', async () => {
    await makeFlag(server().call, 'queried');
    const plain = await server().call('GET', `${FEATURES}/queried`);
    const queried = await server().call('GET', `${FEATURES}/queried?archived=true&limit=%zz&&=`);
    assert.deepEqual([queried.status, queried.body], [200, plain.body]);
  });

  it('answers HEAD as GET, without the body', async () => {
    await makeFlag(server().call, 'headed');
    for (const path of ['/projects/default', FEATURES, `${FEATURES}/headed`, '/user/profile']) {
      const get = await server().call('GET', path);
      const head = await server().call('HEAD', path);
      assert.deepEqual([head.status, head.body], [200, undefined]);
      for (const name of ['content-type', 'content-length', 'etag']) {
        assert.equal(head.headers.get(name), get.headers.get(name));
      }
    }
    assert.equal((await server().call('HEAD', `${FEATURES}/nobody`)).status, 404);
    assert.equal((await server().call('HEAD', '/user/profile', undefined, { token: null })).status, 401);
  });

  it('takes a token as it is, or after Bearer', async () => {
    const { token } = await addUser(server(), 3);
    for (const one of [ADMIN_TOKEN, token]) {
      for (const header of [one, `Bearer ${one}`, `bearer ${one}`, `BEARER  ${one}`]) {
        const { status } = await server().call('GET', '/user/profile', undefined, { token: header });
        assert.equal(status, 200, header);
      }
    }
    await refused(server(), 401, 'AuthenticationRequired', {
      method: 'GET',
      path: '/user/profile',
      token: `Basic ${ADMIN_TOKEN}`,
    });
  });

  it('gives every error an id of its own', async () => {
    const ids = new Set<string>();
    for (let index = 0; index < 5; index += 1) {
      ids.add((await server().call('GET', '/projects/nowhere')).body.id);
    }
    assert.equal(ids.size, 5);
  });
});

describe('a server without authentication below a prefix', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ env: { AUTH_TYPE: 'none', BASE_URI_PATH: '/flags/eu/' } });
  });
  after(() => server.stop());

  it('answers under the prefix and nowhere else', async () => {
    const below = caller(`${server.origin}/flags/eu`);
    assert.equal((await below('GET', '/projects/default', undefined, { token: null })).status, 200);
    assert.equal((await server.call('GET', '/projects/default')).status, 404);
  });

  it('answers to no name that a stranger may own, since a page of that name would be of this origin', async () => {
    const statusAt = (host: string, path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { port } = new URL(server.origin);
        httpGet(
          { port, path: `/flags/eu${path}`, headers: { host: host.replace('PORT', port) } },
          (response) => {
            response.resume().on('end', () => resolve(response.statusCode));
          },
        ).on('error', reject);
      });
    const path = '/api/admin/projects';
    for (const host of [
      '127.0.0.1:PORT',
      '[::1]:PORT',
      'LOCALHOST',
      'flagstaff:4242',
      'flagstaff.team.svc',
    ]) {
      assert.equal(await statusAt(host, path), 200, `${host} ${path}`);
    }
    for (const host of [
      'evil.example:PORT',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      'a.svc.example',
      '1.2.3',
    ]) {
      assert.equal(await statusAt(host, path), 403, `${host} ${path}`);
    }
    assert.equal(await statusAt('evil.example', '/health'), 200);
    const flags = (name: string) => ({ host: () => name }) as unknown as TransportRequestHead;
    assert.equal(refuseForeignHost(flags('Flags.example:4242'), 'https://flags.example'), null);
    assert.notEqual(refuseForeignHost(flags('evil.example'), 'https://flags.example'), null);
  });

  it('takes everybody for an unknown Admin, whatever token is sent', async () => {
    const below: TestServer = { ...server, server: server.server, call: caller(`${server.origin}/flags/eu`) };
    for (const [index, token] of [null, 'nonsense', ADMIN_TOKEN].entries()) {
      const { response, events } = await recording(below, () =>
        below.call('POST', FEATURES, { name: `open-${index}` }, { token }),
      );
      assert.equal(response.status, 201);
      const [{ createdBy, createdByUserId }] = events as readonly [
        { createdBy: string; createdByUserId: number },
      ];
      assert.deepEqual({ createdBy, createdByUserId }, { createdBy: 'unknown', createdByUserId: -1 });
    }
    const { body } = await below.call('GET', '/user/profile', undefined, { token: null });
    assert.deepEqual([body.rootRole.name, body.projects], ['Admin', []]);
  });
});
