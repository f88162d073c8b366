/** How change requests are shown, where pages read them together with what they are about. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import { addUser } from '../../support/interface.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';
import {
  type Acting,
  approvedRequest,
  as,
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

const ADMIN = 1;
const ON = switchOn('shop');

describeInterface('change requests as they are shown', (server) => {
  let author: Acting;
  let reviewer: Acting;
  before(async () => {
    ({ author, reviewer } = await authorAndReviewer(server()));
    await succeeded(server().call('POST', '/projects/default/features', { name: 'shop' }));
  });

  const idsOfShop = async (): Promise<unknown> => {
    const { features } = await succeeded(server().call('GET', '/search/features'));
    const shop = features.find(({ name }: { readonly name: string }) => name === 'shop');
    return Object.fromEntries(
      shop.environments.map((one: { readonly name: string; readonly changeRequestIds: unknown }) => [
        one.name,
        one.changeRequestIds,
      ]),
    );
  };

  it('are named by the flags that a search finds, by environment, from their review until they are closed', async () => {
    await protect(server());
    assert.deepEqual(await idsOfShop(), { development: [], production: [] });
    const { id } = await propose(author, ON);
    assert.deepEqual(await idsOfShop(), { development: [], production: [] }, 'a draft is its author’s own');
    await succeeded(setState(author, id, 'In review'));
    assert.deepEqual(await idsOfShop(), { development: [], production: [id] });
    const path = '/projects/default/features/shop';
    const reviewed = await server().call('GET', path);
    const inProduction = ({ body }: ReceivedResponse) => body.environments[1].changeRequestIds;
    assert.deepEqual(inProduction(reviewed), [id]);
    const { changeRequestIds } = await succeeded(server().call('GET', `${path}/environments/production`));
    assert.deepEqual(changeRequestIds, [id]);
    const isSame = (etag: string) =>
      server().call('GET', path, undefined, { headers: { 'if-none-match': etag } });
    assert.equal((await isSame(reviewed.headers.get('etag')!)).status, 304);
    const ifMatch = { headers: { 'if-match': reviewed.headers.get('etag')! } };
    const typed = await server().call('PUT', path, { description: 'the shop' }, ifMatch);
    assert.equal(typed.status, 200, 'a request is no change of the flag');
    const described = await server().call('GET', path);
    await succeeded(setState(author, id, 'Cancelled'));
    assert.deepEqual(await idsOfShop(), { development: [], production: [] });
    const closed = await isSame(described.headers.get('etag')!);
    assert.equal(closed.status, 200);
    assert.deepEqual(inProduction(closed), []);
  });

  it('are gone with their project, also where another one has its id since', async () => {
    const make = async () => {
      await succeeded(server().call('POST', '/projects', { id: 'gone', name: 'Gone' }));
      await succeeded(server().call('POST', '/projects/gone/features', { name: 'cart' }));
    };
    await make();
    const admin = as(server(), await addUser(server(), ADMIN));
    const proposals = '/projects/gone/environments/production/change-requests';
    const { id } = await succeeded(admin('POST', proposals, switchOn('cart')));
    assert.equal((await succeeded(server().call('GET', '/projects/gone/change-requests'))).length, 1);
    await succeeded(server().call('DELETE', '/projects/gone/features/cart'));
    await succeeded(server().call('DELETE', '/projects/gone'));
    const total = async () => (await succeeded(server().call('GET', '/search/change-requests'))).total;
    const others = await total();
    await make();
    assert.deepEqual(await succeeded(server().call('GET', '/projects/gone/change-requests')), []);
    assert.equal((await server().call('GET', `/projects/gone/change-requests/${id}`)).status, 404);
    assert.equal(await total(), others);
  });

  it('have the approvals that count, so that who approved an earlier version is not taken for done', async () => {
    const { id, approvals, stateTimestamps } = await approvedRequest(reviewer, author, ON);
    assert.equal(approvals.length, 1);
    assert.equal(stateTimestamps.Approved, approvals[0].createdAt, 'the approval that made them enough');
    await succeeded(
      reviewer('POST', PROPOSALS, { feature: 'shop', action: 'patchVariant', payload: { variants: [] } }),
    );
    assert.deepEqual((await succeeded(author('GET', `${REQUESTS}/${id}`))).approvals, []);
    await succeeded(setState(author, id, 'Approved'));
    const { approvals: kept } = await succeeded(setState(author, id, 'Applied'));
    assert.equal(kept.length, 1, 'an applied one keeps those that it had');
  });

  it('show what the author saw of a strategy or a segment in the form in which it is read', async () => {
    await protect(server(), { changeRequestsEnabled: false });
    const place = '/projects/default/features/shop/environments/production';
    const segment = await succeeded(server().call('POST', '/segments', { name: 'beta', constraints: [] }));
    const { id: strategyId } = await succeeded(server().call('POST', `${place}/strategies`, ROLLOUT));
    await protect(server());
    const { features, segments } = await propose(
      author,
      { feature: 'shop', action: 'updateStrategy', payload: { ...ROLLOUT, id: strategyId } },
      { feature: null, action: 'deleteSegment', payload: { id: segment.id } },
    );
    const { strategies } = await succeeded(server().call('GET', place));
    const read = strategies.find(({ id }: { readonly id: string }) => id === strategyId);
    assert.deepEqual(features[0].changes[0].payload.snapshot, read);
    assert.deepEqual(segments[0].payload, {
      id: segment.id,
      name: 'beta',
      snapshot: await succeeded(server().call('GET', `/segments/${segment.id}`)),
    });
  });

  it('are named by a segment with the strategies that would use it', async () => {
    const { id } = await succeeded(server().call('POST', '/segments', { name: 'near', constraints: [] }));
    const uses = async () => {
      const body = await succeeded(server().call('GET', `/segments/${id}/strategies`));
      assert.deepEqual(body.strategies, []);
      return body.changeRequestStrategies;
    };
    const strategy = { ...ROLLOUT, segments: [id] };
    await succeeded(server().call('POST', '/projects/default/features', { name: 'near' }));
    await protect(server(), { changeRequestsEnabled: false });
    const place = '/projects/default/features/near/environments/production/strategies';
    const known = await succeeded(server().call('POST', place, ROLLOUT));
    await protect(server());
    const other = (await authorAndReviewer(server())).author;
    const request = await propose(
      other,
      { feature: 'near', action: 'addStrategy', payload: strategy },
      { feature: 'near', action: 'updateStrategy', payload: { ...strategy, id: known.id } },
      { feature: 'near', action: 'addStrategy', payload: ROLLOUT },
    );
    assert.deepEqual(await uses(), [], 'a draft is its author’s own');
    await succeeded(setState(other, request.id, 'In review'));
    const use = {
      ...{ featureName: 'near', projectId: 'default', environment: 'production' },
      ...{ strategyName: 'flexibleRollout', changeRequest: { id: request.id, title: request.title } },
    };
    assert.deepEqual(await uses(), [use, { ...use, id: known.id }]);
    await succeeded(setState(other, request.id, 'Cancelled'));
    assert.deepEqual(await uses(), []);
  });

  it('have their id in each of their events', async () => {
    const { body } = await server().call('GET', '/events?limit=100');
    const own = body.events.filter(
      ({ type, data }: { readonly type: string; readonly data: { readonly title?: string } | null }) =>
        /^change-/.test(type) && data?.title !== undefined,
    );
    assert(own.length > 5);
    for (const { type, data } of own) assert.equal(data.changeRequestId, data.id, type);
  });

  it('may be skipped by those alone whose own permissions say so, Admins included', async () => {
    const user = await addUser(server(), ADMIN);
    const own = as(server(), user);
    const permissions = async () => (await succeeded(own('GET', '/user'))).permissions;
    assert.deepEqual(await permissions(), [{ permission: 'ADMIN' }]);
    const skipping = [{ name: 'SKIP_CHANGE_REQUEST', environment: 'production' }];
    const role = { name: 'break-glass', type: 'custom', description: '', permissions: skipping };
    const { roles } = await succeeded(server().call('POST', '/roles', role));
    const given = { roles: [roles.id], groups: [], users: [user.id] };
    await succeeded(server().call('POST', '/projects/default/access', given));
    assert.deepEqual(await permissions(), [
      { permission: 'ADMIN' },
      { permission: 'SKIP_CHANGE_REQUEST', project: 'default', environment: 'production' },
    ]);
  });
});
