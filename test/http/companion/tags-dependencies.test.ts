/** Tags of flags, and dependencies between them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PARENTS_PER_FLAG_MAX } from '../../../src/domain/decide/dependency-commands.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../../src/domain/flags/growth-limits.ts';
import '../../support/check-responses.ts';
import {
  addProject,
  archive,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('tags', (server) => {
  const add = (flag: string, tag: object) => server().call('POST', `/features/${flag}/tags`, tag);
  const tags = async (flag: string) => (await server().call('GET', `/features/${flag}/tags`)).body.tags;

  it('are added, listed in order, shown with the flag and in its later events, and removed', async () => {
    await makeFlag(server().call, 'tagged');
    const first = { type: 'simple', value: 'one' };
    const { response, events } = await recording(server(), () => add('tagged', first));
    assert.equal(response.status, 201);
    assert.deepEqual(response.body, first);
    assert.deepEqual(events, [flagEvent('feature-tagged', 'tagged', { data: first })]);
    const second = { type: 'team / ü', value: 'a b%2Fc' };
    const later = await recording(server(), () => add('tagged', second));
    assert.deepEqual(later.events, [flagEvent('feature-tagged', 'tagged', { data: second, tags: [first] })]);
    const listed = [first, second].map((tag) => ({ ...tag, color: null }));
    assert.deepEqual(await tags('tagged'), listed);
    assert.deepEqual((await server().call('GET', `${FEATURES}/tagged`)).body.tags, [first, second]);
    const path = `/features/tagged/tags/${encodeURIComponent(second.type)}/${encodeURIComponent(second.value)}`;
    const removal = await recording(server(), () => server().call('DELETE', path));
    assert.equal(removal.response.status, 200);
    assert.deepEqual(removal.events, [
      flagEvent('feature-untagged', 'tagged', { preData: second, tags: [first, second] }),
    ]);
    assert.deepEqual(await tags('tagged'), listed.slice(0, 1));
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path });
  });

  it('that a flag has already are answered as added, and recorded no second time', async () => {
    await makeFlag(server().call, 'twice');
    const tag = { type: 'simple', value: 'same' };
    await add('twice', tag);
    const { response, events } = await recording(server(), () => add('twice', tag));
    assert.deepEqual([response.status, response.body, events], [201, tag, []]);
    await add('twice', { type: 'other', value: 'same' });
    assert.equal((await tags('twice')).length, 2);
  });

  it('have a type and a value of 2 to 50 characters, the type simple unless sent', async () => {
    await makeFlag(server().call, 'lengths');
    const path = '/features/lengths/tags';
    for (const field of ['type', 'value']) {
      for (const bad of ['', 'x', 'x'.repeat(51), '..', 'a\u0000b', 7, null]) {
        const body = { type: 'simple', value: 'fine', [field]: bad };
        await invalidAt(server(), `/body/${field}`, { method: 'POST', path, body });
      }
    }
    assert.equal((await add('lengths', { type: 'x'.repeat(50), value: 'x'.repeat(50) })).status, 201);
    assert.deepEqual((await add('lengths', { value: 'ab' })).body, { type: 'simple', value: 'ab' });
    await invalidAt(server(), '/body/value', { method: 'POST', path, body: {} });
  });

  it('are limited in number, and cannot be changed in the archive', async () => {
    const { call } = server();
    await makeFlag(call, 'full');
    for (let index = 0; index < DEFAULT_GROWTH_LIMITS.tags; index += 1)
      await add('full', { value: `tag ${index}` });
    const path = '/features/full/tags';
    const more = { method: 'POST', path, body: { value: 'one more' } } as const;
    await refused(server(), 400, 'ValidationError', more);
    assert.equal((await add('full', { value: 'tag 0' })).status, 201, 'one that it has is no more');
    await archive(call, 'full');
    await refused(server(), 409, 'InvalidOperationError', more);
    const removal = { method: 'DELETE', path: `${path}/simple/tag%200` } as const;
    await refused(server(), 409, 'InvalidOperationError', removal);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/features/nowhere/tags' });
  });
});

describeInterface('dependencies', (server) => {
  const add = (child: string, dependency: object) =>
    server().call('POST', `${FEATURES}/${child}/dependencies`, dependency);
  const flag = async (name: string) => (await server().call('GET', `${FEATURES}/${name}`)).body;
  const adding = (child: string, body: object) =>
    ({ method: 'POST', path: `${FEATURES}/${child}/dependencies`, body }) as const;
  const make = async (...names: readonly string[]) => {
    for (const name of names) await makeFlag(server().call, name);
  };

  it('are added with defaults, changed by a second time, and shown by both flags', async () => {
    await make('child', 'parent');
    const first = { feature: 'parent', enabled: true, variants: [] };
    const { response, events } = await recording(server(), () => add('child', { feature: 'parent' }));
    assert.deepEqual([response.status, response.body], [200, first]);
    assert.deepEqual(events, [flagEvent('feature-dependency-added', 'child', { data: first })]);
    assert.deepEqual((await flag('child')).dependencies, [first]);
    assert.deepEqual((await flag('parent')).children, ['child']);
    assert.deepEqual((await recording(server(), () => add('child', first))).events, []);
    const second = { feature: 'parent', enabled: true, variants: ['red'] };
    const changed = await recording(server(), () => add('child', second));
    assert.deepEqual(changed.events, [flagEvent('feature-dependency-added', 'child', { data: second })]);
    assert.deepEqual((await flag('child')).dependencies, [second]);
    assert.deepEqual((await flag('parent')).children, ['child']);
  });

  it('are removed one by one or all at once', async () => {
    await make('c', 'p1', 'p2', 'p3');
    for (const feature of ['p1', 'p2', 'p3']) await add('c', { feature, enabled: false });
    const one = await recording(server(), () => server().call('DELETE', `${FEATURES}/c/dependencies/p2`));
    assert.deepEqual(one.events, [
      flagEvent('feature-dependency-removed', 'c', {
        preData: { feature: 'p2', enabled: false, variants: [] },
      }),
    ]);
    await refused(server(), 404, 'NotFoundError', {
      method: 'DELETE',
      path: `${FEATURES}/c/dependencies/p2`,
    });
    const all = await recording(server(), () => server().call('DELETE', `${FEATURES}/c/dependencies`));
    assert.deepEqual(
      all.events.map(({ type, preData }) => [
        type,
        preData.dependencies.map((dependency: { feature: string }) => dependency.feature),
      ]),
      [['feature-dependencies-removed', ['p1', 'p3']]],
    );
    const none = await recording(server(), () => server().call('DELETE', `${FEATURES}/c/dependencies`));
    assert.deepEqual([none.response.status, none.events], [200, []]);
    for (const name of ['p1', 'p2', 'p3']) assert.deepEqual((await flag(name)).children, []);
  });

  it('go one level deep, within a project, on flags in use', async () => {
    const { call } = server();
    await make('top', 'middle', 'low', 'old');
    await add('middle', { feature: 'top' });
    await addProject(server(), 'foreign');
    await call('POST', '/projects/foreign/features', { name: 'stranger' });
    await archive(call, 'old');
    const conflicts = [
      ['low', 'middle', /"middle" has a parent of its own/],
      ['top', 'low', /depend on "top"/],
      ['low', 'stranger', /"foreign"/],
      ['low', 'old', /"old" is archived/],
      ['old', 'low', /"old" is archived/],
    ] as const;
    for (const [child, feature, message] of conflicts) {
      const { body } = await refused(server(), 409, 'InvalidOperationError', adding(child, { feature }));
      assert.match(body.message, message);
    }
    await refused(server(), 404, 'NotFoundError', adding('low', { feature: 'nowhere' }));
    await refused(server(), 404, 'NotFoundError', adding('nowhere', { feature: 'low' }));
    await invalidAt(server(), '/body/feature', adding('low', { feature: 'low' }));
    const parents = await call('GET', `${FEATURES}/low/parents`);
    assert(parents.body.includes('top') && !parents.body.includes('middle') && !parents.body.includes('old'));
  });

  it('ask for variants only of a parent that must be enabled', async () => {
    await make('picky', 'plain');
    const body = { feature: 'plain', enabled: false, variants: ['red'] };
    await invalidAt(server(), '/body', adding('picky', body));
    assert.equal((await add('picky', { ...body, enabled: true })).status, 200);
  });

  it('are limited in number', async () => {
    const parents = Array.from({ length: PARENTS_PER_FLAG_MAX + 1 }, (_, index) => `many${index}`);
    await make('overloaded', ...parents);
    for (const feature of parents.slice(1)) assert.equal((await add('overloaded', { feature })).status, 200);
    await refused(server(), 409, 'InvalidOperationError', adding('overloaded', { feature: 'many0' }));
  });

  it('end with the child when it is archived, and keep the parent from it before', async () => {
    const { call } = server();
    await make('leaf', 'root');
    await add('leaf', { feature: 'root' });
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: `${FEATURES}/root` });
    await archive(call, 'leaf');
    assert.deepEqual((await flag('leaf')).dependencies, []);
    assert.deepEqual((await flag('root')).children, []);
    await archive(call, 'root');
  });
});
