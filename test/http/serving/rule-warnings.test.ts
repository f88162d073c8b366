/** Warnings to authors about writes that are accepted: fields and values that nobody defined, and what an evaluation may take. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addProject } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('warnings', (server) => {
  const project = 'warned';
  const strategies = `/projects/${project}/features/f/environments/development/strategies`;
  const warningsOf = ({ headers }: { readonly headers: Headers }): unknown =>
    JSON.parse(headers.get('flagstaff-warnings') ?? '[]');
  const constraint = (contextName: string, values: readonly string[] = ['x']) => ({
    ...{ contextName, operator: 'IN', values },
  });

  it('name fields and values that are not defined, wherever rules are written, and only those', async () => {
    const { call } = server();
    await addProject(server(), project);
    await call('POST', `/projects/${project}/features`, { name: 'f' });
    await call('POST', '/context', { name: 'tier', legalValues: [{ value: 'gold' }, { value: 'free' }] });
    const known = [constraint('userId'), constraint('tier', ['gold'])];
    const added = await call('POST', strategies, { name: 'default', constraints: known });
    assert.deepEqual([added.status, warningsOf(added)], [200, []]);
    const constraints = [...known, constraint('t\u00efer\r\nx: y'), constraint('tier', ['gold', 'silver'])];
    const expected = [
      {
        path: '/constraints/2/contextName',
        message:
          'There is no context field "t\u00efer\\r\\nx: y": the constraint meets those contexts alone in which applications send it.',
      },
      {
        path: '/constraints/3/values/1',
        message: '"silver" is none of the legal values of the context field "tier".',
      },
    ];
    const path = `${strategies}/${added.body.id}`;
    const replaced = await call('PUT', path, { name: 'default', constraints });
    assert.deepEqual([replaced.status, warningsOf(replaced)], [200, expected]);
    const segment = await call('POST', '/segments', { name: 'odd', constraints });
    assert.deepEqual([segment.status, warningsOf(segment)], [201, expected]);
    const many = Array.from({ length: 30 }, (_, at) => constraint(`unknown-${at}`));
    const patched = await call('PATCH', path, [{ op: 'replace', path: '/constraints', value: many }]);
    assert.deepEqual([patched.status, (warningsOf(patched) as unknown[]).length], [200, 5]);
  });

  it('name ignored fields of a body that are nearly fields which it lacks, and no others', async () => {
    const { call } = server();
    const sent = { name: 'misspelt', impresionData: true, 'de/scription': 'x', createdAt: 'now', desc: '' };
    const created = await call('POST', `/projects/${project}/features`, sent);
    assert.equal(created.status, 201);
    assert.deepEqual(warningsOf(created), [
      {
        path: '/impresionData',
        message: 'There is no field "impresionData", which is ignored. Did you mean "impressionData"?',
      },
      {
        path: '/de~1scription',
        message: 'There is no field "de/scription", which is ignored. Did you mean "description"?',
      },
    ]);
    const path = `/projects/${project}/features/misspelt`;
    const sentBack = await call('PUT', path, (await call('GET', path)).body);
    assert.deepEqual([sentBack.status, warningsOf(sentBack)], [200, []]);
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`impressionData${at}`, at]));
    const changed = await call('PUT', path, { ...many, constructor: 1 });
    assert.deepEqual([changed.status, (warningsOf(changed) as unknown[]).length], [200, 5]);
  });

  it('say how long an evaluation may take, of a flag and of a segment', async () => {
    const { call } = server();
    const constraints = Array.from({ length: 3 }, (_, at) => ({
      ...{ contextName: 'userId', operator: 'REGEX', value: `[ab]*a[ab]{60}${at}` },
    }));
    const segment = await call('POST', '/segments', { name: 'slow', constraints });
    assert.deepEqual(warningsOf(segment), [
      { path: '', message: 'The segment "slow" may take 30 ms to evaluate for the longest context.' },
    ]);
    await call('POST', `/projects/${project}/features`, { name: 'slow' });
    const added = await call('POST', strategies.replace('/f/', '/slow/'), {
      name: 'default',
      segments: [segment.body.id],
    });
    assert.deepEqual(warningsOf(added), [
      {
        path: '',
        message:
          'The flag "slow" in the environment "development" may take 30 ms to evaluate for the longest context.',
      },
    ]);
    const refused = await call('POST', '/segments', {
      name: 'slower',
      constraints: Array.from({ length: 12 }, (_, at) => ({
        ...constraints[0],
        value: `[ab]*a[ab]{60}${at}`,
      })),
    });
    assert.deepEqual([refused.status, refused.body.details[0].path], [400, '/body/constraints']);
    assert.match(
      refused.body.message,
      /may take 120 ms to evaluate for the longest context; the limit is 100 ms\./,
    );
  });
});
