/** `apply` for what events change beside the records that they are about: passwords, links and sessions of users. */
import { makingRoom, type Session } from '../access/sessions.ts';
import { withoutUser } from '../kinds/group.ts';
import type { EventStamp, HiddenOfUser, KindEvent, SessionEvent } from './events.ts';
import { dropFavorites } from './favorites.ts';
import { dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import { type ApiToken, type Draft, directoryIn, identityKey } from './world.ts';

/** Whether the event leaves the record that it is about as it is: it records a password, or a link to set one. */
export const leavesRecord = (event: KindEvent): boolean =>
  event.type === 'user-updated' && event.hidden !== undefined && event.hidden.identity === undefined;

/** Applies what follows from an event about a record for what depends on that. */
export function applyConsequences(draft: Draft, event: KindEvent, { rules }: EventStamp): void {
  switch (event.type) {
    case 'user-created':
      return putSignIn(draft, event.data.id, event.hidden, event.data.createdAt);
    case 'user-updated':
      return putSignIn(
        draft,
        event.data.id,
        event.hidden,
        event.data.passwordChangedAt ?? event.data.createdAt,
      );
    case 'user-deleted':
    case 'service-account-deleted':
      return dropAllOfUser(draft, event.preData.id, rules);
    case 'api-token-deleted':
    case 'pat-deleted':
      // Sessions that a token began end with it.
      return dropSessions(draft, ({ tokenDigest }) => tokenDigest === event.hidden.digest);
  }
}

function dropAllOfUser(draft: Draft, id: number, rules: number): void {
  const directory = directoryIn(draft);
  dropFavorites(draft, id);
  dropSessions(draft, ({ userId }) => userId === id);
  dropRecord(draft, directory, 'passwords', id);
  dropPasswordLinks(draft, id);
  if (rules >= NAMES_GO_WITH_DELETED) leaveGroups(draft, id);
  for (const [key, { userId }] of [...directory.identities])
    if (userId === id) dropRecord(draft, directory, 'identities', key);
}

/**
 * Sessions begin and end all day, and nothing but them depends on them: they leave the revisions alone that responses are
 * compared by. Which sessions make room for a new one depends on recorded times only, so replay drops the same.
 */
export function applySessionEvent(draft: Draft, event: SessionEvent, stamp: EventStamp): void {
  const directory = directoryIn(draft);
  directory.sessionsRevision = stamp.id;
  const { digest, tokenDigest } = event.hidden;
  if (event.type === 'pat-deleted') return dropRecord(draft, directory, 'sessions', digest);
  const { id, userId, createdAt, expiresAt, session: begunWith } = event.data;
  const isOfUser = directory.users.has(userId);
  const added: Session = {
    ...{ id, digest, userId: isOfUser ? userId : null },
    ...{ tokenDigest, begunWith, createdAt, expiresAt },
  };
  for (const old of makingRoom(directory.sessions.values(), added))
    dropRecord(draft, directory, 'sessions', old.digest);
  directory.lastPersonalTokenId = Math.max(directory.lastPersonalTokenId, id);
  putRecord(draft, directory, 'sessions', [digest, added]);
}

function leaveGroups(draft: Draft, userId: number): void {
  const directory = directoryIn(draft);
  for (const group of [...directory.groups.values()])
    if (group.users.includes(userId))
      putRecord(draft, directory, 'groups', [group.id, withoutUser(group, userId)]);
}

/** Tokens for nothing but the project are deleted with it; those for others too stay valid for them. */
export function dropProjectFromTokens(draft: Draft, project: string): void {
  const directory = directoryIn(draft);
  const narrowed = [...directory.apiTokens.values()].filter(({ projects }) => projects.includes(project));
  for (const token of narrowed) {
    const projects = token.projects.filter((id) => id !== project);
    if (projects.length > 0) putRecord(draft, directory, 'apiTokens', [token.digest, { ...token, projects }]);
  }
  dropTokens(draft, new Set(narrowed.filter(({ projects }) => projects.every((id) => id === project))));
}

export function dropTokensOfEnvironment(draft: Draft, environment: string): void {
  const tokens = [...draft.directory.apiTokens.values()];
  dropTokens(draft, new Set(tokens.filter((token) => token.environment === environment)));
}

function dropTokens(draft: Draft, tokens: ReadonlySet<ApiToken>): void {
  if (tokens.size === 0) return;
  for (const { digest } of tokens) dropRecord(draft, directoryIn(draft), 'apiTokens', digest);
  const digests = new Set(Array.from(tokens, ({ digest }) => digest));
  dropSessions(draft, ({ tokenDigest }) => tokenDigest !== null && digests.has(tokenDigest));
}

export function dropSessions(draft: Draft, isOver: (session: Session) => boolean): void {
  for (const session of [...draft.directory.sessions.values()])
    if (isOver(session)) dropRecord(draft, directoryIn(draft), 'sessions', session.digest);
}

/** A password ends the link with which it may have been set, and a link the one before it. */
function putSignIn(draft: Draft, userId: number, hidden: HiddenOfUser | undefined, changedAt: string): void {
  if (hidden === undefined) return;
  const directory = directoryIn(draft);
  if (hidden.identity !== undefined) {
    const { issuer, subject } = hidden.identity;
    const identity = { issuer, subject, userId };
    putRecord(draft, directory, 'identities', [identityKey(issuer, subject), identity]);
    if (hidden.endsPassword !== true) return;
    dropRecord(draft, directory, 'passwords', userId);
    dropPasswordLinks(draft, userId);
    return;
  }
  dropPasswordLinks(draft, userId);
  if (hidden.passwordHash !== undefined) {
    putRecord(draft, directory, 'passwords', [userId, { userId, hash: hidden.passwordHash, changedAt }]);
    return;
  }
  const { linkDigest: digest, linkExpiresAt: expiresAt } = hidden;
  putRecord(draft, directory, 'passwordLinks', [digest, { digest, userId, expiresAt }]);
}

function dropPasswordLinks(draft: Draft, userId: number): void {
  for (const link of [...draft.directory.passwordLinks.values()])
    if (link.userId === userId) dropRecord(draft, directoryIn(draft), 'passwordLinks', link.digest);
}

export function addInvited(draft: Draft, digest: string, userId: number): void {
  const directory = directoryIn(draft);
  const invitation = directory.invitations.get(digest);
  if (invitation === undefined) throw new Error(`the user ${userId} came by an invitation that is not there`);
  const users = [...invitation.users, userId];
  putRecord(draft, directory, 'invitations', [digest, { ...invitation, users }]);
}
