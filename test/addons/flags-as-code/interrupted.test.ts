/** Ctrl-C in the middle of `flagstaff apply`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import { flagstaff } from '../../support/operator.ts';
import { ADMIN_TOKEN, ROOT_FOLDER, serverFor, temporaryFolder } from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';

it('an apply that is interrupted after its call says so, and has changed all or nothing; the next one goes on', async (t) => {
  const server = await serverFor(t);
  let changed: () => void;
  const hasChanged = new Promise<void>((resolve) => {
    changed = resolve;
  });
  // Between the command and the server, it keeps the answer to a change for itself.
  const between = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const body = Buffer.concat(await request.toArray());
    const headers = { authorization: ADMIN_TOKEN, 'content-type': 'application/json' };
    const sent = await fetch(server.origin + url, { method, headers, ...(method === 'GET' ? {} : { body }) });
    const answer = await sent.text();
    if (method === 'POST') changed();
    else response.writeHead(sent.status, { 'content-type': 'application/json' }).end(answer);
  });
  between.listen(0);
  await once(between, 'listening');
  t.after(() => {
    between.closeAllConnections();
    between.close();
  });
  const env = {
    FLAGSTAFF_URL: `http://localhost:${(between.address() as AddressInfo).port}`,
    FLAGSTAFF_TOKEN: ADMIN_TOKEN,
  };
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
