/** The life of a change request: from its first change to one frame, and what ends it otherwise. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { protectionOf } from '../../../src/addons/change-requests/protection.ts';
import { isRecordEvent } from '../../../src/domain/state/events.ts';
import '../../support/check-responses.ts';
import { exportState, planImport } from '../../support/documents/state-document.ts';
import { type AddedUser, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import { TestWorld } from '../../support/test-world.ts';
import {
  type Acting,
  approvedRequest,
  authorAndReviewer,
  PROPOSALS,
  propose,
  protect,
  REQUESTS,
  ROLLOUT,
  setState,
  succeeded,
  switchOn,
} from './scene.ts';

describeInterface('change requests', (server) => {
  let author: Acting;
  let reviewer: Acting;
  let people: { author: AddedUser; reviewer: AddedUser };
  before(async () => {
    ({ people, author, reviewer } = await authorAndReviewer(server()));
    await protect(server());
  });
  const flagIn = async (name: string) =>
    succeeded(server().call('GET', `/projects/default/features/${name}/environments/production`));

  it('are refused directly, with how to ask instead, and applied as one frame once approved', async () => {
    await makeFlag(server().call, 'whole');
    const path = '/projects/default/features/whole/environments/production';
    const direct = await author('POST', `${path}/strategies`, ROLLOUT);
    assert.equal(direct.status, 403);
    assert.match(direct.body.message, /POST \/projects\/default\/environments\/production\/change-requests/);
    const draft = await propose(author, { feature: 'whole', action: 'addStrategy', payload: ROLLOUT });
    const both = await propose(author, switchOn('whole'));
    assert.equal(both.id, draft.id, 'a user has one open request of an environment');
    assert.equal(both.state, 'Draft');
    await succeeded(setState(author, both.id, 'In review'));
    const early = await setState(author, both.id, 'Applied');
    assert.equal(early.status, 409);
    assert.match(early.body.message, /has 0 of 1 needed approvals/);
    assert.equal((await succeeded(setState(reviewer, both.id, 'Approved'))).state, 'Approved');
    const lastId = server().server.store.engine.lastId;
    const applied = await succeeded(setState(author, both.id, 'Applied'));
    assert.equal(applied.state, 'Applied');
    assert.deepEqual(applied.events, [lastId + 2, lastId + 3]);
    const { enabled, strategies } = await flagIn('whole');
    assert.deepEqual([enabled, strategies.length, strategies[0].parameters.rollout], [true, 1, '50']);
    const { body } = await server().call('GET', '/events?limit=4');
    assert.deepEqual(
      body.events.map(({ type, project, environment }: Record<string, string>) => [
        type,
        project,
        environment,
      ]),
      [
        ['feature-environment-enabled', 'default', 'production'],
        ['feature-strategy-add', 'default', 'production'],
        ['change-request-applied', 'default', 'production'],
        ['change-request-approved', 'default', 'production'],
      ],
    );
    assert.equal(
      (await setState(author, both.id, 'Cancelled')).status,
      409,
      'a closed request is not changed',
    );
  });

  it('show and carry the strategy that switching a flag without one on adds', async () => {
    await makeFlag(server().call, 'bare');
    const { features, id } = await approvedRequest(author, reviewer, switchOn('bare'));
    assert.equal(features[0].defaultChange.payload.name, 'flexibleRollout');
    await succeeded(setState(reviewer, id, 'Applied'));
    const { enabled, strategies } = await flagIn('bare');
    assert.deepEqual([enabled, strategies[0].name], [true, 'flexibleRollout']);
  });

  it('refuse a change that makes no sense when it is added, and name its field', async () => {
    await makeFlag(server().call, 'sound');
    const refusals = [
      [{ feature: 'sound', action: 'addStrategy', payload: { parameters: {} } }, 400, '/body/payload/name'],
      [{ feature: null, action: 'archiveFeature' }, 400, '/body/feature'],
      [{ feature: 'sound', action: 'updateSegment', payload: { id: 1 } }, 400, '/body/feature'],
      [{ feature: 'nobody', action: 'archiveFeature' }, 404, '/body'],
      [{ feature: 'sound', action: 'deleteStrategy', payload: { id: 'none' } }, 404, '/body'],
      [{ feature: 'sound', action: 'addDependency', payload: { feature: 'sound' } }, 400, '/body'],
    ] as const;
    const { lastId } = server().server.store.engine;
    for (const [change, status, path] of refusals) {
      const refused = await author('POST', PROPOSALS, change);
      assert.equal(refused.status, status, JSON.stringify(refused.body));
      assert.equal(refused.body.details[0].path, path);
    }
    assert.equal(server().server.store.engine.lastId, lastId, 'nothing is recorded');
  });

  it('apply all of their changes or none, and name the change that is refused', async () => {
    await makeFlag(server().call, 'first');
    await makeFlag(server().call, 'second');
    const { id } = await approvedRequest(author, reviewer, switchOn('first'), switchOn('second'));
    await succeeded(server().call('DELETE', '/projects/default/features/second'));
    const { lastId } = server().server.store.engine;
    const { status, body } = await setState(reviewer, id, 'Applied');
    assert.equal(status, 409);
    assert.match(body.message, /\(updateEnabled of the flag "second"\)/);
    assert.equal((await flagIn('first')).enabled, false);
    assert.equal(server().server.store.engine.lastId, lastId);
    await succeeded(setState(author, id, 'Cancelled'));
  });

  it('are in conflict where their target has changed, until the change is sent again, and merge where another has', async () => {
    await makeFlag(server().call, 'shared');
    const added = await approvedRequest(author, reviewer, {
      feature: 'shared',
      action: 'addStrategy',
      payload: ROLLOUT,
    });
    await succeeded(setState(reviewer, added.id, 'Applied'));
    const [strategy] = (await flagIn('shared')).strategies;
    const edit = (rollout: string) => ({
      feature: 'shared',
      action: 'updateStrategy',
      payload: { ...ROLLOUT, id: strategy.id, parameters: { ...ROLLOUT.parameters, rollout } },
    });
    const { id, features } = await propose(author, edit('60'));
    assert.equal(features[0].changes[0].payload.snapshot.parameters.rollout, '50');
    const other = await approvedRequest(reviewer, author, edit('70'));
    await succeeded(setState(reviewer, other.id, 'Applied'));
    await succeeded(setState(author, id, 'In review'));
    await succeeded(setState(reviewer, id, 'Approved'));
    const refused = await setState(author, id, 'Applied');
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /in conflict.*event \d+/);
    const { features: inConflict } = await succeeded(author('GET', `${REQUESTS}/${id}`));
    assert.match(inConflict[0].conflict, /has changed since .* event about it is \d+, by user-\d+\.$/);
    const again = await succeeded(
      author('PUT', `${REQUESTS}/${id}/changes/${features[0].changes[0].id}`, edit('60')),
    );
    assert.equal(again.features[0].conflict, undefined);
    assert.equal(again.state, 'In review', 'an approval of an older version does not count');
    await succeeded(reviewer('POST', '/features/shared/tags', { type: 'simple', value: 'beside' }));
    await succeeded(setState(reviewer, id, 'Approved'));
    await succeeded(setState(author, id, 'Applied'));
    assert.equal((await flagIn('shared')).strategies[0].parameters.rollout, '60');
  });

  it('are listed, counted, searched, commented on, titled and discarded', async () => {
    await makeFlag(server().call, 'listed');
    const { id } = await propose(author, switchOn('listed'));
    await succeeded(author('PUT', `${REQUESTS}/${id}/title`, { title: 'Open the shop' }));
    await succeeded(author('PUT', `${REQUESTS}/${id}/approvers`, { reviewers: [people.reviewer.id] }));
    const oneself = await author('PUT', `${REQUESTS}/${id}/approvers`, { reviewers: [people.author.id] });
    assert.equal(oneself.status, 400);
    await succeeded(reviewer('POST', `${REQUESTS}/${id}/comments`, { text: 'Why now?' }));
    const shown = await succeeded(author('GET', `${REQUESTS}/${id}`));
    assert.deepEqual([shown.title, shown.comments[0].text], ['Open the shop', 'Why now?']);
    assert.deepEqual(
      (await succeeded(author('GET', `${REQUESTS}/${id}/approvers`))).reviewers.map(
        (one: { id: number }) => one.id,
      ),
      [people.reviewer.id],
    );
    const available = await succeeded(author('GET', `${REQUESTS}/available-reviewers/production`));
    assert.ok(available.reviewers.some((one: { id: number }) => one.id === people.reviewer.id));
    assert.equal((await succeeded(reviewer('GET', `${REQUESTS}/actionable`))).total, 0);
    await succeeded(setState(author, id, 'In review'));
    assert.equal((await succeeded(reviewer('GET', `${REQUESTS}/actionable`))).total, 1);
    const waiting = await succeeded(reviewer('GET', '/search/change-requests?actionable=IS:true'));
    assert.deepEqual(
      waiting.changeRequests.map((one: { id: number }) => one.id),
      [id],
    );
    assert.equal((await succeeded(author('GET', `${REQUESTS}/count`))).reviewRequired, 1);
    const found = await succeeded(
      author('GET', `/search/change-requests?state=IS:open&requestedApproverId=IS:${people.reviewer.id}`),
    );
    assert.deepEqual([found.total, found.changeRequests[0].features], [1, ['listed']]);
    assert.equal((await succeeded(author('GET', `${REQUESTS}/pending`))).length, 1);
    assert.equal((await succeeded(reviewer('GET', `${REQUESTS}/pending/listed`))).length, 1);
    assert.ok(
      (await succeeded(author('GET', REQUESTS))).every((one: { features: { changes: [] }[] }) =>
        one.features.every(({ changes }) => changes.length === 0),
      ),
    );
    await succeeded(setState(reviewer, id, 'Rejected'));
    const draft = await propose(author, switchOn('listed'), { feature: 'listed', action: 'archiveFeature' });
    assert.notEqual(draft.id, id);
    const [, archived] = draft.features[0].changes;
    const less = await succeeded(author('DELETE', `${REQUESTS}/${draft.id}/changes/${archived.id}`));
    assert.equal(less.features[0].changes.length, 1);
    await succeeded(author('DELETE', `${REQUESTS}/${draft.id}`));
    assert.equal((await author('GET', `${REQUESTS}/${draft.id}`)).status, 404);
  });

  it('need nobody where no approvals are required, and are recorded all the same', async () => {
    await protect(server(), { requiredApprovals: 0 });
    await makeFlag(server().call, 'alone');
    const { id } = await propose(author, switchOn('alone'));
    assert.equal((await succeeded(setState(author, id, 'In review'))).state, 'Approved');
    await succeeded(setState(author, id, 'Applied'));
    assert.equal((await flagIn('alone')).enabled, true);
    await protect(server(), { requiredApprovals: 1 });
  });

  it('are exported and imported with their configuration, and found wanting with the place of the fault', () => {
    const { addonRecords, ...others } = exportState(server().server.store.engine.world);
    const plan = planImport({ ...others, addonRecords });
    assert(plan.ok, JSON.stringify(plan));
    assert(
      plan.events.every((event) => !isRecordEvent(event) || event.project === 'default'),
      'their events are hidden with the project',
    );
    const imported = new TestWorld(plan.events).world;
    assert.deepEqual(exportState(imported).addonRecords, addonRecords);
    assert.equal(
      protectionOf(imported, { project: 'default', environment: 'production' })?.data.enabled,
      true,
    );
    const faulty = addonRecords.map((one) =>
      one.kind === 'change-request' ? { ...one, data: { ...one.data, state: 'Lost' } } : one,
    );
    const refused = planImport({ ...others, addonRecords: faulty });
    assert(!refused.ok);
    assert.match(refused.issues[0]!.path, /data\/state$/);
  });

  it('are the same after a restart', async () => {
    const list = () => succeeded(author('GET', REQUESTS));
    const before = await list();
    await server().restart();
    assert.deepEqual(await list(), before);
    const { body } = await author(
      'POST',
      '/projects/default/features/whole/environments/production/strategies',
      ROLLOUT,
    );
    assert.equal(body.name, 'NoAccessError');
  });
});
