/** The answers to Unleash Edge about the tokens that it was given. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken } from '../../support/applications.ts';
import { addUser } from '../../support/interface.ts';
import { ADMIN_TOKEN, describeInterface } from '../../support/server.ts';

describeInterface('the tokens that Unleash Edge asks about', (server) => {
  const validate = (body: unknown) => server().callBelow('/edge')('POST', '/validate', body, { token: null });

  it('are told with what they cover if they are valid, and left out otherwise', async () => {
    const client = await addToken(server(), { type: 'client', environment: 'development' });
    const frontend = await addToken(server(), {
      type: 'frontend',
      environment: 'production',
      projects: ['default'],
    });
    const expiring = await addToken(server(), {
      type: 'client',
      environment: 'development',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const { token: personal } = await addUser(server(), 1);
    const tokens = [client, 'unknown', frontend, personal, client, ADMIN_TOKEN, expiring];
    const { status, body } = await validate({ tokens });
    assert.equal(status, 200);
    assert.deepEqual(body.tokens, [
      { token: client, type: 'client', projects: ['*'], environment: 'development' },
      { token: frontend, type: 'frontend', projects: ['default'], environment: 'production' },
      { token: ADMIN_TOKEN, type: 'admin', projects: ['*'], environment: '*' },
      { token: expiring, type: 'client', projects: ['*'], environment: 'development' },
    ]);
    await server().call('DELETE', `/api-tokens/${client}`);
    assert.deepEqual((await validate({ tokens: [client] })).body.tokens, []);
  });

  it('are refused where they are no list of some hundred texts', async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, '/body/tokens'],
      [{ tokens: 'x' }, '/body/tokens'],
      [{ tokens: [1] }, '/body/tokens/0'],
      [{ tokens: ['x'.repeat(301)] }, '/body/tokens/0'],
      [{ tokens: Array.from({ length: 501 }, (_, at) => String(at)) }, '/body/tokens'],
    ];
    for (const [sent, path] of cases) {
      const { status, body } = await validate(sent);
      assert.deepEqual([status, body.details[0].path], [400, path]);
    }
  });
});
