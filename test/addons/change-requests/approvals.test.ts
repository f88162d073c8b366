/** Approvals that count: nobody's of what they wrote, nobody's who may not approve any more, and none of another version. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import { createHash } from 'node:crypto';
import { ABOUT_NOTHING } from '../../../src/domain/state/events.ts';
import { type AddedUser, addUser, makeFlag, record } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import {
  type Acting,
  addPermitted,
  approvedRequest,
  as,
  EDITOR,
  PROPOSALS,
  propose,
  protect,
  REQUESTS,
  setState,
  succeeded,
  switchOn,
} from './scene.ts';

const ADMIN = 1;
const ON = switchOn('shop');

describeInterface('approvals of change requests', (server) => {
  let author: AddedUser;
  let by: Acting;
  before(async () => {
    await protect(server());
    await makeFlag(server().call, 'shop');
  });
  const begin = async (rootRole = EDITOR) => {
    author = await addUser(server(), rootRole);
    by = as(server(), author);
    const { id, features } = await propose(by, ON);
    await succeeded(setState(by, id, 'In review'));
    return { id, changeId: features[0].changes[0].id };
  };
  const applied = async (id: number) => {
    const { status, body } = await setState(by, id, 'Applied');
    const { enabled } = await succeeded(
      server().call('GET', '/projects/default/features/shop/environments/production'),
    );
    assert.equal(enabled, status === 200);
    return status === 200 ? 'applied' : body.message;
  };
  const NEEDS = /has 0 of 1 needed approvals/;

  it('are refused of the author, by a second token and as an Admin too', async () => {
    for (const role of [EDITOR, ADMIN]) {
      const { id } = await begin(role);
      const token = `user:second-${author.id}`;
      const data = {
        id: 900 + author.id,
        userId: author.id,
        description: '',
        expiresAt: '2999-01-01T00:00:00.000Z',
        createdAt: '2024-01-01T00:00:00.000Z',
      };
      const digest = createHash('sha256').update(token).digest('hex');
      await record(server(), {
        type: 'pat-created',
        ...ABOUT_NOTHING,
        data,
        preData: null,
        hidden: { digest },
      });
      for (const one of [author, { id: author.id, token }])
        assert.equal((await setState(as(server(), one), id, 'Approved')).status, 403);
      assert.match(await applied(id), NEEDS);
    }
  });

  it('are refused of whoever edited it, of service accounts, of API tokens and of who may not review', async () => {
    const { id, changeId } = await begin();
    const editor = as(server(), await addUser(server(), ADMIN));
    await succeeded(editor('PUT', `${REQUESTS}/${id}/changes/${changeId}`, ON));
    const service = as(server(), await addUser(server(), ADMIN, { isService: true }));
    const viewer = as(server(), await addUser(server(), 3));
    const elsewhere = as(server(), await addPermitted(server(), 'APPLY_CHANGE_REQUEST'));
    for (const one of [editor, service, viewer, elsewhere, server().call])
      assert.equal((await setState(one, id, 'Approved')).status, 403);
    assert.match(await applied(id), NEEDS);
  });

  it('are refused of a member of the group that gives the author the right', async () => {
    const { id } = await begin(3 + 2);
    const users = [{ user: { id: author.id } }];
    await succeeded(server().call('POST', '/groups', { name: 'reviewers', users, rootRole: ADMIN }));
    assert.equal((await setState(by, id, 'Approved')).status, 403);
  });

  it('do not count any more once the approver lost the right, or is gone', async () => {
    const losing = await addUser(server(), EDITOR);
    const leaving = await addUser(server(), EDITOR);
    for (const reviewer of [losing, leaving]) {
      const { id } = await begin();
      assert.equal((await succeeded(setState(as(server(), reviewer), id, 'Approved'))).state, 'Approved');
      if (reviewer === losing)
        await succeeded(server().call('PUT', `/user-admin/${losing.id}`, { rootRole: 3 }));
      else await succeeded(server().call('DELETE', `/user-admin/${leaving.id}`));
      const shown = await succeeded(by('GET', `${REQUESTS}/${id}`));
      assert.deepEqual([shown.state, shown.approvals], ['In review', []]);
      assert.match(await applied(id), NEEDS);
    }
  });

  it('count for the version that was approved alone, and each person once', async () => {
    await protect(server(), { requiredApprovals: 2 });
    const { id, changeId } = await begin();
    const one = as(server(), await addUser(server(), EDITOR));
    const two = as(server(), await addUser(server(), EDITOR));
    await succeeded(setState(one, id, 'Approved'));
    assert.equal((await succeeded(setState(one, id, 'Approved'))).state, 'In review');
    assert.equal((await succeeded(setState(two, id, 'Approved'))).state, 'Approved');
    await succeeded(
      by('POST', PROPOSALS, { feature: 'shop', action: 'patchVariant', payload: { variants: [] } }),
    );
    assert.match(await applied(id), /has 0 of 2 needed approvals/);
    await succeeded(setState(one, id, 'Approved'));
    await succeeded(by('DELETE', `${REQUESTS}/${id}/changes/${changeId}`));
    assert.match(await applied(id), /has 0 of 2 needed approvals/);
    await protect(server(), { requiredApprovals: 1 });
  });

  it('are refused where the request was edited since the version that the approver has seen', async () => {
    const { id } = await begin();
    const reviewer = as(server(), await addUser(server(), EDITOR));
    const { version } = await succeeded(reviewer('GET', `${REQUESTS}/${id}`));
    await propose(by, { feature: 'shop', action: 'archiveFeature' });
    const approve = (seen: number) =>
      reviewer('PUT', `${REQUESTS}/${id}/state`, { state: 'Approved', version: seen });
    const late = await approve(version);
    assert.equal(late.status, 409);
    assert.match(late.body.message, /was edited: its version is 2, not 1/);
    await succeeded(approve(version + 1));
    await succeeded(setState(by, id, 'Cancelled'));
  });

  it('are not needed everywhere, but then the author must still have the right to make the change', async () => {
    author = await addUser(server(), EDITOR);
    by = as(server(), author);
    const open = PROPOSALS.replace('production', 'development');
    const { id } = await succeeded(by('POST', open, { feature: 'shop', action: 'archiveFeature' }));
    await succeeded(setState(by, id, 'In review'));
    const permissions = [{ name: 'APPLY_CHANGE_REQUEST', environment: 'development' }];
    const role = { name: 'only applies', type: 'root-custom', description: '', permissions };
    const { roles } = await succeeded(server().call('POST', '/roles', role));
    await succeeded(server().call('PUT', `/user-admin/${author.id}`, { rootRole: roles.id }));
    const { status, body } = await setState(by, id, 'Applied');
    assert.equal(status, 403, body.message);
    assert.match(body.message, /DELETE_FEATURE/);
  });

  it('of one other person let the request be applied, by whoever may', async () => {
    const reviewer = as(server(), await addUser(server(), EDITOR));
    by = as(server(), await addPermitted(server(), 'UPDATE_FEATURE_ENVIRONMENT'));
    const { id } = await approvedRequest(by, reviewer, ON);
    assert.equal((await setState(by, id, 'Applied')).status, 403, 'applying is a right of its own');
    assert.equal((await setState(reviewer, id, 'Applied')).status, 200);
  });
});
