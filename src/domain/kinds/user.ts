/**
 * Users: people, who sign in, and service accounts, which are programs that act under a name, a role and memberships of their
 * own (docs/specification/users.md). Both are kept among the users, with shared ids and names, and differ in their events.
 */
import * as v from 'valibot';
import { isEmail } from '../access/email.ts';
import { Id, RoleName, Text, Time } from './document-values.ts';
import { type Immutable, kind, type WithRoleId } from './kind.ts';

/** An Admin who gave or confirmed it, a provider of OpenID Connect that has verified it, or the user alone. */
const EMAIL_VOUCHERS = ['admin', 'provider', 'nobody'] as const;
export type EmailVoucher = (typeof EMAIL_VOUCHERS)[number];

/**
 * `emailVouchedBy`: absent for an Admin, and in data of builds that did not record it (people/identity.ts). `isService`: present
 * for a service account, which has no password, and is in no list of users.
 */
const DocumentSchema = v.pipe(
  v.object({
    id: Id,
    name: v.nullable(v.string()),
    username: v.nullable(Text),
    email: v.nullable(v.pipe(Text, v.check(isEmail, 'an email address'))),
    emailVouchedBy: v.exactOptional(
      v.pipe(
        v.picklist(EMAIL_VOUCHERS),
        v.description('Who says that the email is theirs. An Admin, where it is left out.'),
      ),
    ),
    rootRole: RoleName,
    createdAt: Time,
    isService: v.exactOptional(v.literal(true)),
  }),
  v.check(({ email, username }) => email !== null || username !== null, 'An email or username is required.'),
);

export type User = WithRoleId<Immutable<v.InferOutput<typeof DocumentSchema>>>;

export const USER = kind({
  noun: 'user',
  since: { release: '0.1.0', contentVersion: 1, documentVersion: 1 },
  events: { created: 'user-created', changed: ['user-updated'], deleted: 'user-deleted' },
  document: DocumentSchema,
  idOf: ({ id }: User) => id,
  lastId: 'lastUserId',
  unique: ['id', 'username'],
  uniqueFolded: ['email'],
  refersTo: { rootRole: 'root role' },
});

export const SERVICE_ACCOUNT = kind({
  ...USER,
  noun: 'service account',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: {
    created: 'service-account-created',
    changed: ['service-account-updated'],
    deleted: 'service-account-deleted',
  },
});
