/** The origins of pages that may call, set through the interface. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { describeInterface } from '../../support/server.ts';

const SHOP = 'https://shop.example';

describeInterface('the origins of pages', (server) => {
  const set = (frontendApiOrigins: unknown) =>
    server().call('POST', '/ui-config/cors', { frontendApiOrigins });
  const shown = async () => (await server().call('GET', '/ui-config')).body.frontendApiOrigins;

  it('are all until they are set, and then those, also after a restart', async () => {
    assert.deepEqual(await shown(), ['*']);
    assert.equal((await set([SHOP])).status, 204);
    assert.deepEqual(await shown(), [SHOP]);
    await server().restart();
    assert.deepEqual(await shown(), [SHOP]);
  });

  it('come with where this server is, what it is and what it bounds', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    const { body } = await server().call('GET', '/ui-config', undefined, { headers });
    const { unleashUrl, baseUriPath, versionInfo, resourceLimits, version } = body;
    assert.match(unleashUrl, /^http:\/\/[a-z0-9.:]+$/, 'anybody could write that header');
    assert.equal(baseUriPath, '');
    assert.deepEqual(versionInfo.current, { oss: version, enterprise: version });
    assert.deepEqual([resourceLimits.constraints, resourceLimits.environments], [30, 50]);
  });

  it('are in the event log, once for each change', async () => {
    await set([SHOP]);
    await set([SHOP, SHOP]);
    await set(['*']);
    const { body } = await server().call('GET', '/events');
    const [newest, before] = body.events;
    assert.deepEqual(
      [newest.type, newest.data, newest.preData],
      [
        'setting-updated',
        { id: 'frontend', frontendApiOrigins: ['*'] },
        { id: 'frontend', frontendApiOrigins: [SHOP] },
      ],
    );
    assert.deepEqual(before.data, { id: 'frontend', frontendApiOrigins: [SHOP] });
    assert.notDeepEqual(before.preData, before.data, 'setting what is set records nothing');
  });

  it('are refused where they are none, and the old ones stay', async () => {
    await set([SHOP]);
    const cases: readonly (readonly [unknown, string])[] = [
      [SHOP, '/body/frontendApiOrigins'],
      [['shop.example'], '/body/frontendApiOrigins/0'],
      [['https://shop.example/path'], '/body/frontendApiOrigins/0'],
      [['https://ä.example'], '/body/frontendApiOrigins/0'],
      [['https://shop.example\u0007'], '/body/frontendApiOrigins/0'],
      [[`https://${'x'.repeat(300)}`], '/body/frontendApiOrigins/0'],
      [Array(101).fill(SHOP), '/body/frontendApiOrigins'],
    ];
    for (const [origins, at] of cases) {
      const answer = await set(origins);
      assert.deepEqual([answer.status, answer.body.details[0].path], [400, at]);
    }
    assert.deepEqual(await shown(), [SHOP]);
  });
});
