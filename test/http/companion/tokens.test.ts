/** API tokens and personal tokens. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PERSONAL_TOKENS_PER_USER_MAX } from '../../../src/domain/people/token-commands.ts';
import '../../support/check-responses.ts';
import { addProject, addUser, invalidAt, recording, refused } from '../../support/interface.ts';
import { describeInterface, serverFor } from '../../support/server.ts';

describeInterface('API tokens', (server) => {
  const create = (body: object) => server().call('POST', '/api-tokens', { tokenName: 'test', ...body });
  const reads = async (token: string) =>
    (await server().call('GET', '/projects', undefined, { token })).status;

  it('say in their secret what they are good for', async () => {
    await addProject(server(), 'other');
    const client = { type: 'client', environment: 'development' };
    for (const [body, prefix, projects] of [
      [{ type: 'admin' }, '*:*.', ['*']],
      [{ type: 'ADMIN', environment: '*', projects: ['*'] }, '*:*.', ['*']],
      [client, '*:development.', ['*']],
      [{ ...client, type: 'Frontend', project: 'other' }, 'other:development.', ['other']],
      [{ ...client, projects: ['other', 'default', 'other'] }, '[]:development.', ['other', 'default']],
      [{ ...client, projects: ['other', '*'] }, '*:development.', ['*']],
    ] as const) {
      const { status, body: token } = await create(body);
      assert.equal(status, 201);
      assert.equal(token.secret.slice(0, -64), prefix);
      assert.match(token.secret.slice(-64), /^[0-9a-f]{64}$/);
      assert.deepEqual(token.projects, projects);
      assert.equal(token.project, projects.join(','));
      assert.equal(token.type, body.type.toLowerCase());
    }
    assert.equal(
      (await create({ tokenName: undefined, username: 'old', type: 'admin' })).body.tokenName,
      'old',
    );
  });

  it('are refused for what does not exist, or what their kind cannot be for', async () => {
    const client = { tokenName: 'x', type: 'client', environment: 'development' };
    for (const [pointer, body] of [
      ['/body/tokenName', { type: 'admin' }],
      ['/body/type', { tokenName: 'x', type: 'root' }],
      ['/body/type', { tokenName: 'x' }],
      ['/body/username', { tokenName: 'x', username: 'x', type: 'admin' }],
      ['/body/environment', { ...client, environment: 'nowhere' }],
      ['/body/environment', { ...client, environment: '*' }],
      ['/body/environment', { tokenName: 'x', type: 'admin', environment: 'development' }],
      ['/body/projects', { tokenName: 'x', type: 'admin', projects: ['default'] }],
      ['/body/projects/0', { ...client, projects: ['nowhere'] }],
      ['/body/projects', { ...client, projects: [] }],
      ['/body/expiresAt', { ...client, expiresAt: '2030-01-01' }],
      ['/body/expiresAt', { ...client, expiresAt: 1893456000000 }],
    ] as const) {
      await invalidAt(server(), pointer, { method: 'POST', path: '/api-tokens', body });
    }
  });

  it('expire when they are told to, named by secret or by digest', async () => {
    const { body } = await create({ type: 'admin', expiresAt: '2999-01-01T01:00:00+01:00' });
    assert.equal(body.expiresAt, '2999-01-01T00:00:00.000Z');
    assert.equal(await reads(body.secret), 200);
    const put = (token: string, expiresAt: string | null) =>
      server().call('PUT', `/api-tokens/${encodeURIComponent(token)}`, { expiresAt });
    const { events } = await recording(server(), () => put(body.secret, '2020-01-01T00:00:00Z'));
    assert.deepEqual(
      events.map(({ type, data, preData }) => [type, preData.expiresAt, data.expiresAt]),
      [['api-token-updated', '2999-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z']],
    );
    assert.equal(await reads(body.secret), 401);
    assert.equal((await put(body.digest, null)).status, 200);
    assert.equal(await reads(body.secret), 200);
    assert.deepEqual((await recording(server(), () => put(body.digest, null))).events, []);
    const path = `/api-tokens/${body.digest}`;
    await invalidAt(server(), '/body/expiresAt', { method: 'PUT', path, body: {} });
  });

  it('end at once when they are deleted, and are then unknown like any other', async () => {
    for (const by of ['secret', 'digest'] as const) {
      const { body } = await create({ type: 'admin' });
      const path = `/api-tokens/${encodeURIComponent(body[by])}`;
      assert.equal(await reads(body.secret), 200);
      assert.equal((await server().call('DELETE', path)).status, 200);
      assert.equal(await reads(body.secret), 401);
      const again = await recording(server(), () => server().call('DELETE', path));
      assert.deepEqual([again.response.status, again.events], [200, []], 'nothing happens to an unknown one');
      const put = await recording(server(), () => server().call('PUT', path, { expiresAt: null }));
      assert.deepEqual([put.response.status, put.events], [200, []]);
      const { body: list } = await server().call('GET', '/api-tokens');
      assert(list.tokens.every((token: { digest: string }) => token.digest !== body.digest));
    }
  });

  it('are listed with their digest in the place of the secret, as stored securely', async () => {
    const { body: made } = await create({ type: 'client', environment: 'production' });
    const { body } = await server().call('GET', '/api-tokens');
    const item = body.tokens.find((token: { digest: string }) => token.digest === made.digest);
    assert.deepEqual(item, { ...made, secret: made.digest });
    assert.equal(item.secure, true);
  });

  it('hold for clients when they are for a backend, and in the default environment when it is not named', async () => {
    const first = (await create({ type: 'backend' })).body;
    assert.deepEqual([first.type, first.environment], ['client', 'development'], 'the first in order');
    await server().call('POST', '/environments', { name: 'default', type: 'production' });
    assert.equal((await create({ type: 'frontend' })).body.environment, 'default');
    assert.equal((await create({ type: 'admin' })).body.environment, '*');
  });

  it('follow their projects: one for a single project ends with it, others lose it', async () => {
    await addProject(server(), 'short-lived');
    const client = { type: 'client', environment: 'production' };
    const { body: single } = await create({ ...client, project: 'short-lived' });
    const { body: shared } = await create({ ...client, projects: ['short-lived', 'default'] });
    await server().call('DELETE', '/projects/short-lived');
    const { body } = await server().call('GET', '/api-tokens');
    const projectsOf = (digest: string) =>
      body.tokens.find((token: { digest: string }) => token.digest === digest)?.projects;
    assert.deepEqual([projectsOf(single.digest), projectsOf(shared.digest)], [undefined, ['default']]);
  });

  it('of the longest names still are tokens', async () => {
    const name = 'x'.repeat(100);
    await addProject(server(), name);
    await server().call('POST', '/environments', { name, type: 'test' });
    const { body } = await create({ type: 'client', environment: name, project: name });
    assert.equal(await reads(body.secret), 403, 'known, and not for this interface');
  });
});

describeInterface('API tokens of a project', (server) => {
  const path = '/projects/default/api-tokens';

  it('are made, listed and deleted by its Owner, for it alone, and are never admin tokens', async () => {
    const owner = await addUser(server(), 3);
    await server().call('POST', `/projects/default/users/${owner.id}/roles/4`);
    const call = (method: string, at: string, body?: unknown) =>
      server().call(method, at, body, { token: owner.token });
    const body = { tokenName: 'of-project', type: 'backend', environment: 'development' };
    const created = await call('POST', path, body);
    assert.deepEqual([created.status, created.body.projects], [201, ['default']]);
    assert.match(created.body.secret, /^default:development\./);
    const listed = async () =>
      (await call('GET', path)).body.tokens.map((token: { tokenName: string }) => token.tokenName);
    assert((await listed()).includes('of-project'));
    for (const [fields, pointer] of [
      [{ type: 'admin' }, '/body/type'],
      [{ projects: ['*'] }, '/body/projects'],
      [{ project: 'another' }, '/body/project'],
    ] as const) {
      const refusal = await call('POST', path, { ...body, ...fields });
      assert.deepEqual([refusal.status, refusal.body.details[0].path], [400, pointer]);
    }
    await server().call('POST', '/projects', { id: 'token-b', name: 'B' });
    const both = { ...body, tokenName: 'of-both', projects: ['default', 'token-b'] };
    const { digest } = (await server().call('POST', '/api-tokens', both)).body;
    assert.equal((await call('DELETE', `${path}/${digest}`)).status, 409);
    const elsewhere = { ...body, tokenName: 'of-b', projects: ['token-b'] };
    const other = (await server().call('POST', '/api-tokens', elsewhere)).body.digest;
    for (const absent of [other, 'unknown']) {
      const toAbsent = { method: 'DELETE', path: `${path}/${absent}` };
      await refused(server(), 404, 'NotFoundError', toAbsent);
    }
    const { tokens } = (await server().call('GET', '/projects/token-b/api-tokens')).body;
    assert.equal(tokens.length, 2);
    assert.equal((await call('DELETE', `${path}/${created.body.secret}`)).status, 200);
    assert.deepEqual(await listed(), ['of-both']);
  });
});

describeInterface('the last token with the rights of an Admin', (server) => {
  it('is neither deleted nor made to expire before somebody can make another one', async () => {
    const { body: list } = await server().call('GET', '/api-tokens');
    const admins = list.tokens.filter((token: { type: string }) => token.type === 'admin');
    const { body: other } = await server().call('POST', '/api-tokens', { tokenName: 'other', type: 'admin' });
    const gone = (token: { digest: string }) => ({
      method: 'DELETE',
      path: `/api-tokens/${token.digest}`,
      token: other.secret,
    });
    for (const token of admins) {
      const { method, path, ...options } = gone(token);
      assert.equal((await server().call(method, path, undefined, options)).status, 200);
    }
    const { body } = await refused(server(), 409, 'InvalidOperationError', gone(other));
    assert.match(body.message, /last token with the rights of an Admin/);
    await refused(server(), 409, 'InvalidOperationError', {
      ...gone(other),
      method: 'PUT',
      body: { expiresAt: '2020-01-01T00:00:00Z' },
    });
    const soon = { expiresAt: new Date(Date.now() + 2_000).toISOString() };
    const expiring = (token: { digest: string }) => ({ ...gone(token), method: 'PUT', body: soon });
    await refused(server(), 409, 'InvalidOperationError', expiring(other));
    const made = { tokenName: 'brief', type: 'admin', ...soon };
    await server().call('POST', '/api-tokens', made, { token: other.secret });
    for (const request of [gone(other), expiring(other)]) {
      await refused(server(), 409, 'InvalidOperationError', request);
    }
    const admin = await addUser(server(), 1);
    const { method, path, ...options } = gone(other);
    assert.equal((await server().call(method, path, undefined, options)).status, 200, 'an Admin has one');
    const mine = await server().call('GET', '/user/tokens', undefined, { token: admin.token });
    await refused(server(), 409, 'InvalidOperationError', {
      method: 'DELETE',
      path: `/user/tokens/${mine.body.pats[0].id}`,
      token: admin.token,
    });
  });
});

describeInterface('personal tokens', (server) => {
  const EXPIRY = '2999-01-01T00:00:00.000Z';
  const mine = (token: string, method: string, path = '', body?: object) =>
    server().call(method, `/user/tokens${path}`, body, { token });

  it('are created, used, listed without their secret and deleted by their user', async () => {
    const user = await addUser(server(), 3);
    const made = await recording(server(), () =>
      mine(user.token, 'POST', '', { description: 'laptop', expiresAt: EXPIRY }),
    );
    const { secret, ...token } = made.response.body;
    assert.equal(made.response.status, 201);
    assert.match(secret, /^user:[0-9a-f]{64}$/);
    const { seenAt: _, ...data } = token;
    assert.deepEqual(
      made.events.map((event) => [event.type, event.data, event.createdByUserId]),
      [['pat-created', data, user.id]],
    );
    assert.equal((await mine(secret, 'GET')).body.pats.length, 2);
    const { seenAt: _seenAt, ...shown } = (await mine(secret, 'GET')).body.pats.at(-1);
    assert.deepEqual(shown, data);
    assert.equal((await mine(secret, 'DELETE', `/${token.id}`)).status, 200);
    assert.equal((await mine(secret, 'GET')).status, 401);
  });

  it('are managed for any user by an Admin, and found only under their own user', async () => {
    const [one, other] = [await addUser(server(), 3), await addUser(server(), 3)];
    const tokens = `/user-admin/${one.id}/tokens`;
    const { body } = await server().call('POST', tokens, { description: 'made for', expiresAt: EXPIRY });
    assert.equal((await mine(body.secret, 'GET')).status, 200);
    const path = `/user-admin/${other.id}/tokens/${body.id}`;
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path });
    await refused(server(), 404, 'NotFoundError', {
      method: 'DELETE',
      path: `/user/tokens/${body.id}`,
      token: other.token,
    });
    assert.equal((await server().call('DELETE', `${tokens}/${body.id}`)).status, 200);
    assert.equal((await mine(body.secret, 'GET')).status, 401);
  });

  it('expire in the future, are told apart by their description, and are limited in number', async () => {
    const user = await addUser(server(), 3);
    const path = `/user-admin/${user.id}/tokens`;
    const body = (description: string, expiresAt: unknown = EXPIRY) => ({ description, expiresAt });
    await invalidAt(server(), '/body/expiresAt', { method: 'POST', path, body: { description: 'x' } });
    await invalidAt(server(), '/body/expiresAt', { method: 'POST', path, body: body('x', null) });
    const past = body('x', '2020-01-01T00:00:00Z');
    await invalidAt(server(), '/body/expiresAt', { method: 'POST', path, body: past });
    await invalidAt(server(), '/body/description', { method: 'POST', path, body: body('') });
    for (let count = 1; count < PERSONAL_TOKENS_PER_USER_MAX; count += 1) {
      assert.equal((await server().call('POST', path, body(`token ${count}`))).status, 201);
    }
    await refused(server(), 409, 'NameExistsError', { method: 'POST', path, body: body('token 1') });
    await refused(server(), 409, 'InvalidOperationError', { method: 'POST', path, body: body('one more') });
  });

  it('that have expired are no credentials', async () => {
    const user = await addUser(server(), 1, { expiresAt: '2024-01-02T00:00:00.000Z' });
    assert.equal((await mine(user.token, 'GET')).status, 401);
  });
});

it('tokens expire by the clock of the machine, though events never go back in time', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, defer: setImmediate, monotonic: () => performance.now() };
  const server = await serverFor(t, { store: { clock } });
  const user = await addUser(server, 3);
  const [today, years] = [now, 3_000 * 365.25 * 86_400_000];
  now += years;
  assert.equal((await server.call('POST', '/projects', { id: 'later', name: 'Later' })).status, 201);
  now = today;
  const expiresAt = new Date(today + 86_400_000).toISOString();
  const path = `/user-admin/${user.id}/tokens`;
  const { status, body } = await server.call('POST', path, { description: 'for a day', expiresAt });
  assert.equal(status, 201);
  assert(Date.parse(body.createdAt) > today + years / 2, 'the clock of the events stays ahead');
  const reading = await server.call('GET', '/user', undefined, { token: body.secret });
  assert.equal(reading.status, 200);
});
