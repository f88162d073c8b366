/**
 * API tokens, which applications and programs call with, and personal tokens, which are those of users. The secret itself is
 * stored nowhere: a token goes by the SHA-256 of it, hexadecimal.
 */
import * as v from 'valibot';
import { Digest, Id, Text, Time } from './document-values.ts';
import { type Immutable, kind } from './kind.ts';

/** `seed`: from which the secret can be made again with the key of the server's environment; absent without such a key. */
const ApiTokenSchema = v.object({
  digest: Digest,
  tokenName: Text,
  type: v.picklist(['admin', 'client', 'frontend'], 'one of admin, client, frontend'),
  projects: v.pipe(v.array(Text), v.minLength(1, 'a list of at least one project, or *')),
  environment: Text,
  createdAt: Time,
  expiresAt: v.nullable(Time),
  seed: v.exactOptional(Text),
});

export const API_TOKEN = kind({
  noun: 'API token',
  since: { release: '0.1.0', contentVersion: 1, documentVersion: 1 },
  events: { created: 'api-token-created', changed: ['api-token-updated'], deleted: 'api-token-deleted' },
  document: ApiTokenSchema,
  idOf: ({ digest }: Immutable<v.InferOutput<typeof ApiTokenSchema>>) => digest,
  unique: ['digest'],
  refersTo: { environment: 'environment or *', projects: 'project or *' },
});

const PersonalTokenSchema = v.object({
  id: Id,
  userId: Id,
  digest: Digest,
  description: v.string(),
  createdAt: Time,
  expiresAt: Time,
});

export const PERSONAL_TOKEN = kind({
  noun: 'personal token',
  since: { release: '0.1.0', contentVersion: 1, documentVersion: 1 },
  events: { created: 'pat-created', changed: [], deleted: 'pat-deleted' },
  document: PersonalTokenSchema,
  idOf: ({ digest }: Immutable<v.InferOutput<typeof PersonalTokenSchema>>) => digest,
  lastId: 'lastPersonalTokenId',
  unique: ['digest', 'id'],
  refersTo: { userId: 'user' },
});
