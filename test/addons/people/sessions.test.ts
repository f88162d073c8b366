/** Sessions as the server keeps them: how long they last, what ends them, and how many there may be. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { beginSession } from '../../../src/addons/people/session-commands.ts';
import {
  makingRoom,
  SESSIONS_MAX,
  SESSIONS_PER_CALLER_MAX,
  type Session,
} from '../../../src/domain/access/sessions.ts';
import { ownCommand } from '../../../src/domain/decide/decide.ts';
import { Authenticator, digestOf } from '../../../src/http/serving/access.ts';
import { addUser, FEATURES } from '../../support/interface.ts';
import { ADMIN_TOKEN, describeInterface, serverFor } from '../../support/server.ts';
import { TestWorld } from '../../support/test-world.ts';

const EDITOR_ROLE_ID = 2;
const VIEWER_ROLE_ID = 3;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

describeInterface('sessions of a server', (server) => {
  const auth = (method: string, path: string, headers: Record<string, string>) =>
    fetch(`${server().origin}/auth${path}`, { method, headers });
  const statusFor = async (cookie: string) =>
    (await server().call('GET', '/user', undefined, { token: null, headers: { cookie } })).status;
  const sessionsOf = async (cookie: string) =>
    ((await (await auth('GET', '/sessions', { cookie })).json()) as { sessions: Record<string, unknown>[] })
      .sessions;

  async function signIn(token: string): Promise<string> {
    const response = await auth('POST', '/session', { authorization: token });
    assert.equal(response.status, 204);
    return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  }

  it('survive a restart', async () => {
    const { token } = await addUser(server(), EDITOR_ROLE_ID);
    const [ofUser, ofToken] = [await signIn(token), await signIn(ADMIN_TOKEN)];
    await server().restart();
    assert.deepEqual([await statusFor(ofUser), await statusFor(ofToken)], [200, 200]);
    assert.equal((await sessionsOf(ofUser)).length, 1);
  });

  it('end at sign-out for whoever has the cookie, with the streams that are open under them', async () => {
    const [kept, left] = [await signIn(ADMIN_TOKEN), await signIn(ADMIN_TOKEN)];
    const open = (cookie: string) =>
      fetch(`${server().origin}/api/admin/event-stream`, { headers: { cookie } });
    const [staying, ending] = [await open(kept), await open(left)];
    const lastWords = (async () => {
      for await (const _ of ending.body!);
    })();
    assert.equal((await auth('DELETE', '/session', { cookie: left, ...OWN_PAGE })).status, 204);
    assert.deepEqual([await statusFor(left), await statusFor(kept)], [401, 200]);
    await lastWords;
    assert.equal((await open(left)).status, 401);
    await staying.body?.cancel();
    await server().restart();
    assert.equal(await statusFor(left), 401, 'also after a restart');
  });

  it('are not ended by a page of another site', async () => {
    const cookie = await signIn(ADMIN_TOKEN);
    for (const path of ['/session', '/sessions']) {
      const forged = await auth('DELETE', path, { cookie, 'sec-fetch-site': 'same-site' });
      assert.equal(forged.status, 403, path);
    }
    assert.equal(await statusFor(cookie), 200);
  });

  it('end with their token and with their user, and have the rights that these have now', async () => {
    const { token, id } = await addUser(server(), EDITOR_ROLE_ID);
    const created = await server().call('POST', '/user/tokens', PAT, { token });
    const [first, second] = [await signIn(token), await signIn(created.body.secret)];
    const create = (name: string) =>
      server().call('POST', FEATURES, { name }, { token: null, headers: { cookie: first, ...OWN_PAGE } });
    assert.equal((await create('by-an-editor')).status, 201);
    await server().call('PUT', `/user-admin/${id}`, { rootRole: VIEWER_ROLE_ID });
    assert.equal((await create('by-a-viewer')).status, 403);

    await server().call('DELETE', `/user/tokens/${created.body.id}`, undefined, { token });
    assert.deepEqual([await statusFor(first), await statusFor(second)], [200, 401]);
    await server().call('DELETE', `/user-admin/${id}`);
    assert.equal(await statusFor(first), 401);
    assert.equal(
      [...server().server.store.engine.world.directory.sessions.values()].some(({ userId }) => userId === id),
      false,
    );
  });

  it("are listed for their user, who ends one or all of them, and nobody else's", async () => {
    const { token } = await addUser(server(), VIEWER_ROLE_ID);
    const other = await signIn(ADMIN_TOKEN);
    const [here, there] = [await signIn(token), await signIn(token)];
    const listed = await sessionsOf(here);
    assert.deepEqual(
      listed.map(({ begunWith, isCurrent }) => [begunWith, isCurrent]),
      [
        ['token', true],
        ['token', false],
      ],
    );
    assert.deepEqual(Object.keys(listed[0]!).sort(), [
      'begunWith',
      'createdAt',
      'expiresAt',
      'id',
      'isCurrent',
      'seenAt',
    ]);
    const headers = { cookie: here, ...OWN_PAGE };
    const [{ id } = {}] = await sessionsOf(other);
    assert.equal((await auth('DELETE', `/sessions/${id}`, headers)).status, 404);
    assert.equal((await auth('DELETE', `/sessions/${listed[1]!['id']}`, headers)).status, 204);
    assert.deepEqual([await statusFor(here), await statusFor(there)], [200, 401]);
    assert.equal((await auth('DELETE', '/sessions', headers)).status, 204);
    assert.deepEqual([await statusFor(here), await statusFor(other)], [401, 200]);
  });

  it('of one who signs in a thousand times push out that one’s own only', async () => {
    const { token } = await addUser(server(), VIEWER_ROLE_ID);
    const other = await signIn(ADMIN_TOKEN);
    const first = await signIn(token);
    let last = '';
    for (let round = 0; round < 1_000 / 20; round += 1) {
      [last = ''] = await Promise.all(Array.from({ length: 20 }, () => signIn(token)));
    }
    assert.deepEqual(
      [await statusFor(first), await statusFor(last), await statusFor(other)],
      [401, 200, 200],
    );
    assert.equal((await sessionsOf(last)).length, SESSIONS_PER_CALLER_MAX);
  });

  it('are in no ETag, no file and no event with anything that opens one', async () => {
    const before = await server().call('GET', '/environments');
    const cookie = await signIn(ADMIN_TOKEN);
    const tag = before.headers.get('etag');
    assert.equal((await server().call('GET', '/environments')).headers.get('etag'), tag);
    const { body } = await server().call('POST', '/events/search', { type: 'pat-created', limit: 1 });
    const [{ data, createdByUserId }] = body.events;
    assert.deepEqual(
      [data.session, data.userId, data.description, createdByUserId],
      ['token', -42, 'Session of a browser, begun with a token', -42],
    );
    const secret = cookie.split('-').slice(1).join('-');
    assert.equal(secret.length, 43);
    assert.equal(JSON.stringify(body).includes(digestOf(secret)), false);
    await server().restart();
    assert.deepEqual(
      filesIn(server().folder).filter((file) => readFileSync(file).includes(secret)),
      [],
    );
  });

  it('begin and end in maintenance, when nobody changes a password, makes a link or signs up', async () => {
    const password = 'Correct-horse-7';
    const [user, guest] = [await addUser(server(), VIEWER_ROLE_ID), await addUser(server(), VIEWER_ROLE_ID)];
    const invitation = { name: 'guests', expiresAt: '2999-01-01T00:00:00Z' };
    const { secret } = (await server().call('POST', '/invite-link/tokens', invitation)).body;
    const reset = await server().call('POST', '/user-admin/reset-password', { id: `user-${guest.id}` });
    const token = reset.body.resetPasswordUrl.split('=')[1];
    await server().call('POST', '/maintenance', { enabled: true });
    const cookie = await signIn(ADMIN_TOKEN);
    const changes = [
      ['/api/admin', `/user-admin/${user.id}/change-password`, { password }],
      ['/api/admin', '/user-admin/reset-password', { id: `user-${user.id}` }],
      ['/api/admin', '/invite-link/tokens', invitation],
      ['/auth/reset', '/password', { token, password }],
      ['/invite', `/${secret}/signup`, { username: 'new', password }],
    ] as const;
    for (const [prefix, path, body] of changes)
      assert.equal((await server().callBelow(prefix)('POST', path, body)).status, 503, path);
    assert.equal((await auth('DELETE', '/session', { cookie, ...OWN_PAGE })).status, 204);
    assert.equal(await statusFor(cookie), 401);
    await server().call('POST', '/maintenance', { enabled: false });
  });

  it('of two users share no response that is kept for retries', async () => {
    const users = [await addUser(server(), EDITOR_ROLE_ID), await addUser(server(), EDITOR_ROLE_ID)];
    const names = await Promise.all(
      users.map(async ({ token, id }) => {
        const headers = { cookie: await signIn(token), 'idempotency-key': 'the-same', ...OWN_PAGE };
        const name = `by-user-${id}`;
        return (await server().call('POST', FEATURES, { name }, { token: null, headers })).body.name;
      }),
    );
    assert.deepEqual(
      names,
      users.map(({ id }) => `by-user-${id}`),
    );
  });
});

const PAT = { description: 'laptop', expiresAt: '2099-01-01T00:00:00.000Z' };

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

it('a server that is reached by HTTPS alone takes no cookie that another host could have planted', async (t) => {
  const server = await serverFor(t, { env: { SECURE_COOKIES: 'on', BASE_URI_PATH: '/flags' } });
  const at = `${server.origin}/flags`;
  const begun = await fetch(`${at}/auth/session`, {
    method: 'POST',
    headers: { authorization: ADMIN_TOKEN },
  });
  const cookie = begun.headers.get('set-cookie') ?? '';
  assert.match(
    cookie,
    /^__Host-flagstaff_session\.flags=\d+-[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  const [pair = ''] = cookie.split(';');
  const read = (sent: string) => fetch(`${at}/api/admin/user`, { headers: { cookie: sent } });
  assert.equal((await read(pair)).status, 200);
  assert.equal((await read(pair.replace('__Host-flagstaff_session.flags', 'flagstaff_session'))).status, 401);
});

it('a session ends a while after its last use, and at its end however much it is used', () => {
  const hourMs = 3_600_000;
  const test = new TestWorld();
  test.given({ type: 'create-user', fields: { username: 'ada', rootRole: VIEWER_ROLE_ID } });
  const userId = [...test.world.directory.users.keys()].at(-1)!;
  const digest = digestOf('a-secret');
  const sent = { digest, userId, tokenDigest: null, begunWith: 'password', lifetimeMs: 10 * hourMs } as const;
  test.given(ownCommand({ sent, decide: beginSession }));
  const begunAt = Date.parse(test.world.directory.sessions.get(digest)!.createdAt);
  const uses = new Map<string, number>();
  let now = begunAt;
  const isGood = (hours: number, authenticator = opened()) => {
    now = begunAt + hours * hourMs;
    return authenticator.authenticateSession('a-secret') !== null;
  };
  const opened = () =>
    new Authenticator({
      state: test,
      open: false,
      now: () => now,
      onUse: (used) => uses.set(used, now),
      usedAt: (used) => uses.get(used) ?? null,
      sessionIdleMs: 3 * hourMs,
    });
  const same = opened();
  assert.deepEqual([isGood(2, same), isGood(4.9, same), isGood(7, same)], [true, true, true]);
  assert.equal(isGood(9.9), true, 'another start knows of the uses before');
  assert.equal(isGood(10), false, 'it has expired');
  uses.clear();
  assert.equal(isGood(3.1), false, 'it was not used');
});

describe('room for a session', () => {
  const session = (id: number, userId: number | null, fields: Partial<Session> = {}): Session => ({
    ...{ id, userId, digest: `d${id}`, tokenDigest: userId === null ? 't' : null, begunWith: 'token' },
    ...{ createdAt: '2030-01-01T00:00:00.000Z', expiresAt: '2031-01-01T00:00:00.000Z' },
    ...fields,
  });
  const idsMakingRoom = (sessions: readonly Session[], added: Session) =>
    makingRoom(sessions, added).map(({ id }) => id);

  it('is made by what has expired, then by the oldest of the same caller', () => {
    const expired = session(1, 7, { expiresAt: '2030-01-01T00:00:00.000Z' });
    const others = Array.from({ length: SESSIONS_PER_CALLER_MAX }, (_, index) => session(index + 100, 8));
    const own = Array.from({ length: SESSIONS_PER_CALLER_MAX }, (_, index) => session(index + 200, null));
    const sessions = [expired, ...others, ...own];
    assert.deepEqual(idsMakingRoom(sessions, session(900, 9)), [1]);
    assert.deepEqual(idsMakingRoom(sessions, session(900, 8)), [1, 100]);
    assert.deepEqual(idsMakingRoom(sessions, session(900, null)), [1, 200]);
    assert.deepEqual(idsMakingRoom(sessions, session(900, null, { tokenDigest: 'other' })), [1]);
  });

  it('is made by the oldest of all where there are too many', () => {
    const sessions = Array.from({ length: SESSIONS_MAX }, (_, index) => session(index, index));
    assert.deepEqual(idsMakingRoom(sessions, session(SESSIONS_MAX, SESSIONS_MAX)), [0]);
    assert.deepEqual(idsMakingRoom(sessions.slice(1), session(SESSIONS_MAX, SESSIONS_MAX)), []);
  });
});
