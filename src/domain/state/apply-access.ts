/** `apply` for events that change rights: users, their passwords, links and sessions. */
import { makingRoom, type Session } from '../access/sessions.ts';
import { withoutUser } from '../kinds/group.ts';
import type { AccessEvent, EventStamp, HiddenOfUser, InvitationData, SessionEvent } from './events.ts';
import { dropFavorites } from './favorites.ts';
import { dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import { type ApiToken, identityKey, type World } from './world.ts';

export function applyAccessEvent(world: World, event: AccessEvent, { rules }: EventStamp): void {
  const { directory } = world;
  switch (event.type) {
    case 'user-created':
      directory.lastUserId = Math.max(directory.lastUserId, event.data.id);
      putRecord(world, directory.users, event.data.id, event.data);
      putSignIn(world, event.data.id, event.hidden, event.data.createdAt);
      return;
    case 'user-updated': {
      const { data, hidden } = event;
      if (hidden === undefined || hidden.identity !== undefined)
        putRecord(world, directory.users, data.id, data);
      putSignIn(world, data.id, hidden, data.passwordChangedAt ?? data.createdAt);
      return;
    }
    case 'service-account-created':
    case 'service-account-updated':
      directory.lastUserId = Math.max(directory.lastUserId, event.data.id);
      putRecord(world, directory.users, event.data.id, event.data);
      return;
    case 'service-account-deleted':
    case 'user-deleted':
      dropRecord(world, directory.users, event.preData.id);
      dropFavorites(world, event.preData.id);
      dropSessions(world, ({ userId }) => userId === event.preData.id);
      dropRecord(world, directory.passwords, event.preData.id);
      dropPasswordLinks(world, event.preData.id);
      if (rules >= NAMES_GO_WITH_DELETED) leaveGroups(world, event.preData.id);
      for (const [key, { userId }] of directory.identities)
        if (userId === event.preData.id) dropRecord(world, directory.identities, key);
      return;
    case 'public-signup-token-created':
    case 'public-signup-token-updated':
      return putInvitation(world, event.hidden.digest, event.data);
    case 'public-signup-token-user-added':
      return addInvited(world, event.hidden.digest, event.data.userId);
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

/**
 * Sessions come and go all day, and nothing but them depends on them: they leave the revisions alone that responses are
 * compared by. Which sessions make room for a new one depends on recorded times only, so replay drops the same.
 */
export function applySessionEvent(world: World, event: SessionEvent, stamp: EventStamp): void {
  const { directory } = world;
  directory.sessionsRevision = stamp.id;
  const { digest, tokenDigest } = event.hidden;
  if (event.type === 'pat-deleted') return dropRecord(world, directory.sessions, digest);
  const { id, userId, createdAt, expiresAt, session: begunWith } = event.data;
  const isOfUser = directory.users.has(userId);
  const added: Session = {
    ...{ id, digest, userId: isOfUser ? userId : null },
    ...{ tokenDigest, begunWith, createdAt, expiresAt },
  };
  for (const old of makingRoom(directory.sessions.values(), added)) {
    dropRecord(world, directory.sessions, old.digest);
  }
  directory.lastPersonalTokenId = Math.max(directory.lastPersonalTokenId, id);
  putRecord(world, directory.sessions, digest, added);
}

function leaveGroups(world: World, userId: number): void {
  const { groups } = world.directory;
  for (const group of groups.values()) {
    if (group.users.includes(userId)) putRecord(world, groups, group.id, withoutUser(group, userId));
  }
}

/** Tokens for nothing but the project are deleted with it; those for others too stay valid for them. */
export function dropProjectFromTokens(world: World, project: string): void {
  const { apiTokens } = world.directory;
  const narrowed = [...apiTokens.values()].filter(({ projects }) => projects.includes(project));
  for (const token of narrowed) {
    const projects = token.projects.filter((id) => id !== project);
    if (projects.length > 0) putRecord(world, apiTokens, token.digest, { ...token, projects });
  }
  dropTokens(world, new Set(narrowed.filter(({ projects }) => projects.every((id) => id === project))));
}

export function dropTokensOfEnvironment(world: World, environment: string): void {
  const tokens = [...world.directory.apiTokens.values()];
  dropTokens(world, new Set(tokens.filter((token) => token.environment === environment)));
}

function dropTokens(world: World, tokens: ReadonlySet<ApiToken>): void {
  if (tokens.size === 0) return;
  for (const { digest } of tokens) dropRecord(world, world.directory.apiTokens, digest);
  const digests = new Set(Array.from(tokens, ({ digest }) => digest));
  dropSessions(world, ({ tokenDigest }) => tokenDigest !== null && digests.has(tokenDigest));
}

export function dropSessions(world: World, isOver: (session: Session) => boolean): void {
  const { sessions } = world.directory;
  for (const session of sessions.values()) if (isOver(session)) dropRecord(world, sessions, session.digest);
}

/** A password ends the link with which it may have been set, and a link the one before it. */
function putSignIn(world: World, userId: number, hidden: HiddenOfUser | undefined, changedAt: string): void {
  if (hidden === undefined) return;
  const { passwords, identities, passwordLinks } = world.directory;
  if (hidden.identity !== undefined) {
    const { issuer, subject } = hidden.identity;
    putRecord(world, identities, identityKey(issuer, subject), { issuer, subject, userId });
    if (hidden.endsPassword !== true) return;
    dropRecord(world, passwords, userId);
    dropPasswordLinks(world, userId);
    return;
  }
  dropPasswordLinks(world, userId);
  if (hidden.passwordHash !== undefined) {
    putRecord(world, passwords, userId, { userId, hash: hidden.passwordHash, changedAt });
    return;
  }
  const { linkDigest: digest, linkExpiresAt: expiresAt } = hidden;
  putRecord(world, passwordLinks, digest, { digest, userId, expiresAt });
}

function dropPasswordLinks(world: World, userId: number): void {
  const { passwordLinks } = world.directory;
  for (const link of passwordLinks.values())
    if (link.userId === userId) dropRecord(world, passwordLinks, link.digest);
}

function putInvitation(world: World, digest: string, data: InvitationData): void {
  putRecord(world, world.directory.invitations, digest, { ...data, digest });
}

function addInvited(world: World, digest: string, userId: number): void {
  const { invitations } = world.directory;
  const invitation = invitations.get(digest);
  if (invitation === undefined) throw new Error(`the user ${userId} came by an invitation that is not there`);
  putRecord(world, invitations, digest, { ...invitation, users: [...invitation.users, userId] });
}
