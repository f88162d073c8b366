/** `apply` for what events change beside the records that they are about: passwords, links and sessions of users. */
import { makingRoom, type Session } from '../access/sessions.ts';
import { withoutUser } from '../kinds/group.ts';
import type { EventStamp, HiddenOfUser, KindEvent, SessionEvent } from './events.ts';
import { dropFavorites } from './favorites.ts';
import { dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import { type ApiToken, identityKey, type World } from './world.ts';

/** Whether the event leaves the record that it is about as it is: it records a password, or a link to set one. */
export const leavesRecord = (event: KindEvent): boolean =>
  event.type === 'user-updated' && event.hidden !== undefined && event.hidden.identity === undefined;

/** Applies what follows from an event about a record for what depends on that. */
export function applyConsequences(world: World, event: KindEvent, { rules }: EventStamp): void {
  switch (event.type) {
    case 'user-created':
      return putSignIn(world, event.data.id, event.hidden, event.data.createdAt);
    case 'user-updated':
      return putSignIn(
        world,
        event.data.id,
        event.hidden,
        event.data.passwordChangedAt ?? event.data.createdAt,
      );
    case 'user-deleted':
    case 'service-account-deleted':
      return dropAllOfUser(world, event.preData.id, rules);
    case 'api-token-deleted':
    case 'pat-deleted':
      // Sessions that a token began end with it.
      return dropSessions(world, ({ tokenDigest }) => tokenDigest === event.hidden.digest);
  }
}

function dropAllOfUser(world: World, id: number, rules: number): void {
  const { passwords, identities } = world.directory;
  dropFavorites(world, id);
  dropSessions(world, ({ userId }) => userId === id);
  dropRecord(world, passwords, id);
  dropPasswordLinks(world, id);
  if (rules >= NAMES_GO_WITH_DELETED) leaveGroups(world, id);
  for (const [key, { userId }] of identities) if (userId === id) dropRecord(world, identities, key);
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

export function addInvited(world: World, digest: string, userId: number): void {
  const { invitations } = world.directory;
  const invitation = invitations.get(digest);
  if (invitation === undefined) throw new Error(`the user ${userId} came by an invitation that is not there`);
  putRecord(world, invitations, digest, { ...invitation, users: [...invitation.users, userId] });
}
