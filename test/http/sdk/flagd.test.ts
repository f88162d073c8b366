/** The definitions for flagd: who gets them, and when they change. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { FlagdCore } from '@openfeature/flagd-core';
import '../../support/check-responses.ts';
import { setTurnMs } from '../../../src/actors/turn.ts';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { addProject, environmentPath } from '../../support/interface.ts';
import { describeInterface, type RequestOptions } from '../../support/server.ts';
import { rawResponse } from './raw-response.ts';

const PATH = '/flagd/flags.json';

describeInterface('definitions for flagd', (server) => {
  const get = (token: string | null, options: RequestOptions = {}) =>
    server().callBelow('')('GET', PATH, undefined, { token, ...options });
  const client = (fields: object = {}) =>
    addToken(server(), { type: 'client', environment: 'development', ...fields });

  it('are evaluated by flagd as this server evaluates the flags, and name those that it would not', async () => {
    const constraints = [{ contextName: 'region', operator: 'IN', values: ['eu'] }];
    const segment = await server().call('POST', '/segments', { name: 'europe', constraints });
    await makeRunningFlag(server().call, 'for-europe', { segments: [segment.body.id] });
    await makeRunningFlag(server().call, 'for-a-half', {
      name: 'flexibleRollout',
      parameters: { rollout: 50, stickiness: 'default', groupId: 'g' },
    });
    await makeFlagWithVariants(server().call, 'varied', [{ name: 'v', weight: 1000 }]);
    // flagd sends the token in this way.
    const token = `Bearer ${await client()}`;
    const { status, body } = await get(token);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body.leftOut), ['for-a-half', 'varied']);
    assert.deepEqual(body.metadata, { environment: 'development', leftOutCount: 2 });
    const core = new FlagdCore();
    core.setConfigurations(JSON.stringify(body));
    const isOn = (region: string) =>
      core.resolveBooleanEvaluation('for-europe', false, { region }, console as never).value;
    assert.deepEqual([isOn('eu'), isOn('us')], [true, false]);
  });

  it('have a strong tag that changes with what SDKs see, and are compressed', async () => {
    await makeRunningFlag(server().call, 'switched');
    for (let at = 0; at < 10; at += 1) await makeRunningFlag(server().call, `as-large-as-${at}`);
    await addProject(server(), 'elsewhere');
    const token = await client({ projects: ['default'] });
    const first = await get(token);
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^"flagd1:/);
    const known = { headers: { 'if-none-match': etag } };
    await server().call('POST', '/projects/elsewhere/features', { name: 'far-away' });
    await server().call('POST', '/features/switched/tags', { type: 'simple', value: 'one' });
    assert.equal((await get(token, known)).status, 304);
    await server().restart();
    assert.equal((await get(token, known)).status, 304, 'also after a restart');
    await server().call('POST', `${environmentPath('switched')}/off`);
    const changed = await get(token, known);
    assert.deepEqual([changed.status, changed.body.flags.switched.defaultVariant], [200, 'off']);
    const raw = await rawResponse(`${server().origin}${PATH}`, {
      ...{ authorization: token, 'accept-encoding': 'gzip' },
    });
    assert.equal(raw.headers['content-encoding'], 'gzip');
    assert.deepEqual(JSON.parse(gunzipSync(raw.body).toString()), changed.body);
  });

  it('are made once for all who ask at the same time', async () => {
    await addProject(server(), 'asked');
    await server().call('POST', '/projects/asked/features', { name: 'asked-for' });
    const token = await client({ projects: ['asked'] });
    const responses = await Promise.all([get(token), get(token), get(token)]);
    for (const { body } of responses) assert.deepEqual(Object.keys(body.flags), ['asked-for']);
    assert.equal(new Set(responses.map(({ headers }) => headers.get('etag'))).size, 1);
  });

  it('come while flags change faster than they can be written', async () => {
    await addProject(server(), 'busy');
    const names = Array.from({ length: 400 }, (_, at) => `busy-${at}`);
    await Promise.all(names.map((name) => server().call('POST', '/projects/busy/features', { name })));
    const token = await client({ projects: ['busy'] });
    const { engine } = server().server.store;
    const place = { project: 'busy', featureName: names[0]!, environment: 'development' };
    const changes: Promise<unknown>[] = [];
    let isOver = false;
    const change = (): void => {
      const type = changes.length % 2 === 0 ? 'feature-environment-enabled' : 'feature-environment-disabled';
      changes.push(
        engine.record({ name: 'test', userId: -1 }, [{ type, ...place, data: null, preData: null }]),
      );
      if (!isOver) setImmediate(change);
    };
    setTurnMs(0);
    change();
    const { status, body } = await get(token);
    isOver = true;
    setTurnMs();
    await Promise.all(changes);
    assert.deepEqual([status, Object.keys(body.flags ?? body).length], [200, names.length]);
    const calm = await get(token);
    assert.equal((await get(token)).headers.get('etag'), calm.headers.get('etag'));
  });

  it('are for client tokens alone, and refused in the shape that SDKs know', async () => {
    const page = await addToken(server(), { type: 'frontend', environment: 'development' });
    assert.equal((await get(page)).status, 403);
    const { status, body } = await get(null);
    assert.deepEqual([status, Object.keys(body)], [401, ['message']]);
  });
});
