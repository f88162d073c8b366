/** The OpenFeature Remote Evaluation Protocol: results, tags and errors as its clients read them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('flags evaluated for OpenFeature', (server) => {
  const frontend = () => addToken(server(), { type: 'frontend', environment: 'development' });
  const evaluate = (token: string | null, path: string, body: unknown, headers = {}) =>
    server().callBelow('/ofrep/v1')('POST', `/evaluate/flags${path}`, body, { token, headers });
  const forKey = (targetingKey: string) => ({ context: { targetingKey } });

  it('have their payload as value if a variant was chosen, and otherwise whether they are on', async () => {
    await makeRunningFlag(server().call, 'plain');
    await makeRunningFlag(server().call, 'for-ada', {
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
    });
    const payloads = {
      text: { type: 'string', value: 'compact' },
      count: { type: 'number', value: '4.5' },
      shape: { type: 'json', value: '{"a":[1]}' },
    };
    for (const [name, payload] of Object.entries(payloads)) {
      await makeFlagWithVariants(server().call, name, [{ name: `v-${name}`, weight: 1000, payload }]);
    }
    const token = await frontend();
    const seen = async (name: string) => {
      const { status, body } = await evaluate(token, `/${name}`, forKey('ada'));
      assert.deepEqual([status, body.key], [200, name]);
      return [body.value, body.variant, body.reason, body.metadata.enabled];
    };
    assert.deepEqual(await seen('plain'), [true, undefined, 'STATIC', true]);
    assert.deepEqual(await seen('for-ada'), [true, undefined, 'TARGETING_MATCH', true]);
    assert.deepEqual(await seen('text'), ['compact', 'v-text', 'TARGETING_MATCH', true]);
    assert.deepEqual(await seen('count'), [4.5, 'v-count', 'TARGETING_MATCH', true]);
    assert.deepEqual(await seen('shape'), [{ a: [1] }, 'v-shape', 'TARGETING_MATCH', true]);
    const besideNull = await evaluate(token, '/for-ada', { context: { targetingKey: 'ada', userId: null } });
    assert.equal(besideNull.body.value, true);
    await server().call('POST', '/projects/default/features/plain/environments/development/off');
    assert.deepEqual(await seen('plain'), [false, undefined, 'DISABLED', false]);
    const { body } = await evaluate(token, '', forKey('grace'));
    const values = Object.fromEntries(
      body.flags.map(({ key, value }: { key: string; value: unknown }) => [key, value]),
    );
    assert.deepEqual(values, {
      count: 4.5,
      'for-ada': false,
      plain: false,
      shape: { a: [1] },
      text: 'compact',
    });
    assert.deepEqual(
      body.flags.map(({ key }: { key: string }) => key),
      Object.keys(values),
    );
  });

  it('have a tag, and are not sent again while it is the same', async () => {
    const token = await frontend();
    const first = await evaluate(token, '', forKey('ada'));
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    const again = await evaluate(token, '', forKey('ada'), headers);
    assert.deepEqual([again.status, again.body], [304, undefined]);
    assert.equal((await evaluate(token, '', forKey('grace'), headers)).status, 200);
  });

  it('take client tokens as well, and refuse others in the shape of the protocol', async () => {
    const client = await addToken(server(), { type: 'client', environment: 'development' });
    assert.equal((await evaluate(client, '', {})).status, 200);
    const admin = await addToken(server(), { type: 'admin' });
    for (const [token, status] of [
      [admin, 403],
      [null, 401],
    ] as const) {
      const { status: got, body, headers } = await evaluate(token, '/plain', {});
      assert.deepEqual([got, body.errorCode], [status, 'GENERAL']);
      assert.equal(headers.get('access-control-allow-origin'), '*');
    }
  });

  it('say in the terms of the protocol what is wrong with a request', async () => {
    const token = await frontend();
    const missing = await evaluate(token, '/not-there', forKey('ada'));
    assert.deepEqual(
      [missing.status, missing.body],
      [
        404,
        {
          key: 'not-there',
          errorCode: 'FLAG_NOT_FOUND',
          errorDetails: 'This token covers no flag "not-there".',
        },
      ],
    );
    const cases: readonly (readonly [unknown, string])[] = [
      ['{', 'PARSE_ERROR'],
      ['[]', 'PARSE_ERROR'],
      [{ context: 'x' }, 'INVALID_CONTEXT'],
      [{ context: { targetingKey: 1 } }, 'INVALID_CONTEXT'],
      [{ context: { long: 'x'.repeat(20_000) } }, 'INVALID_CONTEXT'],
    ];
    for (const [sent, errorCode] of cases) {
      const one = await evaluate(token, '/plain', sent);
      assert.deepEqual([one.status, one.body.key, one.body.errorCode], [400, 'plain', errorCode]);
      const all = await evaluate(token, '', sent);
      assert.deepEqual([all.status, all.body.key, all.body.errorCode], [400, undefined, errorCode]);
    }
    const { body } = await evaluate(token, '', { context: { targetingKey: 1 } });
    assert.equal(body.errorDetails, 'The field targetingKey must be a string, not 1.');
  });
});
