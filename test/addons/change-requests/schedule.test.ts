/** Schedules of change requests over HTTP: what is taken, what is shown, and what is refused. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import { addUser, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import {
  type Acting,
  approvedRequest,
  as,
  authorAndReviewer,
  propose,
  protect,
  REQUESTS,
  ROLLOUT,
  setState,
  succeeded,
} from './scene.ts';

const TOMORROW = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString();

describeInterface('scheduled change requests', (server) => {
  let author: Acting;
  let reviewer: Acting;
  before(async () => {
    ({ author, reviewer } = await authorAndReviewer(server()));
    await protect(server());
    for (const name of ['shop', 'cart']) await makeFlag(server().call, name);
  });
  const add = (feature: string) => ({ feature, action: 'addStrategy', payload: ROLLOUT });
  const schedule = (id: number, scheduledAt: unknown = TOMORROW, by = author) =>
    by('PUT', `${REQUESTS}/${id}/state`, { state: 'Scheduled', scheduledAt });

  it('show their time, are listed, and are scheduled again, rejected or applied, but not edited', async () => {
    const { id, features } = await approvedRequest(author, reviewer, add('shop'));
    const scheduled = await succeeded(schedule(id));
    assert.equal(scheduled.state, 'Scheduled');
    assert.deepEqual(scheduled.schedule, { scheduledAt: TOMORROW, status: 'pending' });
    const listed = await succeeded(author('GET', `${REQUESTS}/scheduled?feature=none&feature=shop`));
    assert.deepEqual(listed, [{ id, title: scheduled.title, environment: 'production' }]);
    assert.deepEqual(await succeeded(author('GET', `${REQUESTS}/scheduled?variantForFlag=shop`)), []);
    assert.equal((await succeeded(author('GET', `${REQUESTS}/scheduled`))).length, 1);
    const change = `${REQUESTS}/${id}/changes/${features[0].changes[0].id}`;
    const edited = await author('PUT', change, add('shop'));
    assert.equal(edited.status, 409);
    assert.match(edited.body.message, /scheduled, and is not edited/);
    const inAWeek = new Date(Date.now() + 7 * 24 * 60 * 60 * 1_000).toISOString();
    assert.equal((await succeeded(schedule(id, inAWeek))).schedule.scheduledAt, inAWeek);
    const { body: events } = await server().call('GET', '/events?type=change-request-scheduled&limit=1');
    const { data } = events.events[0];
    assert.deepEqual([data.changeRequestId, data.scheduledDate], [id, inAWeek]);
    const other = await propose(reviewer, add('shop'));
    assert.deepEqual(other.features[0].changes[0].scheduleConflicts, {
      changeRequests: [{ id, title: scheduled.title }],
    });
    assert.equal((await succeeded(setState(author, id, 'Applied'))).state, 'Applied');
  });

  it('show that they would be suspended now, with the reason', async () => {
    const strategies = '/projects/default/features/cart/environments/production/strategies';
    const first = await approvedRequest(author, reviewer, add('cart'));
    await succeeded(setState(author, first.id, 'Applied'));
    const [strategy] = await succeeded(author('GET', strategies));
    const edit = (rollout: string) => ({
      ...{ feature: 'cart', action: 'updateStrategy' },
      payload: { ...ROLLOUT, id: strategy.id, parameters: { ...ROLLOUT.parameters, rollout } },
    });
    const { id } = await approvedRequest(author, reviewer, edit('20'));
    await succeeded(schedule(id));
    const waiting = async () => (await succeeded(author('GET', `${REQUESTS}/actionable`))).total;
    const before = await waiting();
    const between = await approvedRequest(author, reviewer, edit('30'));
    await succeeded(setState(author, between.id, 'Applied'));
    const { schedule: shown } = await succeeded(author('GET', `${REQUESTS}/${id}`));
    assert.equal(shown.status, 'suspended');
    assert.match(shown.reason, /in conflict: It has changed since it was seen at event/);
    assert.equal(await waiting(), before + 1, 'its author has to see to it');
    assert.equal((await succeeded(setState(reviewer, id, 'Rejected'))).state, 'Rejected');
  });

  it('need an approved request, the right to apply, and a time within two years', async () => {
    const reader = as(server(), await addUser(server(), 3));
    const draft = await propose(author, add('shop'));
    assert.equal((await schedule(draft.id)).status, 409);
    await succeeded(setState(author, draft.id, 'In review'));
    const early = await schedule(draft.id);
    assert.equal(early.status, 409);
    assert.match(early.body.message, /has 0 of 1 needed approvals/);
    await succeeded(setState(reviewer, draft.id, 'Approved'));
    assert.equal((await schedule(draft.id, TOMORROW, reader)).status, 403);
    for (const wrong of ['2001-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', 'tomorrow', 7, null]) {
      const { status, body } = await schedule(draft.id, wrong);
      assert.equal(status, 400, String(wrong));
      assert.match(body.message, /scheduledAt/);
    }
    assert.equal((await setState(author, draft.id, 'Scheduled')).status, 400);
    assert.equal((await succeeded(author('GET', `${REQUESTS}/${draft.id}`))).state, 'Approved');
  });
});
