/** Endpoint 21: an Admin changes a user (docs/specification/users.md#updating). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addUser, invalidAt, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const gravatar = (identity: string): string =>
  `https://gravatar.com/avatar/${createHash('sha256').update(identity).digest('hex')}?s=42&d=retro&r=g`;

describeInterface('users', (server) => {
  const put = (id: number | string, body: unknown) => server().call('PUT', `/user-admin/${id}`, body);

  it('answers the whole user after the change, and records it', async () => {
    const { id } = await addUser(server(), 3, { username: 'whole' });
    const { response, events } = await recording(server(), () =>
      put(id, { email: 'Whole@Example.com', name: 'Whole', rootRole: 'Editor' }),
    );
    assert.deepEqual(
      { status: response.status, body: response.body },
      {
        status: 200,
        body: {
          id,
          isAPI: false,
          name: 'Whole',
          email: 'Whole@Example.com',
          username: 'whole',
          imageUrl: gravatar('whole@example.com'),
          loginAttempts: 0,
          rootRole: 2,
          seenAt: null,
          createdAt: '2024-01-01T00:00:00.000Z',
          accountType: 'User',
          permissions: [],
        },
      },
    );
    const before = {
      id,
      name: null,
      username: 'whole',
      email: null,
      rootRole: 3,
      createdAt: response.body.createdAt,
    };
    assert.deepEqual(events, [
      {
        type: 'user-updated',
        createdBy: 'admin',
        createdByUserId: -42,
        project: null,
        featureName: null,
        environment: null,
        data: { ...before, name: 'Whole', email: 'Whole@Example.com', emailVouchedBy: 'admin', rootRole: 2 },
        preData: before,
        tags: [],
      },
    ]);
  });

  it('changes only the fields that are sent', async () => {
    const { id } = await addUser(server(), 3, { name: 'N', username: 'only', email: 'only@example.com' });
    const fields = async (body: unknown) => {
      const { body: user } = await put(id, body);
      return [user.name, user.username, user.email, user.rootRole];
    };
    assert.deepEqual(await fields({ name: 'M' }), ['M', 'only', 'only@example.com', 3]);
    assert.deepEqual(await fields({ rootRole: 1 }), ['M', 'only', 'only@example.com', 1]);
    assert.deepEqual(await fields({ email: 'new@example.com' }), ['M', 'only', 'new@example.com', 1]);
    assert.deepEqual(await fields({ name: null }), [null, 'only', 'new@example.com', 1]);
  });

  it('takes every root role by id and by name, and shows its id', async () => {
    const { id } = await addUser(server(), 3);
    for (const [index, name] of ['Admin', 'Editor', 'Viewer', 'Owner', 'Member'].entries()) {
      for (const rootRole of [name, index + 1]) {
        assert.equal((await put(id, { rootRole })).body.rootRole, index + 1);
      }
    }
  });

  it('records nothing when nothing changes', async () => {
    const { id } = await addUser(server(), 2, { name: 'N', email: 'same@example.com' });
    for (const body of [{}, { name: 'N', email: 'same@example.com', rootRole: 'Editor' }, { unknown: 1 }]) {
      const { response, events } = await recording(server(), () => put(id, body));
      assert.deepEqual({ status: response.status, events }, { status: 200, events: [] });
    }
  });

  it('leaves the email out of a response when there is none', async () => {
    const { id } = await addUser(server(), 2, { username: 'unreachable', email: 'once@example.com' });
    const { body } = await put(id, { email: null });
    assert(!('email' in body), 'the interface knows no email of null');
    assert.equal(body.imageUrl, gravatar('unreachable'));
  });

  it('refuses to leave a user without email and username', async () => {
    const byEmail = await addUser(server(), 2, { username: null, email: 'sole@example.com' });
    await invalidAt(server(), '/body/email', {
      method: 'PUT',
      path: `/user-admin/${byEmail.id}`,
      body: { email: null },
    });
    const byName = await addUser(server(), 2, { username: 'sole' });
    await invalidAt(server(), '/body/email', {
      method: 'PUT',
      path: `/user-admin/${byName.id}`,
      body: { username: null },
    });
  });

  it('refuses values that break a rule, and an email or username that another user has', async () => {
    await addUser(server(), 2, { username: 'holder', email: 'Holder@Example.com' });
    const { id } = await addUser(server(), 2, { username: 'claimant' });
    const cases: readonly (readonly [unknown, string])[] = [
      [[], '/body'],
      [{ email: 5 }, '/body/email'],
      [{ email: '' }, '/body/email'],
      [{ email: 'no-at.example.com' }, '/body/email'],
      [{ email: 'a@b' }, '/body/email'],
      [{ email: 'a b@example.com' }, '/body/email'],
      [{ email: 'holder@example.com' }, '/body/email'],
      [{ username: 'holder' }, '/body/username'],
      [{ username: '' }, '/body/username'],
      [{ name: 5 }, '/body/name'],
      [{ rootRole: 0 }, '/body/rootRole'],
      [{ rootRole: 6 }, '/body/rootRole'],
      [{ rootRole: '1' }, '/body/rootRole'],
      [{ rootRole: 'admin' }, '/body/rootRole'],
      [{ rootRole: null }, '/body/rootRole'],
    ];
    for (const [body, pointer] of cases) {
      await invalidAt(server(), pointer, { method: 'PUT', path: `/user-admin/${id}`, body });
    }
  });

  it('does not find users by anything but their id, written plainly', async () => {
    const { id } = await addUser(server(), 2, { username: 'findable' });
    for (const wrong of [
      999,
      'findable',
      `0${id}`,
      `+${id}`,
      `${id}.0`,
      `${id}e0`,
      '-1',
      '99999999999999999999',
    ]) {
      const call = { method: 'PUT', path: `/user-admin/${wrong}`, body: { name: 'x' } };
      await refused(server(), 404, 'NotFoundError', call);
    }
  });
});
