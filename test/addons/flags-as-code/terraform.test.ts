/**
 * Files of flags beside the Terraform provider of Unleash, which has projects, environments, context fields and access: neither plans what
 * the other did. The provider's calls are those of test/unleash/terraform-walk.test.ts.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { flagstaff } from '../../support/operator.ts';
import { ADMIN_TOKEN, describeInterface, temporaryFolder } from '../../support/server.ts';

const FLAGS = `
project: tf-shop
flags:
  - name: shop.checkout
    description: Of the file.
    environments:
      - name: tf-stage
        enabled: true
        strategies:
          - name: flexibleRollout
            parameters: { rollout: "25", stickiness: default, groupId: shop.checkout }
            constraints:
              - { contextName: tf-region, operator: IN, values: [north] }
`;

describeInterface('files of flags beside the Terraform provider', (server) => {
  async function call(method: string, path: string, body?: unknown) {
    const response = await server().call(method, path, body);
    assert(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  /** The fields that the provider reads back. */
  async function read() {
    const { projects } = await call('GET', '/projects');
    const { name, description, mode } = projects.find(({ id }: { id: string }) => id === 'tf-shop');
    const { featureNaming, linkTemplates } = await call('GET', '/projects/tf-shop/overview');
    const { name: environment, type } = await call('GET', '/environments/tf-stage');
    const linked = await call('GET', '/environments/project/tf-shop');
    const field = await call('GET', '/context/tf-region');
    const { roles, users, groups } = await call('GET', '/projects/tf-shop/access');
    return {
      project: { name, description, mode, featureNaming, linkTemplates },
      environment: { environment, type },
      linked: linked.environments
        .filter(({ visible = true }: { visible?: boolean }) => visible)
        .map((one: { name: string }) => one.name),
      field: { description: field.description, legalValues: field.legalValues, stickiness: field.stickiness },
      access: { roles, users, groups },
    };
  }

  it('neither of them plans what the other did', async () => {
    const path = join(temporaryFolder(), 'flags.yaml');
    writeFileSync(path, FLAGS);
    const run = async (...args: readonly string[]) => {
      const env = { FLAGSTAFF_URL: server().origin, FLAGSTAFF_TOKEN: ADMIN_TOKEN };
      const { code, out, err } = await flagstaff([...args, path], { env });
      assert.equal(code, 0, `${out}\n${err}`);
      return out;
    };

    await call('POST', '/environments', { name: 'tf-stage', type: 'preproduction' });
    await call('POST', '/context', { name: 'tf-region', legalValues: [{ value: 'north' }] });
    await call('POST', '/projects', { id: 'tf-shop', name: 'Shop', description: 'Of Terraform.' });
    const featureNaming = { pattern: '^shop\\..+', example: null, description: null };
    await call('PUT', '/projects/tf-shop/settings', { mode: 'protected', featureNaming });
    const applied = await read();
    assert(applied.linked.includes('tf-stage'));

    assert.match(await run('plan'), /create flag "shop\.checkout"/);
    await run('apply', '--yes');
    assert.deepEqual(await read(), applied, 'the second plan of the provider is empty');

    await call('PUT', '/projects/tf-shop', { name: 'Shop', description: 'Changed by Terraform.' });
    const template = { title: 'Ticket', urlTemplate: 'https://issues.example/{{feature}}' };
    await call('PUT', '/projects/tf-shop/settings', {
      ...{ mode: 'protected', featureNaming },
      linkTemplates: [template],
    });
    const legalValues = [{ value: 'north' }, { value: 'south' }];
    await call('PUT', '/context/tf-region', { description: 'Of Terraform.', legalValues });
    await call('PUT', '/environments/update/tf-stage', { type: 'test' });
    await call('DELETE', '/projects/tf-shop/environments/production');
    const changed = await read();
    assert.notDeepEqual(changed, applied);
    const { lastId } = server().server.store.engine;
    assert.equal(await run('plan'), 'Project tf-shop: nothing to change.');
    await run('apply', '--yes');
    assert.equal(server().server.store.engine.lastId, lastId);
    assert.deepEqual(await read(), changed);
  });
});
