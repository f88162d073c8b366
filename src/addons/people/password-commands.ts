/**
 * Decisions on passwords of users. Commands carry the hash of a password and never the password itself; events carry the
 * hash in a field that no reader sees.
 */
import { type DecideContext, type Decision, UNCHANGED } from '../../domain/state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../../domain/state/events.ts';
import { locatePerson } from '../../domain/state/locate.ts';
import { invalidOperation, isRefusal } from '../../domain/state/refusal.ts';
import type { User, World } from '../../domain/state/world.ts';
import { sessionEnded } from './session-commands.ts';

interface SetPassword {
  readonly userId: number;
  readonly hash: string;
  /** The hash that the old password was held against; null where none was asked for. */
  readonly checked: string | null;
}

/** Sets a password, and ends the sessions that began with the old one. */
export function setPassword(
  world: World,
  { userId, hash, checked }: SetPassword,
  { now }: DecideContext,
): Decision {
  const user = locatePerson(world, userId);
  if (isRefusal(user)) return user;
  const before = world.directory.passwords.get(userId);
  if (before?.hash === hash) return UNCHANGED;
  if (checked !== null && before?.hash !== checked) {
    return invalidOperation(`The password of the user ${userId} was changed meanwhile; nothing was changed.`);
  }
  return passwordSet(world, user, { hash, now });
}

interface NewPassword {
  readonly hash: string;
  /** ISO 8601, UTC. */
  readonly now: string;
}

/** The events that record a password, and end the sessions of its user. */
export function passwordSet(world: World, user: User, { hash, now }: NewPassword): readonly DomainEvent[] {
  const { passwords, sessions } = world.directory;
  const ended = [...sessions.values()].filter(({ userId }) => userId === user.id);
  return [
    {
      type: 'user-updated',
      ...ABOUT_NOTHING,
      data: { ...user, passwordChangedAt: now },
      preData: { ...user, passwordChangedAt: passwords.get(user.id)?.changedAt ?? null },
      hidden: { passwordHash: hash },
    },
    ...ended.map(sessionEnded),
  ];
}
