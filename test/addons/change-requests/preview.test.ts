/** Flags evaluated as an open change request would leave them. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import { addUser, makeFlag, recording } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import {
  type Acting,
  as,
  authorAndReviewer,
  PROPOSALS,
  propose,
  protect,
  setState,
  succeeded,
  switchOn,
} from './scene.ts';

const IN_NORWAY = { contextName: 'country', operator: 'IN', values: ['no'] };

interface Played {
  readonly name: string;
  readonly environments: Readonly<
    Record<string, readonly { readonly isEnabled: boolean; readonly context: object }[]>
  >;
}

describeInterface('a change request that is not applied yet', (server) => {
  let author: Acting;
  before(async () => {
    ({ author } = await authorAndReviewer(server()));
    for (const name of ['child', 'parent', 'other']) await makeFlag(server().call, name);
    await protect(server());
  });
  const play = (id: number | string, context: object, by = author) =>
    by('POST', `/playground/change-request/${id}`, { context });
  const enabledIn = ({ features }: { readonly features: readonly Played[] }) =>
    Object.fromEntries(
      features.map(({ name, environments }) => [
        name,
        environments.production!.map(({ isEnabled }) => isEnabled),
      ]),
    );

  it('shows its flags with all that it changes, for every context, and changes nothing', async () => {
    const segment = { name: 'north', constraints: [] };
    const { id: segmentId } = await succeeded(server().call('POST', '/segments', segment));
    const strategy = { name: 'default', segments: [segmentId] };
    const { id } = await propose(
      author,
      switchOn('child'),
      { feature: 'child', action: 'addStrategy', payload: strategy },
      { feature: 'child', action: 'addDependency', payload: { feature: 'parent' } },
      switchOn('parent'),
      {
        feature: null,
        action: 'updateSegment',
        payload: { ...segment, id: segmentId, constraints: [IN_NORWAY] },
      },
    );
    const context = { appName: 'shop', country: 'no,se' };
    const { response, events } = await recording(server(), () => play(id, context));
    assert.deepEqual(events, []);
    const body = await succeeded(Promise.resolve(response));
    assert.deepEqual(body.input, { environments: ['production'], projects: ['default'], context });
    assert.deepEqual(enabledIn(body), {
      child: [true, false],
      other: [false, false],
      parent: [true, true],
    });
    const now = { environments: ['production'], projects: ['default'], context };
    const unchanged = await succeeded(author('POST', '/playground/advanced', now));
    assert.deepEqual(enabledIn(unchanged), {
      child: [false, false],
      other: [false, false],
      parent: [false, false],
    });
    const keys = (of: { readonly features: readonly Played[] }) => Object.keys(of.features[0]!);
    assert.deepEqual(keys(body), keys(unchanged), 'the shape is that of the advanced playground');
    await succeeded(setState(author, id, 'Cancelled'));
    const closed = await play(id, context);
    assert.deepEqual([closed.status, closed.body.name], [409, 'InvalidOperationError']);
  });

  it('is refused with the change that could not be applied, and where it is hidden or not there', async () => {
    await makeFlag(server().call, 'going');
    const { id } = await propose(author, switchOn('going'));
    await succeeded(server().call('DELETE', '/projects/default/features/going'));
    const gone = await play(id, {});
    assert.equal(gone.status, 409);
    assert.match(
      gone.body.message,
      /^The change \d+ \(updateEnabled of the flag "going"\) cannot be applied/,
    );
    for (const unknown of ['9999', 'none']) {
      const { status, body } = await play(unknown, {});
      assert.deepEqual([status, body.message], [404, `There is no change request "${unknown}".`]);
    }
    await succeeded(server().call('POST', '/projects', { id: 'hidden', name: 'Hidden', mode: 'private' }));
    await succeeded(server().call('POST', '/projects/hidden/features', { name: 'hidden' }));
    const owner = as(server(), await addUser(server(), 1));
    const path = PROPOSALS.replace('default', 'hidden');
    const hidden = await succeeded(owner('POST', path, switchOn('hidden')));
    assert.equal((await play(hidden.id, {})).status, 404);
    assert.equal((await play(hidden.id, {}, owner)).status, 200);
  });
});
