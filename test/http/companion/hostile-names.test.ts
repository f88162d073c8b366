/**
 * Names that are something else to JavaScript, to a URL or to a reader: they name things like any other name does,
 * or are refused in the same way wherever they are sent; before a restart, after one, and after one from a snapshot.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import '../../support/check-responses.ts';
import { invalidAt } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  '0',
  '-0',
  '...',
  '~',
  'x'.repeat(100),
] as const;

/** Every character that a name may have, and one that must not be taken for another case of it. */
const LOOKALIKES = ['Case', 'case'] as const;

/** Usernames alone are compared whatever their case. */
const usernameOf = (name: string): string => (name === 'case' ? 'another case' : name);

const UNNAMEABLE = ['', '.', '..', ' ', 'a b', 'a/b', 'a%2Fb', 'a;b', 'é', '\u0000', '👍', 'x'.repeat(101)];

describeInterface('hostile names', (server) => {
  it('name projects, environments, flags, tags and users like any others, also after restarts', async () => {
    const all = [...NAMES, ...LOOKALIKES];
    for (const name of all) await build(name);
    for (const name of all) await look(name);
    const hash = () => stateHash(server().server.store.engine.world);
    const before = hash();
    await server().restart();
    assert.equal(hash(), before);
    for (const name of all) await look(name);
    const { body } = await server().call('GET', '/projects');
    assert.equal(body.projects.length, all.length + 1, 'each is a project of its own');
  });

  async function build(name: string): Promise<void> {
    const made = async (method: string, path: string, body?: unknown): Promise<void> => {
      const response = await server().call(method, path, body);
      assert(response.status < 300, `${method} ${path}: ${response.body?.message}`);
    };
    await made('POST', '/environments', { name, type: name });
    await made('POST', '/projects', { id: name, name, environments: [name] });
    await made('POST', `/projects/${name}/features`, { name, description: name });
    const environment = `/projects/${name}/features/${name}/environments/${name}`;
    await made('POST', '/strategies', { name, description: name });
    await made('POST', '/context', { name, legalValues: [{ value: name }] });
    await made('POST', `${environment}/strategies`, { name, title: name, parameters: { groupId: name } });
    await made('POST', `${environment}/on`);
    await made('PUT', `${environment}/variants`, [{ name, weight: 1 }]);
    if (name.length >= 2 && name.length <= 50) {
      await made('POST', `/features/${name}/tags`, { type: name, value: name });
    }
    await made('POST', '/user-admin', { username: usernameOf(name), name, rootRole: 'Viewer' });
    const sdk = { tokenName: name, type: 'client', environment: name, project: name };
    await made('POST', '/api-tokens', sdk);
  }

  async function look(name: string): Promise<void> {
    const get = async (path: string) => {
      const { status, body } = await server().call('GET', path);
      assert.equal(status, 200, `GET ${path}: ${body?.message}`);
      return body;
    };
    const encoded = [...name].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('');
    const flag = await get(`/projects/${name}/features/${encoded}`);
    assert.deepEqual([flag.name, flag.project, flag.description], [name, name, name]);
    const [environment] = flag.environments;
    assert.deepEqual([environment.name, environment.enabled], [name, true]);
    assert.deepEqual([environment.strategies[0].name, environment.strategies[0].featureName], [name, name]);
    const { environments } = await get(`/environments/project/${encoded}`);
    assert.deepEqual(
      environments.map((one: { name: string; projectEnabledToggleCount: number }) => [
        one.name,
        one.projectEnabledToggleCount,
      ]),
      [[name, 1]],
    );
    assert.equal((await get(`/environments/${encoded}`)).apiTokenCount, 1);
    const { features } = await get(`/projects/${encoded}`);
    assert.deepEqual(
      features.map((one: { name: string }) => one.name),
      [name],
    );
    const { totalEvents } = await get(`/events/${encoded}`);
    assert(totalEvents >= 4, 'its events are found by its name');
    const found = await get(`/user-admin/search?q=${encoded}`);
    assert(found.some((user: { username: string }) => user.username === usernameOf(name)));
    const { tags } = await get(`/features/${name}/tags`);
    if (tags.length > 0) assert.deepEqual(tags, [{ type: name, value: name, color: null }]);
    assert.equal((await server().call('POST', '/features/validate', { name })).status, 409);
  }

  it('that cannot stand in a path are refused wherever a name is given, and nothing has them', async () => {
    for (const name of UNNAMEABLE) {
      for (const [path, field, rest] of [
        ['/projects', 'id', { name: 'x' }],
        ['/environments', 'name', { type: 'x' }],
        ['/projects/default/features', 'name', {}],
        ['/features/validate', 'name', {}],
      ] as const) {
        await invalidAt(server(), `/body/${field}`, {
          method: 'POST',
          path,
          body: { ...rest, [field]: name },
        });
      }
      if (name === '' || name.startsWith('.') || name === '\u0000') continue;
      const encoded = encodeURIComponent(name);
      for (const path of [
        `/projects/${encoded}`,
        `/environments/${encoded}`,
        `/projects/default/features/${encoded}`,
        `/features/${encoded}/tags`,
      ]) {
        assert.equal((await server().call('GET', path)).status, 404, path);
      }
    }
  });

  it('that are keys of a body are never taken for fields that every object inherits', async () => {
    const { call } = server();
    assert.equal((await call('PUT', '/environments/sort-order', { hasOwn: 1 })).status, 404);
    await call('POST', '/environments', { name: 'valueOf', type: 'test' });
    assert.equal((await call('PUT', '/environments/sort-order', { valueOf: 99 })).status, 200);
    assert.equal((await call('GET', '/environments/valueOf')).body.sortOrder, 99);
    const proto = '{"__proto__": 1}';
    const json = { headers: { 'content-type': 'application/json' } };
    assert.equal((await call('PUT', '/environments/sort-order', proto, json)).status, 400);
    const nameless = await call('POST', '/projects', '{"__proto__": {"name": "x"}}', json);
    assert.equal(nameless.status, 400);
  });
});
