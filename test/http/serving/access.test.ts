/** The caller for whom a token stands, and what it covers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiToken } from '../../../src/domain/state/world.ts';
import { Authenticator, digestOf } from '../../../src/http/serving/access.ts';
import { TestWorld } from '../../support/test-world.ts';

function callerOf(token: Pick<ApiToken, 'type' | 'projects' | 'environment'>) {
  const test = new TestWorld();
  const digest = digestOf('a-secret');
  test.given({ type: 'create-api-token', token: { tokenName: 'ci', expiresAt: null, digest, ...token } });
  const authenticator = new Authenticator({
    state: test,
    open: false,
    now: () => 0,
    onUse: () => undefined,
    usedAt: () => null,
    sessionIdleMs: 1,
  });
  return authenticator.authenticate('a-secret');
}

describe('a caller', () => {
  it('has the kind, the projects and the environment of its API token', () => {
    for (const type of ['client', 'frontend'] as const) {
      const caller = callerOf({ type, projects: ['default'], environment: 'production' });
      assert.equal(caller?.kind, type);
      assert.deepEqual(caller?.scope, { projects: ['default'], environment: 'production' });
      assert.deepEqual(caller?.roles, [], 'such a token has no rights of a user');
    }
  });

  it('with a token for every project covers those that are made later, too', () => {
    const caller = callerOf({ type: 'client', projects: ['*'], environment: 'development' });
    assert.deepEqual(caller?.scope, { projects: '*', environment: 'development' });
  });

  it('with an admin token covers everything', () => {
    const caller = callerOf({ type: 'admin', projects: ['*'], environment: '*' });
    assert.equal(caller?.kind, 'admin');
    assert.deepEqual(caller?.scope, { projects: '*', environment: '*' });
  });
});
