/** Endpoint 6: changing the metadata of a flag by a JSON Patch (docs/specification/flags.md#updating). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  archive,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('patches of flags', (server) => {
  const patch = (name: string, body: unknown) => server().call('PATCH', `${FEATURES}/${name}`, body);

  it('replaces a description, in one event', async () => {
    const before = await makeFlag(server().call, 'patched');
    const { response, events } = await recording(server(), () =>
      patch('patched', [{ op: 'replace', path: '/description', value: 'new' }]),
    );
    const after = { ...before, description: 'new' };
    assert.deepEqual({ status: response.status, body: response.body }, { status: 200, body: after });
    assert.deepEqual(events, [
      flagEvent('feature-metadata-updated', 'patched', { data: after, preData: before }),
    ]);
  });

  it('knows all six operations, in their order', async () => {
    await makeFlag(server().call, 'six', { description: 'start' });
    const { body } = await patch('six', [
      { op: 'test', path: '/description', value: 'start' },
      { op: 'add', path: '/note', value: 'a' },
      { op: 'copy', from: '/note', path: '/description' },
      { op: 'move', from: '/note', path: '/other' },
      { op: 'remove', path: '/other' },
      { op: 'replace', path: '/stale', value: true },
    ]);
    assert.deepEqual({ description: body.description, stale: body.stale }, { description: 'a', stale: true });
    assert(!('note' in body) && !('other' in body), 'what a flag does not have is not kept');
  });

  it('sets a flag stale with the event of that name after the update', async () => {
    await makeFlag(server().call, 'aged');
    const { events } = await recording(server(), () =>
      patch('aged', [{ op: 'replace', path: '/stale', value: true }]),
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ['feature-metadata-updated', 'feature-stale-on'],
    );
  });

  it('ignores changes of what cannot be changed, and records nothing of them', async () => {
    const before = await makeFlag(server().call, 'steady');
    for (const field of ['project', 'createdAt', 'lastSeenAt', 'archived']) {
      const { response, events } = await recording(server(), () =>
        patch('steady', [{ op: 'replace', path: `/${field}`, value: 'changed' }]),
      );
      assert.deepEqual({ status: response.status, body: response.body }, { status: 200, body: before });
      assert.deepEqual(events, []);
    }
  });

  it('does nothing, successfully, for an empty patch and for one that changes nothing', async () => {
    const before = await makeFlag(server().call, 'still', { description: 'x' });
    for (const operations of [[], [{ op: 'replace', path: '/description', value: 'x' }]]) {
      const { response, events } = await recording(server(), () => patch('still', operations));
      assert.deepEqual({ body: response.body, events }, { body: before, events: [] });
    }
  });

  it('removes a description, and keeps one of null', async () => {
    await makeFlag(server().call, 'plain', { description: 'x' });
    assert.equal((await patch('plain', [{ op: 'remove', path: '/description' }])).body.description, null);
    const { body } = await patch('plain', [{ op: 'add', path: '/description', value: null }]);
    assert.equal(body.description, null);
  });

  it('refuses what cannot be applied or breaks a rule, with the index of the operation, and applies none', async () => {
    await makeFlag(server().call, 'guarded');
    const fine = { op: 'replace', path: '/description', value: 'half applied' };
    const cases: readonly (readonly [unknown, string])[] = [
      [{ op: 'replace', path: '/missing', value: 1 }, '/body/1'],
      [{ op: 'remove', path: '/missing' }, '/body/1'],
      [{ op: 'copy', from: '/missing', path: '/description' }, '/body/1'],
      [{ op: 'test', path: '/missing', value: 1 }, '/body/1'],
      [{ op: 'add', path: '/a/b', value: 1 }, '/body/1'],
      [{ op: 'replace', path: 'description', value: 'x' }, '/body/1'],
      [{ op: 'replace', path: '/description~2', value: 'x' }, '/body/1'],
      [{ op: 'add', path: '/__proto__/polluted', value: 1 }, '/body/1'],
      [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }, '/body/1'],
      [{ op: 'copy', from: '/prototype', path: '/description' }, '/body/1'],
      [{ op: 'change', path: '/description', value: 1 }, '/body/1/op'],
      [{ op: 'replace', path: '/name', value: 'renamed' }, '/body/1'],
      [{ op: 'remove', path: '/name' }, '/body/1'],
      [{ op: 'replace', path: '/description', value: 5 }, '/body/1'],
      [{ op: 'replace', path: '/type', value: 'toggle' }, '/body/1'],
      [{ op: 'remove', path: '/type' }, '/body/1'],
      [{ op: 'replace', path: '/stale', value: 'true' }, '/body/1'],
      [{ op: 'replace', path: '/impressionData', value: null }, '/body/1'],
      [{ op: 'replace', path: '/variants', value: [] }, '/body/1'],
      [{ op: 'replace', path: '', value: [] }, '/body/1'],
      [{ op: 'replace', path: '', value: null }, '/body/1'],
    ];
    for (const [operation, pointer] of cases) {
      const body = [fine, operation];
      await invalidAt(server(), pointer, { method: 'PATCH', path: `${FEATURES}/guarded`, body });
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it('refuses as a conflict a test that does not hold, and applies none of the patch', async () => {
    await makeFlag(server().call, 'tested');
    const { body } = await refused(server(), 409, 'InvalidOperationError', {
      method: 'PATCH',
      path: `${FEATURES}/tested`,
      body: [
        { op: 'replace', path: '/description', value: 'never' },
        { op: 'test', path: '/type', value: 'experiment' },
      ],
    });
    assert.equal(body.details[0].path, '/body/1');
  });

  it('refuses every patch of an archived flag', async () => {
    await makeFlag(server().call, 'archived');
    await archive(server().call, 'archived');
    for (const body of [[], [{ op: 'replace', path: '/description', value: 'x' }]]) {
      await refused(server(), 409, 'InvalidOperationError', {
        method: 'PATCH',
        path: `${FEATURES}/archived`,
        body,
      });
    }
  });

  it('takes a patch under its own content type', async () => {
    await makeFlag(server().call, 'typed');
    const headers = { 'content-type': 'application/json-patch+json' };
    const body = [{ op: 'replace', path: '/description', value: 'typed' }];
    const response = await server().call('PATCH', `${FEATURES}/typed`, body, { headers });
    assert.equal(response.body.description, 'typed');
  });
});
