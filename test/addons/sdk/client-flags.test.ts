/** The flags that server-side SDKs read: whose, in which shape, and when their ETag changes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import '../../support/check-responses.ts';
import { addToken } from '../../support/applications.ts';
import { addProject, addStrategy, environmentPath, makeFlag } from '../../support/interface.ts';
import { rawResponse } from '../../support/raw-response.ts';
import { describeInterface, type ReceivedResponse, type TestServer } from '../../support/server.ts';

const SPEC = { 'unleash-client-spec': '5.2.0' };

function reader(server: TestServer, token: string | null) {
  return (query = '', headers: Readonly<Record<string, string>> = SPEC): Promise<ReceivedResponse> =>
    server.callBelow('/api/client')('GET', `/features${query}`, undefined, { token, headers });
}

const names = ({ body }: ReceivedResponse): string[] =>
  body.features.map((one: { name: string }) => one.name);

async function switchOn(server: TestServer, flag: string, environment = 'development'): Promise<void> {
  assert.equal((await server.call('POST', `${environmentPath(flag, environment)}/on`)).status, 200);
}

describeInterface('the flags of an SDK', (server) => {
  const client = (environment = 'development', projects = ['*']) =>
    addToken(server(), { type: 'client', environment, projects });

  it('are refused without a client token, in the shape that SDKs know', async () => {
    const frontend = await addToken(server(), { type: 'frontend', environment: 'development' });
    const admin = await addToken(server(), { type: 'admin' });
    const wrong = 'invalid token: expected a different token type for this endpoint: a client token, and not';
    for (const [token, expected, message] of [
      [frontend, 403, `${wrong} a frontend token`],
      [admin, 403, `${wrong} an admin token`],
      [null, 401, 'A valid client token is required in the header Authorization.'],
      [
        'default:development.unknown',
        401,
        'The token in the header Authorization is unknown, revoked or expired.',
      ],
    ] as const) {
      const { status, body } = await reader(server(), token)();
      assert.deepEqual([status, body], [expected, { message }]);
    }
    const { status, body } = await server().callBelow('/api/client')('GET', '/nothing');
    assert.deepEqual([status, body.name], [404, 'NotFoundError']);
  });

  it('have the parameters of strategies as texts, and nothing that is disabled', async () => {
    await makeFlag(server().call, 'shaped', { description: 'seen', impressionData: true });
    await addStrategy(server().call, 'shaped', {
      name: 'flexibleRollout',
      parameters: { rollout: 25, sticky: true, none: null, list: [1], groupId: 'g' },
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }],
    });
    await addStrategy(server().call, 'shaped', { disabled: true });
    await switchOn(server(), 'shaped');
    const token = await client();
    const { body } = await reader(server(), token)();
    const feature = body.features.find((one: { name: string }) => one.name === 'shaped');
    const constraint = {
      contextName: 'userId',
      operator: 'IN',
      caseInsensitive: false,
      inverted: false,
      values: ['1'],
    };
    assert.deepEqual(feature, {
      name: 'shaped',
      type: 'release',
      enabled: true,
      project: 'default',
      stale: false,
      impressionData: true,
      description: 'seen',
      strategies: [
        {
          name: 'flexibleRollout',
          sortOrder: 0,
          constraints: [constraint],
          parameters: { rollout: '25', sticky: 'true', list: '[1]', groupId: 'g' },
          variants: [],
        },
      ],
      variants: [],
    });
    const one = await server().callBelow('/api/client')('GET', '/features/shaped', undefined, { token });
    assert.deepEqual(one.body, feature);
  });

  it('are off where the whole environment is', async () => {
    await makeFlag(server().call, 'half-on');
    await addStrategy(server().call, 'half-on');
    await switchOn(server(), 'half-on');
    const read = reader(server(), await client());
    const enabled = async () =>
      (await read('?namePrefix=half-on')).body.features.map((one: { enabled: boolean }) => one.enabled);
    assert.deepEqual(await enabled(), [true]);
    await server().call('POST', '/environments/development/off');
    assert.deepEqual(await enabled(), [false]);
    await server().call('POST', '/environments/development/on');
    assert.deepEqual(await enabled(), [true]);
  });

  it('are those of the projects of the token, which a query string cannot widen', async () => {
    await addProject(server(), 'mine');
    await addProject(server(), 'yours');
    for (const project of ['mine', 'yours']) {
      await server().call('POST', `/projects/${project}/features`, { name: `in-${project}` });
    }
    const all = reader(server(), await client());
    const mine = reader(server(), await client('development', ['mine']));
    assert.deepEqual(names(await mine()), ['in-mine']);
    assert.deepEqual(names(await mine('?project=yours')), ['in-mine']);
    assert.deepEqual((await mine()).body.query, {
      environment: 'development',
      inlineSegmentConstraints: false,
      project: ['mine'],
    });
    assert.deepEqual(names(await all('?project=mine&project=yours')), ['in-mine', 'in-yours']);
    assert(names(await all()).includes('in-yours'));
    const token = await client('development', ['mine']);
    const other = await server().callBelow('/api/client')('GET', '/features/in-yours', undefined, { token });
    assert.deepEqual([other.status, other.body.name], [404, 'NotFoundError']);
  });

  it('can be narrowed by the beginning of their names and by tags', async () => {
    await makeFlag(server().call, 'pre-a');
    await makeFlag(server().call, 'pre-b');
    await server().call('POST', '/features/pre-b/tags', { type: 'team', value: 'b:1' });
    const read = reader(server(), await client());
    assert.deepEqual(names(await read('?namePrefix=pre-')), ['pre-a', 'pre-b']);
    assert.deepEqual(names(await read('?tag=team:b:1&tag=team:none')), ['pre-b']);
    for (const tag of ['team', ':x']) {
      const { status, body } = await read(`?tag=${tag}`);
      assert.deepEqual([status, body.details[0].path], [400, '/query/tag']);
    }
  });

  it('lose archived ones, and depend on parents', async () => {
    await makeFlag(server().call, 'parent');
    await makeFlag(server().call, 'child');
    await server().call('POST', '/projects/default/features/child/dependencies', { feature: 'parent' });
    const read = reader(server(), await client());
    const { body } = await read('?namePrefix=child');
    assert.deepEqual(body.features[0].dependencies, [{ feature: 'parent', enabled: true, variants: [] }]);
    await server().call('DELETE', '/projects/default/features/child');
    assert.deepEqual(names(await read('?namePrefix=child')), []);
  });

  it('get another ETag when what the token sees changes, and only then', async () => {
    await makeFlag(server().call, 'tagged-flag');
    await addStrategy(server().call, 'tagged-flag');
    await addStrategy(server().call, 'tagged-flag', {}, 'production');
    await addProject(server(), 'elsewhere');
    const read = reader(server(), await client('development', ['default']));
    const etag = async () => (await read()).headers.get('etag') ?? '';
    const first = await etag();
    assert.match(first, /^"[0-9a-f]{8}:[^"]+"$/, 'strong');
    await switchOn(server(), 'tagged-flag', 'production');
    await server().call('POST', '/features/tagged-flag/tags', { type: 'simple', value: 'one' });
    await server().call('POST', '/projects/elsewhere/features', { name: 'far-away' });
    await addToken(server(), { type: 'client', environment: 'development' });
    assert.equal(await etag(), first, 'other environments, tags, projects and tokens are not seen');
    const unchanged = await read('', { ...SPEC, 'if-none-match': first });
    assert.deepEqual([unchanged.status, unchanged.headers.get('etag')], [304, first]);
    assert.equal(unchanged.headers.get('vary'), 'accept-encoding');
    await switchOn(server(), 'tagged-flag');
    const second = await etag();
    assert.notEqual(second, first);
    assert.equal((await read('', { ...SPEC, 'if-none-match': first })).status, 200);
    await server().call('POST', `${environmentPath('tagged-flag')}/off`);
    assert.equal(await etag(), first, 'the same content has the same tag');
  });

  it('keep their ETag over a restart', async () => {
    const read = () => reader(server(), token)();
    const token = await client('production');
    const before = (await read()).headers.get('etag');
    await server().restart();
    assert.equal((await read()).headers.get('etag'), before);
  });

  it('come in the coding that the client likes best, with a tag of its own', async () => {
    for (let at = 0; at < 10; at += 1) await makeFlag(server().call, `packed-${at}`);
    const token = await client();
    const raw = async (coding: string, tag = '') => {
      const { status, headers, body } = await rawResponse(`${server().origin}/api/client/features`, {
        ...{ authorization: token, 'accept-encoding': coding, 'if-none-match': tag },
        ...SPEC,
      });
      return { status, body, coding: headers['content-encoding'], etag: String(headers.etag) };
    };
    const plain = await raw('identity');
    const gzip = await raw('gzip,deflate');
    const br = await raw('br, gzip;q=0.9');
    assert.deepEqual([plain.coding, gzip.coding, br.coding], [undefined, 'gzip', 'br']);
    assert.deepEqual(gunzipSync(gzip.body), plain.body);
    assert.deepEqual(brotliDecompressSync(br.body), plain.body);
    assert.equal(new Set([plain.etag, gzip.etag, br.etag]).size, 3);
    for (const [coding, { etag }] of [
      ['identity', plain],
      ['gzip,deflate', gzip],
    ] as const) {
      assert.equal((await raw(coding, etag)).status, 304);
    }
    assert.equal((await raw('br;q=0.1, gzip;q=0.9')).coding, 'gzip');
    assert.equal((await raw('gzip;q=0, identity')).coding, undefined);
  });

  it('refer to segments, or have their constraints for clients that do not know them; a change of one is seen', async () => {
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['1'] }];
    const segment = await server().call('POST', '/segments', { name: 'ours', constraints });
    assert.equal(segment.status, 201);
    const { id } = segment.body;
    await makeFlag(server().call, 'segmented');
    await addStrategy(server().call, 'segmented', { segments: [id] });
    const read = reader(server(), await client());
    const sent = [{ ...constraints[0], caseInsensitive: false, inverted: false }];
    const { body, headers } = await read('?namePrefix=segmented');
    assert.deepEqual(body.segments, [{ id, name: 'ours', constraints: sent }]);
    assert.deepEqual(body.features[0].strategies[0].segments, [id]);
    const inlined = await read('?namePrefix=segmented', { 'unleash-client-spec': '4.1.0' });
    assert.deepEqual(inlined.body.features[0].strategies[0].constraints, sent);
    assert.equal('segments' in inlined.body.features[0].strategies[0], false);
    const other = { name: 'ours', constraints: [{ ...constraints[0], values: ['2'] }] };
    assert.equal((await server().call('PUT', `/segments/${id}`, other)).status, 204);
    const after = await read('?namePrefix=segmented');
    assert.deepEqual(after.body.segments[0].constraints[0].values, ['2']);
    assert.notEqual(after.headers.get('etag'), headers.get('etag'));
    const againInlined = await read('?namePrefix=segmented', { 'unleash-client-spec': '4.1.0' });
    assert.deepEqual(againInlined.body.features[0].strategies[0].constraints[0].values, ['2']);
  });

  it('are sent without segments to clients that do not know them', async () => {
    const read = reader(server(), await client());
    for (const [spec, knows] of [
      ['5.2.0', true],
      ['4.2.0', true],
      ['4.1.9', false],
      ['', false],
      ['x', false],
    ] as const) {
      const { body } = await read('', { 'unleash-client-spec': spec });
      assert.equal('segments' in body, knows, spec);
      assert.equal(body.query.inlineSegmentConstraints, !knows, spec);
    }
  });
});
