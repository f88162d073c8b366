/** Callers and upstreams that mean harm, or are broken: what they can take is bounded, and what is wrong is named. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Edge } from '../../../src/addons/edge/edge.ts';
import { EdgeRouter } from '../../../src/addons/edge/edge-router.ts';
import { Mirrors } from '../../../src/addons/edge/mirrors.ts';
import { EDGE_OPTIONS, variableOf } from '../../../src/addons/edge/options.ts';
import { readSettings } from '../../../src/addons/edge/settings.ts';
import { INVALID_MAX, Tokens, WAITING_MAX } from '../../../src/addons/edge/tokens.ts';
import { BODY_BYTES_MAX, UpstreamClient } from '../../../src/addons/edge/upstream-client.ts';
import { readDocument } from '../../../src/addons/edge/upstream-document.ts';
import type { Api } from '../../../src/http/serving/dispatcher.ts';
import { errorOfRefusal, plainErrorResponse } from '../../../src/http/serving/errors.ts';
import type { HttpResponse, Responder, TransportRequest } from '../../../src/http/transport/transport.ts';
import { createLog } from '../../../src/process/log.ts';
import { fetchRaw, request } from '../../http/transport/raw-connection.ts';
import { ROOT_FOLDER, temporaryFolder } from '../../support/server.ts';
import { CLIENT, documentStub, documents, edgeFor, FRONTEND, flag, stubFor, until } from './edges.ts';

const settingsWith = (url: string) =>
  readSettings({ 'upstream-url': url, 'upstream-request-timeout': '60' }, {});

describe('a hostile upstream', () => {
  it('a body without end is cut off, and named', async (t) => {
    const mebibyte = Buffer.alloc(1024 * 1024, ' ');
    let sentBytes = 0;
    const upstream = await stubFor(t, (_, response) => {
      const send = (): void => {
        while (!response.destroyed && response.write(mebibyte)) sentBytes += mebibyte.length;
      };
      response.on('drain', send);
      send();
    });
    const client = new UpstreamClient(settingsWith(upstream.origin).upstream);
    await assert.rejects(client.get('/api/client/features', CLIENT), /more than 96 MiB/);
    assert.ok(sentBytes < BODY_BYTES_MAX + 64 * mebibyte.length, 'it is not read to its end');
    client.close();
  });

  it('what is no document changes nothing, and is named with its place', async (t) => {
    let isBroken = false;
    const upstream = await documentStub(t, () => ({
      features: isBroken ? [{ name: 'a', enabled: 'yes' }] : [flag('a')],
    }));
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: `${CLIENT},${FRONTEND}` });
    isBroken = true;
    const asked = upstream.received.length;
    await until(() => upstream.received.length > asked + 1);
    const { body } = await edge.call('/api/frontend')('GET', '?userId=1', undefined, { token: FRONTEND });
    assert.deepEqual(
      body.toggles.map((one: { name: string }) => one.name),
      ['a'],
    );
    const read = (text: string) => readDocument(Buffer.from(text), 'x');
    await assert.rejects(read('{"features":[{"name":"a","enabled":"yes"}]}'), /features\.0\.enabled/);
    await assert.rejects(read('<html>'), /no JSON/);
    for (const text of ['{}', '[]', '{"features":null}', 'null', '{"features":{}}'])
      await assert.rejects(read(text), /something else than flags/, text);
  });

  it('a flag with half a character, or a field given twice, is served as it was sent, and so are all others', async (t) => {
    const odd = '{"name":"a","enabled":true,"description":"\\ud800","enabled":true,"x":{"__proto__":1e999}}';
    const upstream = await stubFor(
      t,
      (_, response) => void response.end(`{"features":[${odd},{"name":"b","enabled":true}]}`),
    );
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    const { status, body } = await edge.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    assert.equal(status, 200);
    assert.deepEqual(
      body.features.map((one: { name: string }) => one.name),
      ['a', 'b'],
    );
    assert.equal(body.features[0].description, '\ud800');
  });

  it('a token that it refuses is not served any more, and neither is what was read with it', async (t) => {
    let isRefused = false;
    const refused = new Set<string>();
    const upstream = await stubFor(
      t,
      (request, response) => {
        if (isRefused) response.writeHead(403).end('{}');
        else documents(() => ({ features: [flag('a')] }))(request, response);
      },
      { refused },
    );
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    const read = () => edge.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    assert.equal((await read()).status, 200);
    refused.add(CLIENT);
    isRefused = true;
    await until(async () => (await read()).status === 401);
    assert.equal(edge.edge.mirrors.size, 0);
  });

  it('a token that was served beside a refused one is served on, and the edge stays ready', async (t) => {
    const other = '*:development.client-other';
    let isRefused = false;
    const refused = new Set<string>();
    const upstream = await stubFor(
      t,
      (request, response) => {
        if (isRefused && request.headers.authorization === CLIENT) response.writeHead(403).end('{}');
        else documents(() => ({ features: [flag('a')] }))(request, response);
      },
      { refused },
    );
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: `${CLIENT},${other}` });
    const read = (token: string) => edge.call('/api/client')('GET', '/features', undefined, { token });
    assert.deepEqual([(await read(CLIENT)).status, (await read(other)).status], [200, 200]);
    refused.add(CLIENT);
    isRefused = true;
    await until(async () => (await read(CLIENT)).status === 401);
    await until(() => edge.edge.unready === null);
    assert.equal((await read(other)).status, 200);
  });

  it('with --strict, a named token is told to ask again while the upstream is away, and any other is refused', async (t) => {
    const upstream = await documentStub(t, () => ({ features: [flag('a')] }));
    await upstream.close();
    const edge = await edgeFor(
      t,
      { 'upstream-url': upstream.origin, tokens: CLIENT, strict: true },
      { isWaitedFor: false },
    );
    const statusOf = async (token: string) =>
      (await edge.call('/api/client')('GET', '/features', undefined, { token })).status;
    assert.deepEqual([await statusOf(CLIENT), await statusOf('*:development.made-up')], [503, 401]);
  });
});

describe('hostile callers', () => {
  it('made-up tokens cost the upstream one question at a time, and are remembered within a bound', async () => {
    let underWay = 0;
    let together = 0;
    const tokens = new Tokens({
      validate: async (asked) => {
        underWay += 1;
        together = Math.max(together, underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        return asked
          .filter((one) => one === CLIENT)
          .map((token) => ({
            ...{ token, type: 'client', projects: ['*'], environment: 'development' },
          }));
      },
      isStrict: false,
      onValid: () => undefined,
      onRevoked: () => undefined,
      onFault: (error) => assert.fail(String(error)),
      monotonicMs: () => 0,
    });
    let [refusedCount, askedCount] = [0, 0];
    const madeUp: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const secrets = Array.from(
        { length: 2 * WAITING_MAX },
        (_, at) => `*:development.made-up-${round}-${at}`,
      );
      madeUp.push(...secrets);
      const found = secrets.map((secret, at) => tokens.find(secret, `192.0.2.${at % 2}`));
      assert.ok(tokens.waitingCount <= WAITING_MAX);
      const verdicts = await Promise.all(found);
      refusedCount += verdicts.filter((one) => one === 'too-many').length;
      askedCount += verdicts.filter((one) => one === 'invalid').length;
    }
    assert.equal(together, 1);
    assert.deepEqual([refusedCount, askedCount], [20 * WAITING_MAX, 20 * WAITING_MAX]);
    assert.equal(madeUp.filter((secret) => tokens.known(secret) === 'invalid').length, INVALID_MAX);
    assert.equal(
      await tokens.find(CLIENT, '192.0.2.2'),
      'valid',
      'a token that is valid is found beside them',
    );
    const before = tokens.askedCount;
    assert.equal(await tokens.find('*:development.made-up-19-1', '192.0.2.2'), 'invalid');
    assert.equal(await tokens.find('no token at all', '192.0.2.2'), 'invalid');
    assert.equal(
      tokens.askedCount,
      before,
      'nobody is asked twice within a minute, nor for what is no token',
    );
  });

  it('made-up tokens from one network leave room for a new token from another', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const tokens = new Tokens({
      validate: async (asked) => {
        await answered;
        return asked
          .filter((one) => one === CLIENT)
          .map((token) => ({ token, type: 'client', projects: ['*'], environment: 'development' }));
      },
      isStrict: false,
      onValid: () => undefined,
      onRevoked: () => undefined,
      onFault: (error) => assert.fail(String(error)),
      monotonicMs: () => 0,
    });
    const madeUp = Array.from({ length: 2 * WAITING_MAX }, (_, at) =>
      tokens.find(`*:development.made-up-${at}`, `2001:db8::${(at % 250).toString(16)}`),
    );
    assert.equal(tokens.waitingCount, WAITING_MAX / 2);
    // Many requests with one token, as of a fleet that starts behind one address, take one place.
    const fleet = Array.from({ length: 2 * WAITING_MAX }, () => tokens.find(CLIENT, '192.0.2.1'));
    assert.equal(tokens.waitingCount, WAITING_MAX / 2 + 1);
    answer();
    assert.deepEqual(new Set(await Promise.all(fleet)), new Set(['valid']));
    const verdicts = await Promise.all(madeUp);
    assert.equal(verdicts.filter((one) => one === 'invalid').length, WAITING_MAX / 2);
    assert.equal(tokens.waitingCount, 0);
  });

  it('a frontend token that no client token covers is told so, and not refused for ever', async (t) => {
    const upstream = await documentStub(t, () => ({ features: [flag('a')] }));
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    const token = '*:production.frontend-secret';
    const { status, body } = await edge.call('/api/frontend')('GET', '', undefined, { token });
    assert.equal(status, 503);
    assert.match(body.message, /one client token of the same environment/);
  });
});

describe('a mirror that cannot be opened', () => {
  it('is a 503 for those who wait for it, and takes no place from those behind them', async () => {
    const token = { token: CLIENT, type: 'client', projects: ['*'], environment: 'development' } as const;
    const ignore = (): void => undefined;
    const router = new EdgeRouter({
      fallback: {
        refuseEarly: (_, responder, refusal) => responder.send(plainErrorResponse(errorOfRefusal(refusal))),
      } as Api,
      ...{ basePath: '', tokenHeader: 'authorization', firstFlagsTimeoutMs: 1_000 },
      mirrors: new Mirrors({
        bytesMax: 1,
        open: () => {
          throw new Error('no memory');
        },
      }),
      tokens: new Tokens({
        ...{ isStrict: false, onValid: ignore, onRevoked: ignore, onFault: ignore, monotonicMs: () => 0 },
        validate: async () => [token],
      }),
    });
    const request = {
      ...{ method: 'GET', path: '/api/client/features', query: '', body: Buffer.alloc(0) },
      header: (name: string) => (name === 'authorization' ? CLIENT : ''),
      remoteAddress: () => '192.0.2.1',
      host: () => '',
    } as unknown as TransportRequest;
    const { status } = await new Promise<HttpResponse>((send) =>
      router.handle(request, { send, isWanted: true } as unknown as Responder),
    );
    assert.deepEqual([status, router.waitingCount], [503, 0]);
  });
});

describe('settings of an edge', () => {
  const refusal = (given: Readonly<Record<string, string | true>>, env = {}): string => {
    try {
      readSettings(given, env);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('a wrong one says what would be right, and never repeats a token', () => {
    const url = { 'upstream-url': 'http://127.0.0.1:1' };
    assert.match(refusal({}), /--upstream-url is needed/);
    assert.match(refusal({ 'upstream-url': 'flags' }), /must be an address such as/);
    assert.match(refusal({ ...url, port: 'x' }), /--port must be a port number/);
    for (const range of ['10.0.0.0/99', '0.0.0.0/0', 'proxy'])
      assert.match(refusal({ ...url, 'proxy-trusted-servers': range }), new RegExp(`not "${range}"`));
    assert.match(
      refusal({ ...url, 'cors-origin': 'https://ä.example' }),
      /must be an origin in ASCII such as/,
    );
    assert.doesNotMatch(refusal({ ...url, 'pretrusted-tokens': 'secret' }), /"secret"/);
    assert.match(
      refusal({ ...url, 'redis-url': 'redis://x' }),
      /--redis-url does not exist here\. Give --backup-folder/,
    );
    assert.equal(refusal(url), '');
  });

  it('HTTP_ENGINE chooses the engine: node refuses a head that hides the length of a body', async (t) => {
    const upstream = await documentStub(t, () => ({ features: [] }));
    const options = { 'upstream-url': upstream.origin, tokens: CLIENT, port: '0', interface: '127.0.0.1' };
    const edge = new Edge({
      settings: readSettings(options, { HTTP_ENGINE: 'node' }),
      log: createLog('silent'),
    });
    t.after(() => Promise.all([edge.stop(), upstream.close()]));
    const { port } = await edge.start();
    const headers = [': x', 'Content-Length: 5'];
    const { status } = await fetchRaw(
      t,
      port,
      request('/internal-backstage/health', { headers, body: 'hello' }),
    );
    assert.equal(status, 400);
    assert.match(refusal(options, { HTTP_ENGINE: 'nod' }), /^--http-engine must be one of auto, uws, node/);
  });

  it('tokens are read from files, and a file that is not there is named', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'tokens');
    writeFileSync(file, `${CLIENT}\n${FRONTEND}\n`);
    const url = { 'upstream-url': 'http://127.0.0.1:1' };
    const { tokens } = readSettings(url, { TOKENS_FILE: file });
    assert.deepEqual(tokens, [CLIENT, FRONTEND]);
    const { trusted } = readSettings({ ...url, 'pretrusted-tokens-file': file }, {});
    assert.deepEqual(
      trusted.map(({ token }) => token),
      [CLIENT, FRONTEND],
    );
    assert.match(
      refusal(url, { TOKENS_FILE: `${file}s` }),
      /^--tokens-file: the file .*tokenss cannot be read\./,
    );
  });

  it('a list of addresses that may call is refused as an option and as a variable: it would not be kept', () => {
    const url = { 'upstream-url': 'http://127.0.0.1:1' };
    assert.match(refusal({ ...url, 'allow-list': '10.0.0.0/8' }), /^--allow-list does not exist here/);
    assert.match(refusal(url, { DENY_LIST: '10.0.0.0/8' }), /^DENY_LIST does not exist here\. .*firewall/);
  });

  it('the proxies that are believed are those that are named, or with --trust-proxy all private addresses', () => {
    const proxies = (given: Readonly<Record<string, string | true>>) =>
      readSettings({ 'upstream-url': 'http://127.0.0.1:1', ...given }, {}).trustedProxies;
    assert.deepEqual(proxies({}), []);
    assert.deepEqual(proxies({ 'proxy-trusted-servers': '192.0.2.1,2001:db8::/32' }), [
      '192.0.2.1',
      '2001:db8::/32',
    ]);
    assert(proxies({ 'trust-proxy': true }).includes('10.0.0.0/8'));
  });

  it('those that the compose file and the chart name are there', () => {
    const deployed = (file: string): string => readFileSync(join(ROOT_FOLDER, 'deploy', file), 'utf8');
    const [, service = ''] = /^ {2}edge:\n((?: {4}.*\n)+)/m.exec(deployed('compose.yaml')) ?? [];
    const chart = deployed('helm/flagstaff/templates/edge.yaml');
    const named = [
      ...[...service.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name]) => name),
      ...[...chart.matchAll(/- (?:\{ )?name: ([A-Z_]+)/g)].map(([, name]) => name),
      ...[...chart.matchAll(/"([A-Z_]+)"/g)].map(([, name]) => name),
    ];
    const known = EDGE_OPTIONS.map(({ name }) => variableOf(name));
    assert.deepEqual(
      new Set(named),
      new Set(['UPSTREAM_URL', 'TOKENS', 'TOKENS_FILE', 'BACKUP_FOLDER', 'PORT', 'INTERFACE', 'TLS_ENABLE']),
    );
    for (const name of named) assert.ok(known.includes(name ?? ''), name);
  });

  it('each is an environment variable too, and an option wins', () => {
    const env = { UPSTREAM_URL: 'http://a.example', TOKENS: 'x,y', STRICT: 'true', PORT: '1234' };
    const settings = readSettings({ port: '99' }, env);
    assert.deepEqual(
      [settings.upstream.url, settings.tokens, settings.isStrict, settings.port],
      ['http://a.example/', ['x', 'y'], true, 99],
    );
  });
});
