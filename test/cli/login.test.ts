/** `flagstaff login`, and which server and token the other commands then use. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withServer } from '../../src/host/remote-server.ts';
import { freePort } from '../support/free-port.ts';
import { flagstaff } from '../support/operator.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer, temporaryFolder } from '../support/server.ts';

describe('flagstaff login', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const used = (env: Readonly<Record<string, string>>): Promise<string> =>
    withServer({ terminal: { env } } as never, async (client, url) => {
      await client.get('/projects');
      return url;
    });

  it('stores the address and the token for its owner alone, and other commands use them', async () => {
    const env = { XDG_CONFIG_HOME: temporaryFolder() };
    const { code, out, err } = await flagstaff(['login', `${server.origin}/`], { env, typed: ADMIN_TOKEN });
    const file = join(env.XDG_CONFIG_HOME, 'flagstaff/login.json');
    assert.deepEqual([code, out], [0, `Stored the login to ${server.origin} in ${file}.`], err);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { url: server.origin, token: ADMIN_TOKEN });
    assert.equal(await used(env), server.origin);
    await assert.rejects(used({ ...env, FLAGSTAFF_TOKEN: '*:*.other' }), /401/);
    const elsewhere = { ...env, FLAGSTAFF_URL: `http://localhost:${await freePort()}` };
    await assert.rejects(used(elsewhere), /No token is known for/);
    await assert.rejects(used({ ...elsewhere, FLAGSTAFF_TOKEN: ADMIN_TOKEN }), /got no response/);
    writeFileSync(file, '{"url": 1}');
    await assert.rejects(used(env), /login\.json is no login; run flagstaff login again\.$/);
    await assert.rejects(used({ XDG_CONFIG_HOME: temporaryFolder() }), /No server is known/);
  });

  it('stores nothing where the token, the address or the server is wrong, and says so in one sentence', async () => {
    const XDG_CONFIG_HOME = temporaryFolder();
    const run = async (url: string, FLAGSTAFF_TOKEN: string) => {
      const { code, out, err } = await flagstaff(['login', url], {
        env: { XDG_CONFIG_HOME, FLAGSTAFF_TOKEN },
      });
      assert.equal(out, '');
      return { code, err };
    };
    const refused = await run(server.origin, '*:*.wrong');
    assert.equal(refused.code, 69);
    assert.match(refused.err, /^flagstaff: http\S+: GET \/projects: 401 .+$/);
    assert.equal((await run(`http://localhost:${await freePort()}`, ADMIN_TOKEN)).code, 69);
    const { code, err } = await run('flags.example.com', ADMIN_TOKEN);
    assert.equal(code, 64);
    assert.match(
      err,
      /^flagstaff: login takes the address of a server, such as \S+, not "flags.example.com"\.$/,
    );
    assert.equal((await run(server.origin, ' ')).code, 64);
    assert.deepEqual(readdirSync(XDG_CONFIG_HOME), []);
  });
});
