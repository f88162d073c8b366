/**
 * No way in makes a flag grow beyond the limits that people live with: not by patches, clones or rollbacks either. What
 * is beyond them, because a setting was lowered, stays and can be read, switched and made smaller.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import '../../support/check-responses.ts';
import { addStrategy, environmentPath, FEATURES, makeFlag, refused } from '../../support/interface.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const STRATEGIES = `${environmentPath('held')}/strategies`;
const LIMITS = {
  STRATEGIES_PER_ENVIRONMENT_MAX: '3',
  CONSTRAINTS_PER_STRATEGY_MAX: '2',
  VALUES_PER_CONSTRAINT_MAX: '2',
  SEGMENTS_PER_STRATEGY_MAX: '1',
  PARAMETERS_BYTES_MAX: '100',
  VARIANTS_MAX: '2',
  TAGS_PER_FLAG_MAX: '2',
  DESCRIPTION_LENGTH_MAX: '20',
};

const constraint = (...values: string[]) => ({ contextName: 'userId', operator: 'IN', values });
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const variants = (count: number) => many(count, (index) => ({ name: `v${index}`, weight: 1 }));

describe('growth beyond the limits', () => {
  const env: Record<string, string> = {};
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ env });
    const { call } = server;
    await makeFlag(call, 'held', { description: 'x'.repeat(40) });
    for (const id of [1, 2]) await call('POST', '/segments', { name: `segment ${id}`, constraints: [] });
    await addStrategy(call, 'held', {
      constraints: many(4, () => constraint('a', 'b', 'c')),
      segments: [1],
      parameters: { text: 'x'.repeat(200) },
      variants: variants(4).map((one) => ({ ...one, stickiness: 'default' })),
    });
    for (let index = 0; index < 4; index += 1) await addStrategy(call, 'held');
    await call('PUT', `${FEATURES}/held/variants`, variants(4));
    for (const value of ['one', 'two', 'three']) await call('POST', '/features/held/tags', { value });
    // The settings are lowered: the folder holds what is beyond them from now on.
    await server.restart(() => Object.assign(env, LIMITS));
  });
  after(() => server.stop());

  it('is refused with 400 whichever way it comes, and the refusal names the setting', async () => {
    const { body: flag } = await server.call('GET', `${FEATURES}/held`);
    const [first] = flag.environments[0].strategies;
    const strategy = `${STRATEGIES}/${first.id}`;
    const add = (path: string, value: unknown) => [{ op: 'add', path, value }];
    const calls = [
      ['STRATEGIES_PER_ENVIRONMENT_MAX', 'POST', STRATEGIES, { name: 'default' }],
      ['CONSTRAINTS_PER_STRATEGY_MAX', 'PATCH', strategy, add('/constraints/-', constraint('a'))],
      ['VALUES_PER_CONSTRAINT_MAX', 'PATCH', strategy, add('/constraints/0/values/-', 'd')],
      ['SEGMENTS_PER_STRATEGY_MAX', 'PATCH', strategy, add('/segments/-', 2)],
      ['PARAMETERS_BYTES_MAX', 'PATCH', strategy, add('/parameters/more', 'y')],
      [
        'CONSTRAINTS_PER_STRATEGY_MAX',
        'PUT',
        strategy,
        { name: 'default', constraints: many(5, () => constraint('a')) },
      ],
      ['VARIANTS_MAX', 'PUT', `${FEATURES}/held/variants`, variants(5)],
      ['VARIANTS_MAX', 'PATCH', `${FEATURES}/held/variants`, add('/-', { name: 'w', weight: 1 })],
      ['VARIANTS_MAX', 'PUT', `${environmentPath('held', 'production')}/variants`, variants(5)],
      ['TAGS_PER_FLAG_MAX', 'POST', '/features/held/tags', { value: 'four' }],
      ['DESCRIPTION_LENGTH_MAX', 'PUT', `${FEATURES}/held`, { description: 'x'.repeat(41) }],
      [
        'DESCRIPTION_LENGTH_MAX',
        'PATCH',
        `${FEATURES}/held`,
        [{ op: 'replace', path: '/description', value: 'x'.repeat(41) }],
      ],
      ['DESCRIPTION_LENGTH_MAX', 'POST', FEATURES, { name: 'new', description: 'x'.repeat(21) }],
      ['MAX', 'POST', `${FEATURES}/held/clone`, { name: 'copy' }],
    ] as const;
    for (const [setting, method, path, body] of calls) {
      const response = await refused(server, 400, 'ValidationError', { method, path, body });
      assert.match(response.body.message, new RegExp(`the limit is [0-9]+ \\([A-Z_]*${setting}\\)\\.$`));
    }
  });

  it('is refused in a rollback and in its dry run', async () => {
    const { lastId } = server.server.store.engine;
    const { body: flag } = await server.call('GET', `${FEATURES}/held`);
    const last = flag.environments[0].strategies.at(-1);
    assert.equal((await server.call('DELETE', `${STRATEGIES}/${last.id}`)).status, 200);
    for (const query of ['?dryRun=true', '']) {
      const path = `${FEATURES}/held/rollback${query}`;
      const call = { method: 'POST', path, body: { eventId: lastId } };
      const { body } = await refused(server, 400, 'ValidationError', call);
      assert.match(
        body.message,
        /would have 5 strategies; the limit is 3 \(STRATEGIES_PER_ENVIRONMENT_MAX\)/,
      );
    }
  });

  it('hinders nobody to read, switch and shrink what is there, and to start with it again', async () => {
    await server.restart();
    const { call } = server;
    assert.equal((await call('GET', `${FEATURES}/held`)).status, 200);
    assert.equal((await call('POST', `${environmentPath('held')}/on`)).status, 200);
    assert.equal((await call('POST', `${environmentPath('held')}/off`)).status, 200);
    const { body: flag } = await call('GET', `${FEATURES}/held`);
    const [first] = flag.environments[0].strategies;
    const removal = [{ op: 'remove', path: '/constraints/0' }];
    assert.equal((await call('PATCH', `${STRATEGIES}/${first.id}`, removal)).status, 200);
    assert.equal((await call('PUT', `${FEATURES}/held/variants`, variants(3))).status, 200);
    assert.equal((await call('PUT', `${FEATURES}/held`, { description: 'x'.repeat(39) })).status, 200);
    assert.equal((await call('DELETE', '/features/held/tags/simple/one')).status, 200);
    assert.equal((await call('DELETE', `${STRATEGIES}/${first.id}`)).status, 200);
  });
});
