/** Applies that are interrupted, or whose call fails in the middle. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import { addUser } from '../../support/interface.ts';
import { flagstaff } from '../../support/operator.ts';
import {
  ADMIN_TOKEN,
  ROOT_FOLDER,
  serverFor,
  type Test,
  type TestServer,
  temporaryFolder,
} from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';

/**
 * Stands between commands and the server, and gives the environment of the commands. `at` says of a call, by its method and path, what
 * becomes of it: a status that answers it in place of the server, or `unanswered`.
 */
async function between(
  t: Test,
  server: TestServer,
  token: string,
  at: (call: string) => number | 'unanswered' | undefined,
) {
  const front = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const body = Buffer.concat(await request.toArray());
    const headers = { authorization: token, 'content-type': 'application/json' };
    const fate = at(`${method} ${url}`);
    if (typeof fate === 'number') return response.writeHead(fate).end('{}');
    const sent = await fetch(server.origin + url, { method, headers, ...(method === 'GET' ? {} : { body }) });
    const answer = await sent.text();
    if (fate === undefined)
      response.writeHead(sent.status, { 'content-type': 'application/json' }).end(answer);
  });
  front.listen(0);
  await once(front, 'listening');
  t.after(() => {
    front.closeAllConnections();
    front.close();
  });
  const { port } = front.address() as AddressInfo;
  return { FLAGSTAFF_URL: `http://localhost:${port}`, FLAGSTAFF_TOKEN: token };
}

it('an apply whose request cannot be sent to review leaves no draft, and the next one proposes it', async (t) => {
  const server = await serverFor(t);
  const { token } = await addUser(server, 1);
  let status: number | undefined;
  const env = await between(t, server, token, (call) => (call.endsWith('/state') ? status : undefined));
  const file = join(temporaryFolder(), 'flags.json');
  const apply = (environments: readonly object[]) => {
    writeFileSync(file, JSON.stringify({ project: 'default', flags: [{ name: 'one', environments }] }));
    return flagstaff(['apply', file], { env });
  };
  assert.equal((await apply([])).code, 0);
  await server.call('PUT', '/projects/default/environments/production/change-requests/config', {
    changeRequestsEnabled: true,
  });
  const production = { name: 'production', strategies: [{ name: 'default' }] };
  status = 503;
  const failed = await apply([production]);
  assert.equal(failed.code, 69, failed.out);
  const open = await server.callBelow('/api/admin')(
    'GET',
    '/projects/default/change-requests/pending',
    undefined,
    { token },
  );
  assert.deepEqual(open.body, []);
  status = undefined;
  const { code, out } = await apply([production]);
  assert.equal(code, 0, out);
  assert.match(out, /^Proposed the changes in production: /m);
});

it('an apply that is interrupted after its call says so, and has changed all or nothing; the next one goes on', async (t) => {
  const server = await serverFor(t);
  let changed: () => void;
  const hasChanged = new Promise<void>((resolve) => {
    changed = resolve;
  });
  const env = await between(t, server, ADMIN_TOKEN, (call) => {
    if (!call.startsWith('POST ')) return undefined;
    changed();
    return 'unanswered';
  });
  const file = join(temporaryFolder(), 'flags.json');
  writeFileSync(file, JSON.stringify({ project: 'default', flags: [{ name: 'one' }, { name: 'two' }] }));
  const child = spawn(process.execPath, nodeArguments('src/cli/bin.ts', 'apply', file, '--yes'), {
    cwd: ROOT_FOLDER,
    env: { ...process.env, ...env },
  });
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  await hasChanged;
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  assert.equal(code, 130, said);
  assert.match(said, /^flagstaff: Interrupted\. .*plan again to see what is left\.$/m);
  const { body } = await server.call('GET', '/projects/default/features');
  assert.deepEqual(
    body.features.map(({ name }: { name: string }) => name),
    ['one', 'two'],
  );
  const again = await flagstaff(['apply', file], { env: { ...env, FLAGSTAFF_URL: server.origin } });
  assert.equal(again.code, 0);
  assert.match(again.out, /nothing to change/);
});
