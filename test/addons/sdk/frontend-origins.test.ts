/** The origins of pages that may call, as the surface for pages takes them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SYSTEM } from '../../../src/domain/state/decision.ts';
import { createLog } from '../../../src/process/log.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

const SHOP = 'https://shop.example';

const warnings: object[] = [];
const log = createLog('silent');
log.warn = (fields: object) => void warnings.push(fields);

const suite = (server: () => TestServer): void => {
  const set = (frontendApiOrigins: unknown) =>
    server().call('POST', '/ui-config/cors', { frontendApiOrigins });
  const shown = async () => (await server().call('GET', '/ui-config')).body.frontendApiOrigins;
  const allowedFor = async (origin: string): Promise<string | null> => {
    const response = await fetch(`${server().origin}/api/frontend`, { headers: { origin } });
    return response.headers.get('access-control-allow-origin');
  };

  it('are those of the setting of the process until they are set, and then those, also after a restart', async () => {
    assert.deepEqual([await shown(), await allowedFor(SHOP)], [['*'], '*']);
    assert.equal((await set([SHOP])).status, 204);
    for (const isRestarted of [false, true]) {
      if (isRestarted) await server().restart();
      assert.deepEqual(await shown(), [SHOP]);
      assert.deepEqual([await allowedFor(SHOP), await allowedFor('https://other.example')], [SHOP, null]);
    }
    assert.equal((await set([])).status, 204);
    assert.equal(await allowedFor(SHOP), null);
    assert.equal((await set(['*', SHOP])).status, 204);
    assert.equal(await allowedFor('https://other.example'), '*');
  });

  it('are ignored and named in the log where a folder has some that no header can carry, also after a restart', async () => {
    warnings.length = 0;
    const origins = ['https://ä.example', SHOP];
    await server().server.store.engine.execute({
      command: { type: 'set-frontend-origins', origins },
      actor: SYSTEM,
      respond: () => null,
    });
    for (const isRestarted of [false, true]) {
      if (isRestarted) await server().restart();
      assert.deepEqual([await allowedFor(SHOP), await allowedFor('https://other.example')], [SHOP, null]);
    }
    assert.deepEqual(warnings, [{ ignored: ['https://ä.example'] }, { ignored: ['https://ä.example'] }]);
  });
};

describeInterface('the origins that pages call from', suite, { log });
