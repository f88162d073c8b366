/** A sign-in while the memory is full: whoever makes room has to sign in first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signInByProvider } from '../../../src/addons/people/provider-commands.ts';
import { type Command, ownCommand } from '../../../src/domain/decide/decide.ts';
import { TestWorld } from '../../support/test-world.ts';

const signIn = (name: string, session: string): Command =>
  ownCommand({
    sent: {
      identity: { issuer: 'https://provider.example', subject: 'ada' },
      profile: { email: 'ada@example.com', username: null, name },
      groups: [],
      rules: { roles: [], defaultRole: 'Viewer', admins: [] },
      session: { digest: session.repeat(64), lifetimeMs: 3_600_000 },
    },
    decide: signInByProvider,
  });

test('a full memory lets users in whose name has changed at the provider, as long as it is no longer', () => {
  const state = new TestWorld().given(signIn('Ada Lovelace', 'a'));
  state.memoryBudgetBytes = 0;
  assert.equal(state.run(signIn('Ada Lovelace, Countess', 'b')), 'InsufficientStorageError');
  assert.deepEqual(state.run(signIn('Ada King', 'c')), ['user-updated', 'pat-created']);
  assert.deepEqual(state.run(signIn('Ada King', 'd')), ['pat-created']);
});
