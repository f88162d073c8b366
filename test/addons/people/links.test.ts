/** Links that Admins hand on: to set a password, and to become a user. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../../../src/domain/state/events.ts';
import type { DirectoryDraft } from '../../../src/domain/state/world.ts';
import { invalidAt, record, recording, refused } from '../../support/interface.ts';
import { describeInterface, serverFor } from '../../support/server.ts';

const PASSWORD = 'Correct-horse-7';
const FAR = '2999-01-01T00:00:00.000Z';

const secretIn = (url: string) => url.split('=')[1] ?? '';

it('links lead to the address that the operator gives, or to where the request went, whatever others write', async (t) => {
  const linkAt = async (env: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) => {
    const server = await serverFor(t, { env });
    const invitation = { name: 'where', expiresAt: FAR };
    const { body } = await server.call('POST', '/invite-link/tokens', invitation, { headers });
    return body.url.replace(server.origin.slice('http://'.length), 'HERE').replace(/#.*/, '');
  };
  const forged = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    origin: 'https://evil.example',
  };
  assert.equal(await linkAt({}, forged), 'http://HERE/welcome');
  const env = { PUBLIC_URL: 'https://flags.example', BASE_URI_PATH: '' };
  assert.equal(await linkAt(env, forged), 'https://flags.example/welcome');
});

it('invitations of more than 16 MiB, as older releases let them come about, are a 413 that leads to pages', async (t) => {
  const server = await serverFor(t);
  const createdAt = '2024-01-01T00:00:00.000Z';
  const large = Array.from({ length: 6 }, (_, number) => ({
    ...{ type: 'public-signup-token-created', ...ABOUT_NOTHING, preData: null },
    data: {
      ...{ name: '\u0001'.repeat(2 ** 19), enabled: true, expiresAt: FAR, createdAt },
      ...{ createdBy: 'admin', rootRole: 3, users: [] },
    },
    hidden: { digest: `${number}`.padStart(64, '1') },
  }));
  await record(server, ...(large as unknown as DomainEvent[]));
  const { status, body } = await server.call('GET', '/invite-link/tokens');
  assert.equal(status, 413);
  assert.match(body.message, /^The response would take more than 16 MiB.* \?limit=\d+&offset=0/);
  assert.equal((await server.call('GET', '/invite-link/tokens?limit=2')).body.tokens.length, 2);
});

