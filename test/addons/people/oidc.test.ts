/** Signing in with OpenID Connect, at a real provider: who comes back as which user, with which rights, and what goes wrong. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Seal } from '../../../src/addons/people/oidc-surface.ts';
import { REPLY_BYTES_MAX } from '../../../src/addons/people/provider.ts';
import { ADMIN_ROLE_ID } from '../../../src/domain/access/roles.ts';
import { freePort } from '../../support/free-port.ts';
import { closedAfter, startTestServer, type TestServer } from '../../support/server.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type Person,
  startProvider,
  type TestProvider,
  Traveller,
} from './oidc-provider.ts';

const EDITOR_ROLE_ID = 2;
const VIEWER_ROLE_ID = 3;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

const ADA: Person = {
  ...{ sub: 'ada-1', email: 'ada@flags.example', email_verified: true, name: 'Ada' },
  ...{ preferred_username: 'ada', groups: ['flag-editors'] },
};

interface Site {
  readonly server: TestServer;
  readonly provider: TestProvider;
  close(): Promise<void>;
}

async function startSite(env: Readonly<Record<string, string>> = {}): Promise<Site> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const provider = await startProvider([origin]);
  const server = await startTestServer({
    env: {
      ...{ PORT: String(port), OIDC_ISSUER: provider.issuer, OIDC_BASE_URL: origin },
      ...{ OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET },
      ...env,
    },
  });
  return {
    ...{ server, provider },
    close: async () => {
      await server.stop();
      await provider.close();
    },
  };
}

describe('people who sign in with OpenID Connect', () => {
  let site: Site;
  before(async () => {
    site = await startSite({
      OIDC_ROLES: '{"flag-admins":"Admin","flag-editors":"Editor"}',
      OIDC_ADMINS: 'boss@flags.example',
    });
  });
  beforeEach(() => {
    site.provider.person = ADA;
  });
  after(() => site.close());

  const at = (path: string) => site.server.origin + path;
  const users = () => [...site.server.server.store.engine.world.directory.users.values()];

  /** Ends on the page that it was sent to. */
  async function signIn(person: Person | null, place = ''): Promise<Traveller> {
    site.provider.person = person;
    const traveller = new Traveller();
    const query = place === '' ? '' : `?place=${encodeURIComponent(place)}`;
    await traveller.go(at(`/auth/oidc/login${query}`));
    return traveller;
  }
  async function userOf(traveller: Traveller) {
    const headers = { cookie: traveller.cookiesFor(site.server.origin) };
    const { body } = await site.server.call('GET', '/user', undefined, { token: null, headers });
    return users().find(({ id }) => id === body.user?.id);
  }
  const endOf = (traveller: Traveller) => traveller.visited.at(-1)!.slice(site.server.origin.length);

  it('become users at their first sign-in, are known at the next, and have the role of their groups of that day', async () => {
    const first = await signIn(ADA);
    assert.equal(endOf(first), '/');
    const { id, rootRole, email, name } = (await userOf(first))!;
    assert.deepEqual([email, name, rootRole], ['ada@flags.example', 'Ada', EDITOR_ROLE_ID]);
    await site.server.restart();
    const again = await signIn({ ...ADA, name: 'Ada L.', groups: ['other', 'flag-admins'] });
    const promoted = (await userOf(again))!;
    assert.deepEqual([promoted.id, promoted.name, promoted.rootRole], [id, 'Ada L.', ADMIN_ROLE_ID]);
    assert.equal((await userOf(first))?.rootRole, ADMIN_ROLE_ID, 'also in the session from before');
    const { groups: _, ...withoutGroups } = ADA;
    assert.equal((await userOf(await signIn(withoutGroups)))?.rootRole, VIEWER_ROLE_ID);
    const { body } = await site.server.call('GET', '/events?limit=3');
    assert.deepEqual(
      body.events.map(({ type }: { type: string }) => type),
      ['pat-created', 'user-updated', 'pat-created'],
    );
    assert.equal(JSON.stringify(body).includes(ADA.sub), false, 'no reader sees by what somebody is known');
    assert.equal(body.events[0].createdByUserId, id);
  });

  it('join and leave the groups that stand for theirs, and no others', async () => {
    const create = (name: string, mappingsSSO: readonly string[]) =>
      site.server.call('POST', '/groups', { name, mappingsSSO, users: [] });
    const [mapped, other] = [
      (await create('Payments', ['pay-1', 'pay-2'])).body,
      (await create('Own', [])).body,
    ];
    const membersOf = ({ id }: { id: number }) =>
      site.server.server.store.engine.world.directory.groups.get(id)?.users;
    const id = (await userOf(await signIn({ ...ADA, groups: ['pay-2'] })))?.id;
    assert.deepEqual([membersOf(mapped), membersOf(other)], [[id], []]);
    await signIn({ ...ADA, groups: [] });
    assert.deepEqual(membersOf(mapped), []);
  });

  it('take over a user by a verified email alone, and never one whom the provider knows already', async () => {
    const created = async (email: string) =>
      (await site.server.call('POST', '/user-admin', { email, rootRole: VIEWER_ROLE_ID })).body.id;
    const bob = await created('bob@flags.example');
    const eve = { sub: 'eve', email: 'bob@flags.example', preferred_username: 'bob' };
    const impostor = await userOf(await signIn(eve));
    assert.notEqual(impostor?.id, bob);
    assert.deepEqual([impostor?.username, impostor?.email], ['bob', null]);
    const unsaid = await signIn({ sub: 'mallory', email: 'bob@flags.example', email_verified: false });
    assert.deepEqual((await userOf(unsaid))?.username, 'mallory', 'an email of somebody else is no name');
    const real = { sub: 'bob-1', email: 'Bob@flags.example', email_verified: true };
    assert.equal((await userOf(await signIn(real)))?.id, bob);
    const heir = await signIn({ ...real, sub: 'bob-2' });
    assert.equal(endOf(heir), '/?problem=taken');
    assert.equal((await userOf(await signIn(real)))?.id, bob);
  });

  it('get no account whose email nobody vouches for, and are alone in the one that they get', async () => {
    const { call, callBelow } = site.server;
    const email = 'carol@flags.example';
    const password = 'Correct-horse-7';
    const expiresAt = '2999-01-01T00:00:00.000Z';
    const { body: invitation } = await call('POST', '/invite-link/tokens', { name: 'all', expiresAt });
    const signUp = { email, password, name: 'Carol' };
    const nobody = { token: null };
    const { body: squatter } = await callBelow('')(
      'POST',
      `/invite/${invitation.secret}/signup`,
      signUp,
      nobody,
    );
    const login = () =>
      fetch(at('/auth/simple/login'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: email, password }),
      });
    const cookie = (await login()).headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const headers = { cookie, ...OWN_PAGE };
    const made = { description: 'kept', expiresAt };
    const token = (await call('POST', '/user/tokens', made, { ...nobody, headers })).body.secret;
    const link = await call('POST', '/user-admin/reset-password', { id: email });
    const statuses = async () => [
      (await login()).status,
      (await call('GET', '/user', undefined, { ...nobody, headers })).status,
      (await call('GET', '/user', undefined, { token })).status,
      (await fetch(at(`/auth/reset/validate?token=${link.body.resetPasswordUrl.split('=')[1]}`))).status,
    ];
    const carol = { sub: 'carol-1', email, email_verified: true, preferred_username: 'carol' };
    assert.equal(endOf(await signIn(carol)), '/?problem=taken');
    assert.deepEqual(await statuses(), [200, 200, 200, 200]);
    await call('PUT', `/user-admin/${squatter.id}`, { name: 'Carol C.' });
    assert.equal(endOf(await signIn(carol)), '/?problem=taken', 'a name vouches for nothing');
    await call('PUT', `/user-admin/${squatter.id}`, { email });

    const linked = await userOf(await signIn(carol));
    assert.deepEqual([linked?.id, linked?.emailVouchedBy], [squatter.id, 'provider']);
    assert.deepEqual(await statuses(), [401, 401, 401, 404]);
    const { body: log } = await call('GET', '/events?limit=5');
    assert.deepEqual(
      log.events.map(({ type }: { type: string }) => type),
      ['pat-created', 'user-updated', 'pat-deleted', 'pat-deleted', 'pat-deleted'],
    );
    await site.server.restart();
    assert.deepEqual(await statuses(), [401, 401, 401, 404]);
    assert.equal((await userOf(await signIn(carol)))?.id, squatter.id);
  });

  it('are Admins where the settings name their verified email, and the last Admin stays one', async () => {
    const boss = { sub: 'boss', email: 'boss@flags.example' };
    assert.equal((await userOf(await signIn({ ...boss, email_verified: true })))?.rootRole, ADMIN_ROLE_ID);
    const liar = await signIn({ ...boss, sub: 'boss@flags.example', preferred_username: 'liar' });
    assert.equal((await userOf(liar))?.rootRole, VIEWER_ROLE_ID);
    assert.equal(users().filter(({ rootRole }) => rootRole === ADMIN_ROLE_ID).length, 2);
  });

  it('come back to the place that they left, on this server', async () => {
    assert.equal(endOf(await signIn(ADA, '/projects/default/flags?q=a')), '/#/projects/default/flags?q=a');
    for (const place of ['//evil.example', 'https://evil.example', '/ü', '/a b']) {
      const end = (await signIn(ADA, place)).visited.at(-1)!;
      assert.equal(new URL(end).origin, site.server.origin, place);
    }
  });

  it('are signed out at the provider too', async () => {
    const traveller = await signIn(ADA);
    const response = await fetch(at('/auth/session'), {
      method: 'DELETE',
      headers: { cookie: traveller.cookiesFor(site.server.origin), ...OWN_PAGE },
    });
    const address = new URL(response.headers.get('flagstaff-sign-out-at')!);
    assert.equal(address.origin, site.provider.issuer);
    assert.deepEqual(Object.fromEntries(address.searchParams), {
      client_id: CLIENT_ID,
      post_logout_redirect_uri: at('/'),
    });
    assert.equal((await traveller.go(address.href)).status, 200, 'the provider asks whether to sign out');
    assert.equal(await userOf(traveller), undefined);
  });

  it('are turned away where the provider refuses, and where the sign-in was begun elsewhere, changed or used', async () => {
    assert.equal(endOf(await signIn(null)), '/?problem=denied');
    assert.equal(endOf(await signIn(null, '/events')), '/?problem=denied#/events', 'to try it again');
    site.provider.person = ADA;
    const traveller = new Traveller();
    const next = (await traveller.go(at('/auth/oidc/login'), 4)).headers.get('location')!;
    assert.match(next, /\/auth\/oidc\/callback\?code=/);
    const tried = async (address: string, by = traveller) => {
      const response = await fetch(address, {
        redirect: 'manual',
        headers: { cookie: by.cookiesFor(site.server.origin) },
      });
      return response.headers.get('location')!.slice(site.server.origin.length);
    };
    const before = users().length;
    assert.equal(await tried(next, new Traveller()), '/?problem=expired', 'in another browser');
    assert.equal(await tried(next.replace(/state=[^&]+/, 'state=other')), '/?problem=failed');
    assert.equal(await tried(next.replace(/code=[^&]+/, 'code=other')), '/?problem=failed');
    assert.equal(await tried(next), '/');
    assert.equal(await tried(next), '/?problem=failed', 'a second time');
    assert.equal(users().length, before);
  });

  it('go to the provider with PKCE, state and nonce, and keep the rest where no script reads it', async () => {
    const response = await fetch(at('/auth/oidc/login'), { redirect: 'manual' });
    const { searchParams } = new URL(response.headers.get('location')!);
    assert.deepEqual(
      [...searchParams.keys()].sort(),
      'client_id code_challenge code_challenge_method nonce redirect_uri response_type scope state'.split(
        ' ',
      ),
    );
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    const cookie = response.headers.get('set-cookie')!;
    assert.match(cookie, /^flagstaff_sign_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    assert.equal(cookie.includes(searchParams.get('state')!), false);
  });

  it('are told of by the sign-in page, and use the other ways to sign in beside it', async () => {
    const offered = await (await fetch(at('/auth/sign-ins'))).json();
    const button = 'Sign in with OpenID Connect';
    assert.deepEqual(offered, {
      ...{ token: true, password: false },
      provider: { button, path: 'auth/oidc/login' },
    });
  });
});

