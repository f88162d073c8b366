/** Groups of users, which hold roles as users do (docs/specification/membership.md#groups). */
import * as v from 'valibot';
import { described, IdSchema, Integer, lineOfText, list, TEXT_LENGTH_MAX } from '../json/schema.ts';
import { Id, RoleName, Text, Time } from './document-values.ts';
import { managedKind, type RecordWith } from './kind.ts';

export const GROUPS_MAX = 1_000;
export const GROUP_USERS_MAX = 1_000;
export const GROUP_BYTES_MAX = 64 * 1024;
const MAPPINGS_MAX = 100;

const SENT = {
  name: lineOfText('a name', 1, TEXT_LENGTH_MAX),
  description: v.optional(v.nullable(lineOfText('a description', 0, TEXT_LENGTH_MAX))),
  rootRole: v.optional(
    described(
      v.nullable(IdSchema),
      'A role id, which every user of the group then has as a root role beside their own.',
    ),
  ),
  mappingsSSO: v.optional(
    v.pipe(
      list(lineOfText('a name', 0, TEXT_LENGTH_MAX), 'a list of names'),
      v.maxLength(MAPPINGS_MAX, `a list of at most ${MAPPINGS_MAX} names`),
      v.description(
        'Names of groups of a provider of OpenID Connect, whose people join this group when they sign in.',
      ),
    ),
  ),
  users: v.optional(
    v.pipe(
      list(
        v.pipe(
          v.object({ user: v.object({ id: IdSchema }) }),
          v.transform(({ user }) => user.id),
        ),
        'a list of users such as { "user": { "id": 1 } }',
      ),
      v.maxLength(GROUP_USERS_MAX, `a list of at most ${GROUP_USERS_MAX} users`),
      v.description('All users that the group shall have.'),
    ),
  ),
} as const;

const ADDED = { id: Id, createdAt: Time, createdBy: v.string() } as const;

export type Group = RecordWith<typeof SENT, typeof ADDED>;

/**
 * `rootRole`: null where the group gives no root role. `mappingsSSO`: names of groups of a provider of OpenID Connect, whose
 * people join this group when they sign in. `users`: ascending. `createdBy`: name of the user or token that made it.
 */
const DocumentSchema = v.object({
  id: Id,
  name: Text,
  description: v.nullable(v.string()),
  rootRole: v.nullable(RoleName),
  mappingsSSO: v.array(v.string()),
  users: v.pipe(v.array(Id), v.description('Ids of users.')),
  createdAt: Time,
  createdBy: v.string(),
});

/** The group without a user whom it has once. A copy of the list that is then cut takes a tenth of the time of a filter. */
export function withoutUser(group: Group, userId: number): Group {
  const users = group.users.slice();
  users.splice(users.indexOf(userId), 1);
  return { ...group, users };
}

export const GROUP = managedKind({
  noun: 'group',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: { created: 'group-created', changed: ['group-updated'], deleted: 'group-deleted' },
  sent: SENT,
  added: ADDED,
  document: DocumentSchema,
  lastId: 'lastGroupId',
  uniqueFolded: ['name'],
  refersTo: { rootRole: 'root role', users: 'user' },
  defaults: { description: null, rootRole: null, mappingsSSO: [], users: [] },
  normal: (group) => ({ ...group, users: [...new Set(group.users)].sort((a, b) => a - b) }),
  countMax: GROUPS_MAX,
  bytesMax: GROUP_BYTES_MAX,
  compare: (one, other) => one.id - other.id,
  routes: {
    path: '/groups',
    param: 'id',
    tag: 'Users',
    permission: 'admin',
    list: { id: 'getGroups', summary: 'List the groups with their users.', field: 'groups' },
    create: { id: 'createGroup', summary: 'Create a group of users.' },
    read: { id: 'getGroup', summary: 'Read a group.' },
    update: { id: 'updateGroup', summary: 'Change a group; what is absent keeps its value.' },
    remove: { id: 'deleteGroup', summary: 'Delete a group with its roles in projects. Its users stay.' },
    doneStatus: 200,
    updateShows: true,
    body: 'GroupInput',
    shown: {
      description: v.exactOptional(v.string()),
      rootRole: described(v.exactOptional(Integer), 'A role id; left out where it gives none.'),
    },
  },
});
