/** The routes of integrations: what they take, refuse and show, and that no secret is among it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { integrationsOf } from '../../../src/addons/integrations/kind.ts';
import { PROVIDERS } from '../../../src/addons/integrations/providers/table.ts';
import '../../support/check-responses.ts';
import { exportState, planImport } from '../../support/documents/state-document.ts';
import { addProject, addUser } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import { TestWorld } from '../../support/test-world.ts';

const SECRET = 'https://hooks.example/hush';
const BODY = {
  provider: 'webhook',
  description: 'Tells the shop',
  enabled: true,
  parameters: { url: SECRET, authorization: 'Bearer hush', bodyTemplate: '{{event.type}}' },
  events: ['feature-created', 'feature-archived'],
};

describeInterface('integrations', (server) => {
  const create = async (more: object = {}) => {
    const { status, body } = await server().call('POST', '/addons', { ...BODY, ...more });
    assert.equal(status, 201, body?.message);
    return body;
  };
  const read = async (id: number) => (await server().call('GET', `/addons/${id}`)).body;
  const kept = (id: number) => integrationsOf(server().server.store.engine)().find((one) => one.id === id);

  it('are listed beside all providers, whose secrets are marked', async () => {
    const made = await create();
    const { body } = await server().call('GET', '/addons');
    assert.deepEqual(body.addons.at(-1), made);
    assert.deepEqual(
      body.providers.map(({ name }: { name: string }) => name),
      PROVIDERS.map(({ name }) => name),
    );
    const [webhook] = body.providers;
    assert.deepEqual(
      webhook.parameters
        .filter(({ sensitive }: { sensitive: boolean }) => sensitive)
        .map(({ name }: { name: string }) => name)
        .slice(0, 2),
      ['url', 'authorization'],
    );
  });

  it('are shown with masked secrets everywhere, and keep them where the mask is sent back', async () => {
    const { id, ...shown } = await create();
    const masked = { ...BODY.parameters, url: '*****', authorization: '*****' };
    assert.deepEqual(shown, { ...BODY, parameters: masked, projects: [], environments: [] });
    const changed = { ...masked, authorization: 'Bearer whisper', bodyTemplate: '{{event.id}}' };
    const { status, body } = await server().call('PUT', `/addons/${id}`, { ...BODY, parameters: changed });
    assert.equal(status, 200);
    assert.deepEqual(body.parameters, { ...masked, bodyTemplate: '{{event.id}}' });
    assert.deepEqual(await read(id), body);
    assert.deepEqual(kept(id)?.parameters, { ...changed, url: SECRET });
    const { body: events } = await server().call('GET', '/events?limit=100');
    assert.match(JSON.stringify(events), /addon-config-updated/);
    assert.doesNotMatch(JSON.stringify(events), /hush|whisper/);
    for (const query of ['hush', 'whisper']) {
      const { body: found } = await server().call('POST', '/events/search', { query });
      assert.equal(found.totalEvents, 0, 'a search does not find a secret');
    }
  });

  it('keep what a change leaves out, but no secret for another provider, and lose a secret that is sent empty', async () => {
    const { id, ...before } = await create({ projects: ['default'], environments: ['production'] });
    const update = async (fields: object) =>
      (await server().call('PUT', `/addons/${id}`, { provider: 'webhook', ...fields })).body;
    assert.deepEqual(await update({ enabled: false }), { id, ...before, enabled: false });
    const without = await update({ parameters: { ...before.parameters, authorization: '' } });
    assert.deepEqual(without.parameters, { url: '*****', bodyTemplate: '{{event.type}}' });
    assert.equal(kept(id)?.parameters.authorization, undefined);
    const other = await update({ provider: 'teams', parameters: { url: '*****' } });
    assert.match(other.message, /url is required/);
    assert.equal(kept(id)?.parameters.url, SECRET);
  });

  it('may have no description, and one that is empty', async () => {
    const { description: _, ...bare } = BODY;
    const { body } = await server().call('POST', '/addons', bare);
    assert.equal(body.description, null);
    assert.equal((await create({ description: '' })).description, '');
    const path = `/addons/${body.id}`;
    assert.equal((await server().call('PUT', path, bare)).body.description, null);
    for (const description of [null, '']) {
      await server().call('PUT', path, { ...bare, description: 'for the team' });
      assert.equal((await server().call('PUT', path, { ...bare, description })).body.description, '');
    }
  });

  it('are refused with the place of what is wrong, and nothing changes', async () => {
    const { id } = await create();
    const before = (await server().call('GET', '/addons')).body;
    for (const [path, fields] of [
      ['/body/provider', { provider: 'carrier-pigeon' }],
      ['/body/provider', { provider: undefined }],
      ['/body/parameters/url', { parameters: {} }],
      ['/body/parameters/url', { parameters: { url: 'ftp://hooks.example' } }],
      ['/body/parameters/url', { provider: 'datadog', parameters: { url: '*****', apiKey: 'hush' } }],
      ['/body/parameters/color', { parameters: { ...BODY.parameters, color: 'red' } }],
      ['/body/parameters/url', { parameters: { url: {} } }],
      ['/body/events/0', { events: ['feature-exploded'] }],
      ['/body/enabled', { enabled: 'yes' }],
      ['/body/projects/1', { projects: ['default', 'nowhere'] }],
      ['/body/environments/0', { environments: ['nowhere'] }],
    ] as const)
      for (const [method, place] of [
        ['POST', '/addons'],
        ['PUT', `/addons/${id}`],
      ] as const) {
        const { status, body } = await server().call(method, place, { ...BODY, ...fields });
        assert.equal(status, 400, `${method} ${JSON.stringify(fields)}`);
        assert.deepEqual([body.name, body.details[0].path], ['ValidationError', path]);
      }
    const masked = await server().call('POST', '/addons', { ...BODY, parameters: { url: '*****' } });
    assert.equal(masked.status, 400, 'the mask is no secret');
    assert.deepEqual((await server().call('GET', '/addons')).body, before);
  });

  it('may go on naming a project and an environment that were deleted since', async () => {
    const projects = ['short-lived'];
    await addProject(server(), 'short-lived');
    const { id } = await create({ projects });
    assert.equal((await server().call('DELETE', '/projects/short-lived')).status, 200);
    assert.equal((await server().call('PUT', `/addons/${id}`, { ...BODY, projects })).status, 200);
    assert.equal((await server().call('POST', '/addons', { ...BODY, projects })).status, 400);
  });

  it('are deleted, and are then not found', async () => {
    const { id } = await create();
    assert.equal((await server().call('DELETE', `/addons/${id}`)).status, 200);
    for (const unknown of [id, 123_123, 'x'])
      for (const [method, body] of [['GET'], ['PUT', BODY], ['DELETE']] as const) {
        const { status, body: shown } = await server().call(method, `/addons/${unknown}`, body);
        assert.deepEqual([status, shown.message], [404, `There is no integration "${unknown}".`]);
      }
    assert.notEqual((await create()).id, id);
  });

  it('bring the tag types by which flags name the places that the provider sends to', async () => {
    const types = async () =>
      (await server().call('GET', '/tag-types')).body.tagTypes.map(({ name }: { name: string }) => name);
    assert(!(await types()).includes('slack'));
    const parameters = { accessToken: 'hush', defaultChannels: 'flags' };
    for (let count = 0; count < 2; count += 1) await create({ provider: 'slack-app', parameters });
    assert((await types()).includes('slack'));
  });

  it('of private projects alone are not shown to those who do not see these', async () => {
    const project = 'secret-plan';
    await server().call('POST', '/projects', { id: project, name: project, mode: 'private' });
    const { id } = await create({ projects: [project] });
    const both = await create({ projects: ['default', project] });
    const { token } = await addUser(server(), 3);
    const call = (path: string) => server().call('GET', path, undefined, { token });
    assert.equal((await call(`/addons/${id}`)).status, 404);
    assert.deepEqual((await call(`/addons/${both.id}`)).body.projects, ['default']);
    assert.doesNotMatch(JSON.stringify((await call('/addons')).body.addons), new RegExp(project));
    const { body: found } = await server().call('POST', '/events/search', { query: project }, { token });
    assert.equal(found.totalEvents, 0);
  });

  it('come back from an export without their secrets, and send nothing until they have them again', async () => {
    const { id } = await create();
    const document = exportState(server().server.store.engine.world);
    assert.doesNotMatch(JSON.stringify(document.addonRecords), /hush|whisper/);
    const plan = planImport(document);
    assert(plan.ok);
    const { world } = new TestWorld(plan.events);
    const found = integrationsOf({ world })().find((one) => one.id === id);
    assert.deepEqual([found?.enabled, found?.parameters], [false, { bodyTemplate: '{{event.type}}' }]);
  });
});
