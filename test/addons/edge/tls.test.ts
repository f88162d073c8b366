/** TLS of an edge: to its callers on both HTTP engines, and to its upstream, which may ask for a certificate of the edge. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { readSettings } from '../../../src/addons/edge/settings.ts';
import { UpstreamClient } from '../../../src/addons/edge/upstream-client.ts';
import { ENGINES } from '../../support/installed-engines.ts';
import { caller, temporaryFolder } from '../../support/server.ts';
import { CLIENT, documents, edgeFor, flag, stubFor } from './edges.ts';

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that signs itself, and its key, as PEM files. */
function makePair(folder: string, name: string): Pair {
  const pair = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject];
  execFileSync('openssl', [...made, '-keyout', pair.key, '-out', pair.cert], { stdio: 'ignore' });
  return pair;
}

const answer = documents(() => ({ features: [flag('a')] }));

const clientOf = (url: string, given: Readonly<Record<string, string | true>>) =>
  new UpstreamClient(readSettings({ 'upstream-url': url, ...given }, {}).upstream);

describe('TLS of an edge', () => {
  let folder: string;
  let server: Pair;
  let edgeAtServer: Pair;
  let stranger: Pair;

  before(() => {
    folder = temporaryFolder();
    [server, edgeAtServer, stranger] = ['server', 'edge', 'stranger'].map((name) =>
      makePair(folder, name),
    ) as [Pair, Pair, Pair];
  });

  for (const httpEngine of ENGINES)
    it(`it serves HTTPS alone, and another edge believes the certificate that it is given (${httpEngine})`, async (t) => {
      const upstream = await stubFor(t, answer);
      const tls = {
        'tls-enable': true,
        'tls-server-cert': server.cert,
        'tls-server-key': server.key,
      } as const;
      const options = {
        ...{ 'upstream-url': upstream.origin, tokens: CLIENT, 'tls-server-port': '0', ...tls },
        'http-engine': httpEngine,
      };
      const edge = await edgeFor(t, options);
      const url = edge.origin.replace('http:', 'https:');
      const { host } = new URL(url);
      const body = await new Promise<string>((resolve, reject) => {
        const ask = { headers: { authorization: CLIENT }, ca: readFileSync(server.cert) };
        const sent = request(`${url}/api/client/features`, ask, async (response) => {
          assert.equal(response.headers['flagstaff-age-ms'] !== undefined, true);
          resolve(Buffer.concat(await response.toArray()).toString());
        });
        sent.on('error', reject).end();
      });
      assert.equal(JSON.parse(body).features[0].name, 'a');
      await assert.rejects(fetch(`http://${host}/health`), 'no HTTP is spoken there');
      await assert.rejects(clientOf(url, {}).get('/api/client/features', CLIENT), /self-signed certificate/);
      for (const given of [
        { 'upstream-certificate-file': server.cert },
        { 'skip-ssl-verification': true },
      ] as const) {
        const client = clientOf(url, given);
        assert.equal((await client.get('/api/client/features', CLIENT)).status, 200);
        client.close();
      }
      const trusting = { 'upstream-certificate-file': server.cert };
      const behind = await edgeFor(t, { 'upstream-url': url, tokens: CLIENT, ...trusting });
      const read = await caller(behind.origin, '/api/client')('GET', '/features', undefined, {
        token: CLIENT,
      });
      assert.equal(read.status, 200);
    });

  it('it shows its own certificate to an upstream that asks for one, and is refused and told so with another, or none', async (t) => {
    const upstream = await stubFor(t, answer, {
      tls: {
        ...{ cert: readFileSync(server.cert), key: readFileSync(server.key) },
        ...{ ca: readFileSync(edgeAtServer.cert), requestCert: true, rejectUnauthorized: true },
      },
    });
    const trusting = { 'upstream-certificate-file': server.cert };
    const showing = ({ cert, key }: Pair) => ({
      ...{ 'pkcs8-client-certificate-file': cert, 'pkcs8-client-key-file': key },
    });
    const edge = await edgeFor(t, {
      ...{ 'upstream-url': upstream.origin, tokens: CLIENT, ...trusting, ...showing(edgeAtServer) },
    });
    const read = await edge.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    assert.equal(read.body.features[0].name, 'a');
    for (const given of [trusting, { ...trusting, ...showing(stranger) }]) {
      const client = clientOf(upstream.origin, given);
      await assert.rejects(client.get('/api/client/features', CLIENT), {
        name: 'UpstreamError',
        message: new RegExp(`^${upstream.origin} cannot be reached: `),
      });
      client.close();
    }
  });

  it('a file that cannot be read ends the start, with its name', () => {
    const missing = join(folder, 'missing.pem');
    for (const name of [
      'upstream-certificate-file',
      'pkcs8-client-certificate-file',
      'pkcs8-client-key-file',
    ])
      assert.throws(
        () => clientOf('https://flags.example', { [name]: missing }),
        new RegExp(`--${name}: the file ${missing} cannot be read`),
      );
  });
});
