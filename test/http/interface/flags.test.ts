/** Endpoints 1–8: projects' overviews and flags as a whole. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeInterface } from '../../support/server.ts';

describeInterface('flags', (server) => {
  it('creates a flag with the defaults of the interface', async () => {
    const { status, body } = await server().call('POST', '/projects/default/features', { name: 'first' });
    assert.equal(status, 201);
    assert.deepEqual(
      { ...body, createdAt: '' },
      {
        name: 'first',
        project: 'default',
        description: '',
        type: 'release',
        stale: false,
        impressionData: false,
        createdAt: '',
        lastSeenAt: null,
        variants: null,
        archived: false,
      },
    );
  });
});
