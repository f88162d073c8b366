/** Signing in with a password: the session that it begins, and what it tells of users. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { recording } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const PASSWORD = 'Correct-horse-7';

describeInterface('signing in with a password', (server) => {
  const login = (username: unknown, password: unknown, headers: Record<string, string> = {}) =>
    server().callBelow('/auth')('POST', '/simple/login', { username, password }, { token: null, headers });
  const cookieOf = ({ headers }: { headers: Headers }) =>
    (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const me = (cookie: string) =>
    server().call('GET', '/user', undefined, { token: null, headers: { cookie } });

  it('begins a session of the user, in whose name it is recorded, and says when', async () => {
    const { body: user } = await server().call('POST', '/user-admin', {
      ...{ username: 'ada', email: 'ada@example.com', rootRole: 3, password: PASSWORD },
    });
    assert.equal(user.seenAt, null);
    assert.equal((await login('ada', 'wrong')).status, 401);
    const { response, events } = await recording(server(), () => login('Ada@Example.com', PASSWORD));
    assert.deepEqual([response.status, response.body.id, response.body.loginAttempts], [200, user.id, 0]);
    assert(Date.parse(response.body.seenAt) >= Date.parse(user.createdAt));
    assert.deepEqual(
      events.map(({ type, data }) => [type, (data as { session?: string }).session]),
      [['pat-created', 'password']],
    );
    const { body: log } = await server().call('GET', '/events?limit=1');
    assert.deepEqual([log.events[0].createdBy, log.events[0].createdByUserId], ['ada', user.id]);
    assert(!JSON.stringify(log).includes(PASSWORD));
    const cookie = cookieOf(response);
    assert.equal((await me(cookie)).body.user.id, user.id);

    const path = `/user-admin/${user.id}/change-password`;
    assert.equal((await server().call('POST', path, { password: `${PASSWORD}!` })).status, 200);
    assert.equal((await me(cookie)).status, 401, 'another password ends the sessions');
    await server().restart();
    const { body: kept } = await server().call('GET', `/user-admin/${user.id}`);
    assert.equal(kept.seenAt, response.body.seenAt);
  });

  it('tells nobody who has an account, and lets no page of another site sign somebody in', async () => {
    await server().call('POST', '/user-admin', { username: 'bob', rootRole: 3, password: PASSWORD });
    const wrong = await login('bob', 'wrong');
    const unknown = await login('nobody', PASSWORD);
    assert.deepEqual([wrong.status, unknown.status], [401, 401]);
    assert.equal(wrong.body.message, unknown.body.message);
    assert.equal(wrong.headers.get('set-cookie'), null);
    for (const [name, password] of [
      [1, PASSWORD],
      ['bob', 12345],
      ['bob', 'x'.repeat(1000)],
    ] as const) {
      const { status, body } = await login(name, password);
      assert.equal(status, 400);
      assert(!JSON.stringify(body).includes('12345'));
    }
    const forged = await login('bob', PASSWORD, { 'sec-fetch-site': 'cross-site' });
    assert.deepEqual([forged.status, forged.headers.get('set-cookie')], [403, null]);
    assert.equal((await login('bob', PASSWORD, { 'sec-fetch-site': 'same-origin' })).status, 200);
  });

  it('asks those to wait who guess, with the right password too', async () => {
    await server().call('POST', '/user-admin', { username: 'eve', rootRole: 3, password: PASSWORD });
    for (let i = 0; i < 10; i += 1) assert.equal((await login('eve', `wrong ${i}`)).status, 401);
    const { status, headers, body } = await login('eve', PASSWORD);
    assert.deepEqual([status, body.name, headers.get('retry-after')], [429, 'TooManyRequestsError', '30']);
    assert.equal((await login('bob', PASSWORD)).status, 200, 'others from there go on');
  });
});
