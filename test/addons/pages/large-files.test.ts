/** Pages are sent without a token, so their files are charged to an address. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('an address that asked for many large files without a token', (server) => {
  it('gets them in turn, while probes and callers with a token from the same address do not wait', async () => {
    const { call } = server();
    const { origin, server: running } = server();
    const page = await (await fetch(`${origin}/docs`)).text();
    const [script] = /docs\/swagger-ui-bundle-[0-9a-f]+\.js/.exec(page) ?? [];
    running.store.engine.loopAccounts.add('page 127.0.0.1', 1_000_000);
    const files = await Promise.all([1, 2].map(() => fetch(`${origin}/${script}`)));
    for (const file of files) assert((await file.arrayBuffer()).byteLength > 1_000_000);
    const others = [await call('GET', '/projects'), await fetch(`${origin}/health`)];
    assert.deepEqual(
      [...files, ...others].map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const metrics = await (await fetch(`${origin}/internal-backstage/prometheus`)).text();
    assert.match(metrics, /^flagstaff_long_requests_waited_total 2$/m);
  });
});
