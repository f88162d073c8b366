/**
 * Invitations: links by which people become users, good until they expire or are switched off (docs/specification/users.md#links).
 * Each goes by the digest of its secret. State documents leave them out: after an import, people are invited again.
 */
import * as v from 'valibot';
import { Digest, Id, RoleName, Time } from './document-values.ts';
import { type Immutable, kind, type WithRoleId } from './kind.ts';

export const INVITATIONS_MAX = 100;

/** Users who come by one invitation. One that leaks makes no more of them. */
export const INVITED_USERS_MAX = 500;

/**
 * `createdBy`: name of who made it. `rootRole`: that of those who come by it. `users`: ids of those who came by it, in that order;
 * some may be gone.
 */
const DocumentSchema = v.object({
  digest: Digest,
  name: v.string(),
  enabled: v.boolean(),
  expiresAt: Time,
  createdAt: Time,
  createdBy: v.string(),
  rootRole: RoleName,
  users: v.array(Id),
});

export type Invitation = WithRoleId<Immutable<v.InferOutput<typeof DocumentSchema>>>;

/** None is deleted: it is switched off. */
export const INVITATION = kind({
  noun: 'invitation',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: { created: 'public-signup-token-created', changed: ['public-signup-token-updated'], deleted: null },
  document: DocumentSchema,
  idOf: ({ digest }: Invitation) => digest,
  unique: ['digest'],
  refersTo: { rootRole: 'root role' },
});
