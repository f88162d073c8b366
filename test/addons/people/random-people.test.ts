/** Made-up commands on what people sign in with, among commands of every type: what always holds of the state that they leave. */
import { test } from 'node:test';
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
import type { World } from '../../../src/domain/state/world.ts';
import { checkOwnCommands } from '../../support/own-commands.ts';
import { anyText, pick, type ValueRandom } from '../../support/random-values.ts';

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

test('what people sign in with counts its memory, and replays to the same state; each command is met', () =>
  checkOwnCommands({ numRuns: 40, timesMin: 1, choices }));
