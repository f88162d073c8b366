/** A real disk that runs full: first the reserve refuses writes, and past it nothing is falsely acknowledged. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FEATURES } from '../support/interface.ts';
import { ADMIN_TOKEN, processFor } from '../support/server.ts';
import { fillDisks, isMountable, onSmallDisk } from './full-disk.ts';

describe('a real disk that runs full', {
  skip: isMountable() ? false : 'nothing can be mounted here',
}, () => {
  it('stops the store at the first short write, and everything acknowledged is there with room again', async (t) => {
    const result = await fillDisks([64]);
    t.diagnostic(JSON.stringify(result));
    assert(result !== null && result.acknowledged > 100 && result.withoutResponse === 1);
  });

  it('under a real process is refused by the reserve, with 503 and Retry-After, while reads go on', async (t) => {
    await onSmallDisk(1024, async (folder) => {
      const server = await processFor(t, folder, { INIT_ADMIN_API_TOKENS: ADMIN_TOKEN });
      const { status, headers, body } = await server.call('POST', FEATURES, { name: 'refused' });
      assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
      assert.match(body.message, /almost full/);
      assert.equal((await server.call('GET', '/projects/default')).status, 200);
      assert.equal(await server.terminate(), 0);
    });
  });
});
