/** Retries of writes that remove and move what their path names. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addStrategy, addUser, FEATURES, keyed, makeFlag, shownOf } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const [EDITOR, VIEWER, OWNER] = [2, 3, 4];

describeInterface('a retry of a write that removed what its path names', (server) => {
  it('is refused as anything else is without a right, without the credentials, and under another request', async () => {
    const { call } = server();
    await makeFlag(call, 'removed');
    const editor = await addUser(server(), EDITOR);
    const remove = keyed(call, 'remove');
    const { id } = await addStrategy(call, 'removed');
    const strategies = `${FEATURES}/removed/environments/development/strategies`;
    const path = `${strategies}/${id}`;
    assert.equal((await remove('DELETE', path, undefined, editor)).status, 200);
    const { lastId } = server().server.store.engine;
    assert.equal((await remove('DELETE', path, undefined, editor)).status, 200);
    assert.equal((await remove('DELETE', `${strategies}/other`, undefined, editor)).status, 409);
    assert.equal((await remove('DELETE', path)).status, 404, 'the key of another caller is another key');
    assert.equal((await call('DELETE', path, undefined, editor)).status, 404);
    assert.equal((await remove('DELETE', path, undefined, { token: 'user:nobody' })).status, 401);
    assert.equal(server().server.store.engine.lastId, lastId);
    await call('PUT', `/user-admin/${editor.id}`, { rootRole: VIEWER });
    assert.equal((await remove('DELETE', path, undefined, editor)).status, 403);
  });

  it('gets the first response where the right went with what was removed, and only the one who removed it', async () => {
    const { call } = server();
    const [owner, other] = [await addUser(server(), VIEWER), await addUser(server(), VIEWER)];
    const path = '/projects/short-lived';
    await call('POST', '/projects', { id: 'short-lived', name: 'Short' });
    await call('POST', `${path}/users/${owner.id}/roles/${OWNER}`);
    const remove = keyed(call, 'remove-project');
    const first = await remove('DELETE', path, undefined, owner);
    assert.equal(first.status, 200);
    assert.deepEqual(shownOf(await remove('DELETE', path, undefined, owner)), shownOf(first));
    assert.equal((await remove('DELETE', path, undefined, other)).status, 403);
    assert.equal((await call('DELETE', path, undefined, owner)).status, 403);
    await call('POST', '/projects', { id: 'short-lived', name: 'Again' });
    assert.equal((await remove('DELETE', path, undefined, owner)).status, 403);
  });
});
