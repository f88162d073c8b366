/** Decisions on the links with which people set a password or become users. Commands carry digests of their secrets only. */
import type { PasswordLink } from '../../domain/access/links.ts';
import { roleIdByName } from '../../domain/access/roles.ts';
import { INVITATIONS_MAX, INVITED_USERS_MAX, type Invitation } from '../../domain/kinds/invitation.ts';
import { withFields } from '../../domain/kinds/kind.ts';
import { refuseIdentity } from '../../domain/people/identity.ts';
import { isExpired } from '../../domain/people/token-commands.ts';
import type { DecideContext, Decision } from '../../domain/state/decision.ts';
import { ABOUT_NOTHING, recordChange } from '../../domain/state/events.ts';
import { locatePerson } from '../../domain/state/locate.ts';
import { invalid, invalidOperation, isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import type { User, World } from '../../domain/state/world.ts';
import { passwordSet } from './password-commands.ts';

interface CreatePasswordLink {
  readonly userId: number;
  readonly digest: string;
  readonly lifetimeMs: number;
}

/** An earlier link of the user is good no more. */
export function createPasswordLink(
  world: World,
  { userId, digest, lifetimeMs }: CreatePasswordLink,
  { now }: DecideContext,
): Decision {
  const user = locatePerson(world, userId);
  if (isRefusal(user)) return user;
  const before = passwordLinkOf(world, userId);
  const expiresAt = new Date(Date.parse(now) + lifetimeMs).toISOString();
  return [
    {
      type: 'user-updated',
      ...ABOUT_NOTHING,
      data: { ...user, passwordLinkExpiresAt: expiresAt },
      preData: { ...user, passwordLinkExpiresAt: before?.expiresAt ?? null },
      hidden: { linkDigest: digest, linkExpiresAt: expiresAt },
    },
  ];
}

function passwordLinkOf({ directory }: World, userId: number): PasswordLink | undefined {
  for (const link of directory.passwordLinks.values()) if (link.userId === userId) return link;
  return undefined;
}

interface UsePasswordLink {
  readonly digest: string;
  /** The hash of the new password. */
  readonly hash: string;
}

/** The link is good no more afterwards, and neither are the sessions of the user. */
export function usePasswordLink(
  world: World,
  { digest, hash }: UsePasswordLink,
  { now, clockMs }: DecideContext,
): Decision {
  const link = goodPasswordLink(world, digest, clockMs);
  if (isRefusal(link)) return link;
  const user = locatePerson(world, link.userId);
  return isRefusal(user) ? user : passwordSet(world, user, { hash, now });
}

/** One message for an unknown, used or expired link, so that it does not reveal which. */
const NO_LINK = notFound('This link is not valid, or no longer; ask an Admin for another one.');

export function goodPasswordLink(world: World, digest: string, clockMs: number): PasswordLink | Refusal {
  const link = world.directory.passwordLinks.get(digest);
  return link === undefined || isExpired(link.expiresAt, clockMs) ? NO_LINK : link;
}

interface CreateInvitation {
  readonly digest: string;
  readonly name: string;
  readonly expiresAt: string;
}

/** Makes an invitation; users who come by it are Viewers. */
export function createInvitation(
  world: World,
  { digest, name, expiresAt }: CreateInvitation,
  { now, clockMs, actor }: DecideContext,
): Decision {
  if (world.directory.invitations.size >= INVITATIONS_MAX) {
    return invalidOperation(`The limit is ${INVITATIONS_MAX} invitations. Reuse an existing one.`);
  }
  const refusal = refusePast(expiresAt, clockMs);
  if (refusal !== null) return refusal;
  return recordChange('invitations', null, {
    digest,
    name,
    enabled: true,
    expiresAt,
    createdAt: now,
    createdBy: actor.name,
    rootRole: roleIdByName('Viewer'),
    users: [],
  });
}

const refusePast = (expiresAt: string, clockMs: number): Refusal | null =>
  isExpired(expiresAt, clockMs)
    ? invalid(`An invitation must expire in the future, not at ${expiresAt}.`, '/body/expiresAt')
    : null;

interface UpdateInvitation {
  readonly digest: string;
  /** An undefined field keeps its value. */
  readonly enabled?: boolean | undefined;
  readonly expiresAt?: string | undefined;
}

export function updateInvitation(
  world: World,
  { digest, enabled, expiresAt }: UpdateInvitation,
  { clockMs }: DecideContext,
): Decision {
  const invitation = world.directory.invitations.get(digest);
  if (invitation === undefined) return notFound('There is no such invitation.');
  const refusal = expiresAt === undefined ? null : refusePast(expiresAt, clockMs);
  return refusal ?? recordChange('invitations', invitation, withFields(invitation, { enabled, expiresAt }));
}

interface SignUp {
  /** The digest of the invitation. */
  readonly digest: string;
  readonly fields: Pick<User, 'name' | 'username' | 'email'>;
  readonly passwordHash: string;
}

export function signUp(
  world: World,
  { digest, fields, passwordHash }: SignUp,
  { now, clockMs }: DecideContext,
): Decision {
  const invitation = goodInvitation(world, digest, clockMs);
  if (isRefusal(invitation)) return invitation;
  const { name, rootRole, users } = invitation;
  if (users.length >= INVITED_USERS_MAX) {
    return invalidOperation(`This invitation has reached its limit of ${INVITED_USERS_MAX} users.`);
  }
  const user: User = {
    id: world.directory.lastUserId + 1,
    name: fields.name,
    username: fields.username,
    email: fields.email,
    ...(fields.email !== null && { emailVouchedBy: 'nobody' }),
    rootRole,
    createdAt: now,
  };
  const refusal = refuseIdentity(world, user, null, 'nobody');
  if (refusal !== null) return refusal;
  return [
    { type: 'user-created', ...ABOUT_NOTHING, data: user, preData: null, hidden: { passwordHash } },
    {
      type: 'public-signup-token-user-added',
      ...ABOUT_NOTHING,
      data: { name, userId: user.id },
      preData: null,
      hidden: { digest },
    },
  ];
}

/** One message for an unknown, disabled or expired invitation, so that it does not reveal which. */
const NO_INVITATION = notFound('This invitation is not valid, or no longer; ask an Admin for another one.');

export function goodInvitation(world: World, digest: string, clockMs: number): Invitation | Refusal {
  const invitation = world.directory.invitations.get(digest);
  const isGood = invitation?.enabled && !isExpired(invitation.expiresAt, clockMs);
  return isGood ? invitation : NO_INVITATION;
}