describeInterface('links that Admins hand on', (server) => {
  const admin = (method: string, path: string, body?: object) => server().call(method, path, body);
  /** For somebody without a token. */
  const open = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    server().callBelow('')(method, path, body, { token: null, headers });
  /** Signing in is not described, as no page's own requests are. */
  const signIn = (username: string, password = PASSWORD) =>
    fetch(`${server().origin}/auth/simple/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
  const login = async (...sent: Parameters<typeof signIn>) => (await signIn(...sent)).status;
  const setPassword = (token: string, password = PASSWORD) =>
    open('POST', '/auth/reset/password', { token, password });

  it('let a new user set a password, once, and say who it is for', async () => {
    const made = await admin('POST', '/user-admin', { name: 'Ada', email: 'ada@example.com', rootRole: 3 });
    assert.match(made.body.inviteLink, /^http:\/\/127\.0\.0\.1:\d+\/welcome#password=[\w-]{43}$/);
    const token = secretIn(made.body.inviteLink);
    const { body } = await open('GET', `/auth/reset/validate?token=${token}`);
    assert.deepEqual([body.id, body.email, body.role.name], [made.body.id, 'ada@example.com', 'Viewer']);
    const weak = await setPassword(token, 'weak');
    assert.deepEqual([weak.status, await login('ada@example.com')], [400, 401]);
    assert.equal((await setPassword(token)).status, 200);
    assert.equal(await login('ada@example.com'), 200);
    const again = await setPassword(token, 'Other-password-8');
    assert.deepEqual([again.status, await login('ada@example.com')], [404, 200]);
    const { body: log } = await admin('GET', '/events?limit=5');
    const change = log.events.find((event: { type: string }) => event.type === 'user-updated');
    assert.deepEqual([change.createdBy, change.createdByUserId], ['ada@example.com', made.body.id]);
  });

  it('reset a password: the newest link of a user is good for a day, and ends the sessions', async () => {
    const made = await admin('POST', '/user-admin', { username: 'bob', rootRole: 3, password: PASSWORD });
    assert(!('inviteLink' in made.body), 'one who has a password needs no link');
    const reset = async () => {
      const { response, events } = await recording(server(), () =>
        admin('POST', '/user-admin/reset-password', { id: 'BOB' }),
      );
      assert.deepEqual(
        events.map(({ type, data }) => [type, Object.keys(data ?? {}).at(-1)]),
        [['user-updated', 'passwordLinkExpiresAt']],
      );
      return secretIn(response.body.resetPasswordUrl);
    };
    const first = await reset();
    const second = await reset();
    assert.equal((await setPassword(first)).status, 404);
    const session = await signIn('bob');
    const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const me = async () => (await open('GET', '/api/admin/user', undefined, { cookie })).status;
    assert.equal(await me(), 200);
    await server().restart();
    assert.equal((await setPassword(second, 'Other-password-8')).status, 200);
    assert.deepEqual(
      [await me(), await login('bob'), await login('bob', 'Other-password-8')],
      [401, 401, 200],
    );

    const third = await reset();
    const directory = server().server.store.engine.world.directory as DirectoryDraft;
    const [digest, link] = [...directory.passwordLinks].at(-1) ?? [];
    assert(digest !== undefined && link !== undefined);
    assert(Math.abs(Date.parse(link.expiresAt) - Date.now() - 86_400_000) < 60_000);
    const expired = { ...link, expiresAt: new Date(Date.now() - 1).toISOString() };
    directory.passwordLinks = directory.passwordLinks.with(digest, expired);
    assert.equal((await open('GET', `/auth/reset/validate?token=${third}`)).status, 404);
    assert.equal((await setPassword(third)).status, 404);
    const unknown = { method: 'POST', path: '/user-admin/reset-password', body: { id: 'nobody' } } as const;
    await refused(server(), 404, 'NotFoundError', unknown);
  });

  it('invite: people become Viewers with a password until the invitation ends, and its secret is kept nowhere', async () => {
    const path = '/invite-link/tokens';
    const past = { name: 'late', expiresAt: '2020-01-01T00:00:00.000Z' };
    await invalidAt(server(), '/body/expiresAt', { method: 'POST', path, body: past });
    const { body: made } = await admin('POST', path, { name: 'team', expiresAt: FAR });
    const { secret } = made;
    assert.equal(secretIn(made.url), secret);
    const signUp = (person: object) => open('POST', `/invite/${secret}/signup`, person);
    assert.equal((await open('GET', `/invite/${secret}/validate`)).status, 200);
    const { response, events } = await recording(server(), () =>
      signUp({ email: 'eve@example.com', name: 'Eve', password: PASSWORD, rootRole: 1 }),
    );
    assert.deepEqual([response.status, response.body.rootRole], [201, 3], 'nobody invites an Admin');
    assert.deepEqual(
      events.map(({ type }) => type),
      ['user-created', 'public-signup-token-user-added'],
    );
    assert.equal(await login('eve@example.com'), 200);
    assert.equal((await signUp({ email: 'EVE@example.com', password: PASSWORD })).status, 400);
    assert.equal((await signUp({ username: 'mallory' })).status, 400);
    assert.equal((await signUp({ username: 'mallory', password: PASSWORD })).status, 201);

    const { body: list } = await admin('GET', path);
    const read = list.tokens.at(-1);
    assert.deepEqual(
      [read.name, read.url, read.role.name, read.users.map((user: { email?: string }) => user.email)],
      ['team', null, 'Viewer', ['eve@example.com', undefined]],
    );
    assert.equal((await admin('PUT', `${path}/${read.secret}`, { enabled: false })).body.enabled, false);
    assert.equal((await open('GET', `/invite/${secret}/validate`)).status, 404);
    assert.equal((await signUp({ username: 'late', password: PASSWORD })).status, 404);
    await server().restart();
    assert.equal((await admin('PUT', `${path}/${secret}`, { enabled: true })).status, 200);
    assert.equal((await open('GET', `/invite/${secret}/validate`)).status, 200);
    for (const file of readdirSync(server().folder, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) assert(!readFileSync(join(file.parentPath, file.name)).includes(secret), file.name);
    }
    const { body: log } = await admin('GET', '/events?limit=100');
    for (const hidden of [secret, read.secret]) assert(!JSON.stringify(log).includes(hidden));
    await refused(server(), 404, 'NotFoundError', { method: 'PUT', path: `${path}/unknown`, body: {} });
  });

  it('invite: nobody gets a name that is, or looks like, what stands for another user', async () => {
    const { body: made } = await admin('POST', '/invite-link/tokens', { name: 'names', expiresAt: FAR });
    const boss = {
      username: 'boss',
      email: 'Ivan@example.com',
      name: 'Mika Moss',
      rootRole: 1,
      password: PASSWORD,
    };
    assert.equal((await admin('POST', '/user-admin', boss)).status, 201);
    const signUp = (person: object) =>
      open('POST', `/invite/${made.secret}/signup`, { password: PASSWORD, ...person });
    const alike = ['Boss', ' boss ', 'bo\u200bss', 'b\u043ess', '\uff42oss', 'b0ss', '\u202eboss'];
    for (const text of alike) {
      assert.equal((await signUp({ username: text })).status, 400, `username ${encodeURIComponent(text)}`);
      assert.equal(
        (await signUp({ username: 'someone', name: text })).status,
        400,
        `name ${encodeURIComponent(text)}`,
      );
      assert.equal((await admin('POST', '/user-admin', { username: text, rootRole: 3 })).status, 400);
    }
    const victim = 'ivan@example.com';
    for (const person of [
      { username: victim },
      { username: 'later@example.com' },
      { email: 'lvan@example.com' },
      { email: '\u0456van@example.com' },
      { username: 'mika moss' },
      { username: 'rnika-2', name: 'Mika  Mo\u0455s' },
      { username: '\u200b' },
    ]) {
      const { status, body } = await signUp(person);
      assert.equal(status, 400, JSON.stringify(person));
      assert.match(JSON.stringify(body), /another user|several scripts|no \\"@\\"|can be seen/);
    }
    assert.equal(await login(victim), 200);
    assert.equal(await login('\uff22OSS'), 200, 'in whichever form it is typed');
    const { status, body } = await signUp({ username: ' ann ', name: ' Ann  B. ' });
    assert.deepEqual([status, body.username, body.name], [201, 'ann', 'Ann B.']);
    const namesake = { username: 'mika2', name: 'Mika Moss', rootRole: 3 };
    assert.equal((await admin('POST', '/user-admin', namesake)).status, 201, 'an Admin knows who is who');
  });

  it('let pages of other sites do nothing', async () => {
    const elsewhere = { 'sec-fetch-site': 'cross-site' };
    const { body: made } = await admin('POST', '/invite-link/tokens', { name: 'x', expiresAt: FAR });
    const person = { username: 'forged', password: PASSWORD };
    assert.equal((await open('POST', `/invite/${made.secret}/signup`, person, elsewhere)).status, 403);
  });

  it('ask those to wait who guess, while good links go on', async () => {
    const { body: made } = await admin('POST', '/invite-link/tokens', { name: 'y', expiresAt: FAR });
    const statuses = new Set<number>();
    for (let i = 0; i < 130; i += 1) statuses.add((await open('GET', `/invite/guess-${i}/validate`)).status);
    assert.deepEqual([...statuses], [404, 429]);
    assert.equal((await open('GET', `/invite/${made.secret}/validate`)).status, 200);
    assert.equal(await login('nobody'), 401, 'and people sign in');
    const elsewhere = { 'sec-fetch-site': 'cross-site' };
    for (const path of ['/auth/reset/validate?token=guess', '/invite/guess/validate'])
      assert.equal((await open('GET', path, undefined, elsewhere)).status, 403, path);
  });
});
