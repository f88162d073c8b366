/**
 * Somebody who tries tokens learns nothing from the response: unknown, cut short, expired, revoked and mistyped ones are all
 * refused by the same words, and by the same lookup of a digest, which no part of a secret comes near.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../support/check-responses.ts';
import { NO_UWS } from '../support/installed-engines.ts';
import { addUser } from '../support/interface.ts';
import { ADMIN_TOKEN, describeInterface, type ReceivedResponse, type TestServer } from '../support/server.ts';
import { ADMIN_ROUTES } from '../support/surfaces.ts';

describeInterface('guessed tokens', (server) => {
  it('get the same response on every route, whatever is wrong with them', async (t) => {
    const tokens = await badTokens(server());
    // After a write without a length that it can see, uWebSockets.js closes, whatever the token was: by method.
    const seen = new Map<string, Set<string>>();
    for (const route of ADMIN_ROUTES) {
      const shapes = seen.get(route.method) ?? new Set();
      seen.set(route.method, shapes);
      const path = route.path.replaceAll(/:[A-Za-z]+/g, '1');
      for (const [kind, token] of Object.entries(tokens)) {
        const response = await server().call(route.method, path, undefined, { token });
        assert.equal(response.status, 401, `${kind} on ${route.operationId}`);
        shapes.add(shape(response));
      }
    }
    for (const shapes of seen.values()) assert.equal(shapes.size, 1, [...shapes].join('\n'));
    const apartFromClosing = [...seen.values()].flatMap((shapes) =>
      [...shapes].map((one) => one.replace('"connection",', '')),
    );
    assert.equal(new Set(apartFromClosing).size, 1, apartFromClosing.join('\n'));
    t.diagnostic(`${ADMIN_ROUTES.length * Object.keys(tokens).length} guesses`);
  });

  it('with bytes outside ASCII are refused, as are all headers with them where the engine trims such bytes', async () => {
    const token = ADMIN_TOKEN.replace('secret', 'secr\u00e9t');
    const { status } = await server().call('GET', '/projects/default', undefined, { token });
    assert.equal(status, NO_UWS === false ? 400 : 401);
  });

  it('that are one character off in any place are as unknown as any', async () => {
    for (let at = 0; at < ADMIN_TOKEN.length; at += 1) {
      const other = ADMIN_TOKEN[at] === 'x' ? 'y' : 'x';
      const token = ADMIN_TOKEN.slice(0, at) + other + ADMIN_TOKEN.slice(at + 1);
      assert.equal(
        (await server().call('GET', '/projects', undefined, { token })).status,
        401,
        `place ${at}`,
      );
    }
    assert.equal((await server().call('GET', '/projects')).status, 200, 'and the right one is good');
  });
});

/** Tokens that are no good, by what is wrong with them. */
async function badTokens(server: TestServer): Promise<Readonly<Record<string, string>>> {
  const expired = await addUser(server, 1, { expiresAt: '2024-01-01T00:00:00.000Z' });
  const ended = await addUser(server, 1);
  assert.equal((await server.call('GET', '/user/profile', undefined, { token: ended.token })).status, 200);
  const { pats } = (await server.call('GET', `/user-admin/${ended.id}/tokens`)).body;
  await server.call('DELETE', `/user-admin/${ended.id}/tokens/${pats[0].id}`);
  return {
    unknown: '*:*.0123456789',
    'a prefix': ADMIN_TOKEN.slice(0, -1),
    'too long': `${ADMIN_TOKEN}0`,
    'of another case': ADMIN_TOKEN.toUpperCase(),
    expired: expired.token,
    revoked: ended.token,
    'of another scheme': `Basic ${ADMIN_TOKEN}`,
    'two of them': `${ADMIN_TOKEN}, ${ADMIN_TOKEN}`,
  };
}

/** All of a response but what differs from one to the next anyway. */
function shape({ status, headers, body }: ReceivedResponse): string {
  const { id: _, ...rest } = body;
  const names = [...headers.keys()].filter((name) => name !== 'date').sort();
  const length = headers.get('content-length');
  return JSON.stringify({ status, names, length, rest });
}
