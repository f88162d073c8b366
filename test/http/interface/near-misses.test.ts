/** A name with a typing error, or an item at fault in a list: the error says which name was meant, and where. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { invalidAt, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('an error about a name', (server) => {
  const messageOf = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await server().call(method, path, body);
    assert(response.status >= 400, path);
    return response.body.message;
  };

  it('names the project, flag or environment that is nearest', async () => {
    await makeFlag(server().call, 'new-checkout');
    const flag = '/projects/default/features/new-checkout';
    const meant: readonly (readonly [string, string, string])[] = [
      ['GET', '/projects/defualt', 'default'],
      ['GET', '/projects/defualt/features/new-checkout', 'default'],
      ['GET', '/projects/default/features/new-chekout', 'new-checkout'],
      ['POST', '/archive/revive/new-chekout', 'new-checkout'],
      ['POST', `${flag}/environments/prodution/on`, 'production'],
      ['GET', '/environments/prodution', 'production'],
    ];
    for (const [method, path, name] of meant) {
      assert.match(await messageOf(method, path), new RegExp(` Did you mean "${name}"\\?$`), path);
    }
  });

  it('names none where none is near', async () => {
    assert.match(await messageOf('GET', '/projects/default/features/unrelated'), /"default"\.$/);
  });
});

describeInterface('an error about an item of a list', (server) => {
  it('points at the second of two equal names', async () => {
    await makeFlag(server().call, 'twins');
    const variant = { name: 'red', weightType: 'variable', weight: 0, stickiness: 'default' };
    await invalidAt(server(), '/body/1/name', {
      method: 'PUT',
      path: '/projects/default/features/twins/variants',
      body: [variant, variant],
    });
    await invalidAt(server(), '/body/legalValues/2/value', {
      method: 'POST',
      path: '/context',
      body: { name: 'shade', legalValues: [{ value: 'a' }, { value: 'b' }, { value: 'a' }] },
    });
    await invalidAt(server(), '/body/parameters/1/name', {
      method: 'POST',
      path: '/strategies',
      body: {
        name: 'twin-parameters',
        parameters: [
          { name: 'p', type: 'string' },
          { name: 'p', type: 'string' },
        ],
      },
    });
  });

  it('points at the project that does not exist', async () => {
    const token = { tokenName: 'app', type: 'client', environment: 'development' };
    await invalidAt(server(), '/body/projects/1', {
      method: 'POST',
      path: '/api-tokens',
      body: { ...token, projects: ['default', 'defualt'] },
    });
  });
});
