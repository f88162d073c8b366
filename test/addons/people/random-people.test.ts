/** Made-up commands on what people sign in with, among commands of every type: what always holds of the state that they leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import {
  createInvitation,
  createPasswordLink,
  signUp,
  updateInvitation,
  usePasswordLink,
} from '../../../src/addons/people/link-commands.ts';
import { setPassword } from '../../../src/addons/people/password-commands.ts';
import { signInByProvider } from '../../../src/addons/people/provider-commands.ts';
import { beginSession, endSession, endSessions } from '../../../src/addons/people/session-commands.ts';
import { type Command, ownCommand } from '../../../src/domain/decide/decide.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { commandRuns, commandsOn } from '../../support/random-commands.ts';
import { anyText, pick, type ValueRandom } from '../../support/random-values.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';

const EXPIRY = '2999-01-01T00:00:00.000Z';

function choices(random: ValueRandom, { directory }: World): Readonly<Record<string, Command>> {
  const yes = (): boolean => random.chance(0.5);
  const digest = () =>
    random
      .below(2 ** 31)
      .toString(16)
      .padStart(64, '0');
  const one = (known: Iterable<string>): string => pick(random, [...known, digest()]);
  const userId = pick(random, [...directory.users.keys()]);
  const hash = `$scrypt$ln=15,r=8,p=3$${digest().slice(-22)}$${'k'.repeat(43)}`;
  const name = yes() ? null : anyText(random);
  const token = yes() ? directory.personalTokens.values().next().value : undefined;
  const lifetimeMs = pick(random, [1, 1_000, 1e8]);
  const profile = {
    email: yes() ? null : `${pick(random, ['ada', 'Bob', 'toString'])}@sso.example`,
    username: yes() ? null : pick(random, ['ada', 'Größe']),
    name,
  };
  const rules = {
    roles: [['developers', 'Editor']] as const,
    defaultRole: yes() ? 'Viewer' : null,
    admins: [],
  };
  const checked = yes() ? null : (directory.passwords.get(userId)?.hash ?? null);
  return {
    link: ownCommand({ sent: { userId, digest: digest(), lifetimeMs }, decide: createPasswordLink }),
    linkUsed: ownCommand({
      ...{ sent: { digest: one(directory.passwordLinks.keys()), hash }, decide: usePasswordLink },
    }),
    invitation: ownCommand({
      ...{ sent: { digest: digest(), name: anyText(random), expiresAt: EXPIRY }, decide: createInvitation },
    }),
    invitationChanged: ownCommand({
      ...{ sent: { digest: one(directory.invitations.keys()), enabled: yes() }, decide: updateInvitation },
    }),
    signedUp: ownCommand({
      sent: {
        digest: one(directory.invitations.keys()),
        fields: { username: `user-${random.below(5)}`, name, email: null },
        passwordHash: hash,
      },
      decide: signUp,
    }),
    password: ownCommand({ sent: { userId, hash, checked }, decide: setPassword }),
    session: ownCommand({
      sent: {
        ...{ digest: digest(), userId: token?.userId ?? userId, tokenDigest: token?.digest ?? null },
        ...{ begunWith: token === undefined ? 'password' : 'token', lifetimeMs },
      },
      decide: beginSession,
    }),
    sessionEnded: ownCommand({ sent: { digest: one(directory.sessions.keys()) }, decide: endSession }),
    sessionsEnded: ownCommand({ sent: { userId, tokenDigest: null }, decide: endSessions }),
    provider: ownCommand({
      sent: {
        identity: { issuer: 'https://provider.example', subject: digest() },
        ...{ profile, groups: yes() ? [] : ['developers'], rules },
        session: { digest: digest(), lifetimeMs: 1_000 },
      },
      decide: signInByProvider,
    }),
  };
}

test('what people sign in with counts its memory, and replays to the same state; each command is met', () => {
  const carriedOut = new Set<string>();
  let names: readonly string[] = [];
  fc.assert(
    fc.property(commandRuns(20, 80), (run) => {
      const state = new TestWorld();
      const random = { ...seededRandom(run.seed), longTexts: false as const };
      for (const command of commandsOn(state, run)) {
        state.run(command);
        const all = choices(random, state.world);
        names = Object.keys(all);
        const name = pick(random, names);
        const before = stateHash(state.world);
        const decision = state.decide(all[name]!);
        assert.equal(stateHash(state.world), before, 'deciding changes nothing');
        if (isRefusal(decision)) continue;
        state.record(decision);
        if (decision.length > 0) carriedOut.add(name);
        assert.equal(stateBytes(state.world), recountStateBytes(state.world));
      }
      const replayed = new TestWorld([]);
      for (const frame of JSON.parse(JSON.stringify(state.frames))) replayed.record(frame);
      assert.equal(stateHash(replayed.world), stateHash(state.world));
    }),
    { seed: 1, numRuns: 40 },
  );
  assert.deepEqual([...carriedOut].sort(), names.toSorted());
});