describe('OpenID Connect', () => {
  it('turns those away whom no group gives a role, where the settings say so', async (t) => {
    const site = closedAfter(
      t,
      await startSite({ OIDC_ROLES: '{"flag-editors":"Editor"}', OIDC_DEFAULT_ROLE: 'none' }),
    );
    for (const [groups, end] of [
      [['others'], '/?problem=refused'],
      [['flag-editors'], '/'],
    ] as const) {
      site.provider.person = { ...ADA, groups };
      const traveller = new Traveller();
      await traveller.go(`${site.server.origin}/auth/oidc/login`);
      assert.equal(traveller.visited.at(-1), site.server.origin + end);
    }
  });

  it('says that the provider cannot be reached, while everything else goes on, and works when it can', async (t) => {
    const port = await freePort();
    const site = closedAfter(t, await startSite({ OIDC_ISSUER: `http://127.0.0.1:${port}` }));
    const { origin } = site.server;
    const login = async () => {
      const response = await fetch(`${origin}/auth/oidc/login`, { redirect: 'manual' });
      return response.headers.get('location')!;
    };
    assert.equal(await login(), `${origin}/?problem=unreachable`);
    assert.equal((await site.server.call('GET', '/projects')).status, 200);
    const late = closedAfter(t, await startProvider([origin], port));
    const deadline = Date.now() + 15_000;
    let to = '';
    while (!to.startsWith(late.issuer) && Date.now() < deadline) {
      to = await login();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.ok(to.startsWith(`${late.issuer}/auth?`), to);
  });

  it('takes no reply that is too long', async (t) => {
    let sent = 0;
    const server = createServer((_, response) => {
      const piece = 'x'.repeat(64 * 1024);
      const more = (): void => {
        while (response.writable && sent < 100 * REPLY_BYTES_MAX) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
      };
      response.on('error', () => undefined);
      more();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const site = closedAfter(t, await startSite({ OIDC_ISSUER: issuer }));
    const response = await fetch(`${site.server.origin}/auth/oidc/login`, { redirect: 'manual' });
    assert.match(response.headers.get('location')!, /problem=unreachable$/);
    assert.ok(sent < 20 * REPLY_BYTES_MAX, `${sent} bytes`);
    await site.close();
    server.closeAllConnections();
    server.close();
  });
});

it('what a browser keeps sealed is opened by the same secret, unchanged and in time', () => {
  const seal = new Seal('secret');
  const sealed = seal.seal({ a: 1 }, 100);
  assert.deepEqual(seal.open(sealed, 99), { a: 1 });
  assert.equal(seal.open(sealed, 100), null);
  assert.equal(new Seal('other').open(sealed, 0), null);
  for (const broken of ['', 'x', sealed.slice(1), `${sealed.slice(0, -2)}AA`, 'A'.repeat(200)])
    assert.equal(seal.open(broken, 0), null);
});
