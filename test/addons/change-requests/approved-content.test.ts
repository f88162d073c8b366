/** Changes that were approved are applied as they were seen: nothing that says what they mean becomes another thing in between. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import {
  type Acting,
  approvedRequest,
  authorAndReviewer,
  protect,
  ROLLOUT,
  setState,
  succeeded,
  switchOn,
} from './scene.ts';

const FEW = [{ contextName: 'userId', operator: 'IN', values: ['1'] }];

describeInterface('an approved change request', (server) => {
  let author: Acting;
  let reviewer: Acting;
  before(async () => {
    ({ author, reviewer } = await authorAndReviewer(server()));
    await protect(server());
  });
  const isRefused = async (id: number, reason: RegExp) => {
    const { status, body } = await setState(author, id, 'Applied');
    assert.equal(status, 409);
    assert.match(body.message, reason);
  };

  it('is in conflict once a segment that its strategy uses is another', async () => {
    await makeFlag(server().call, 'wide');
    const { id: segmentId } = await succeeded(author('POST', '/segments', { name: 'few', constraints: FEW }));
    const payload = { ...ROLLOUT, segments: [segmentId] };
    const { id } = await approvedRequest(author, reviewer, {
      feature: 'wide',
      action: 'addStrategy',
      payload,
    });
    await succeeded(author('PUT', `/segments/${segmentId}`, { name: 'few', constraints: [] }));
    await isRefused(id, /conflict: The segment "few"/);
    await succeeded(author('PUT', `/segments/${segmentId}`, { name: 'fewer', constraints: FEW }));
    await succeeded(setState(author, id, 'Applied'));
  });

  it('is in conflict once a segment of the default strategy that it adds is another', async () => {
    await makeFlag(server().call, 'bare');
    const { id: segmentId } = await succeeded(author('POST', '/segments', { name: 'own', constraints: FEW }));
    const path = '/projects/default/environments/production/default-strategy';
    await succeeded(server().call('POST', path, { ...ROLLOUT, segments: [segmentId] }));
    const { id } = await approvedRequest(author, reviewer, switchOn('bare'));
    await succeeded(author('PUT', `/segments/${segmentId}`, { name: 'own', constraints: [] }));
    await isRefused(id, /conflict: The segment "own"/);
  });

  it('that switches a flag on is in conflict once the flag depends on others', async () => {
    for (const name of ['parent', 'child']) await makeFlag(server().call, name);
    await succeeded(author('POST', '/projects/default/features/child/dependencies', { feature: 'parent' }));
    const { id } = await approvedRequest(author, reviewer, switchOn('child'));
    await succeeded(author('DELETE', '/projects/default/features/child/dependencies'));
    await isRefused(id, /conflict/);
  });
});
