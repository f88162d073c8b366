/** Schemas of responses about roles, permissions and groups. */
import * as v from 'valibot';
import { described, Integer, Timestamp, titled, Version } from '../../domain/json/schema.ts';
import { FoundUserSchema, PersonalTokenSchema, RoleSchema } from './directory-schemas.ts';
import { shownFields } from './record-schemas.ts';
import { CompanionUserSchema, NAMES } from './schemas.ts';

/** Clients of this interface refuse fields that they do not know, and null where there is no environment. */
export const PermissionSchema = titled('Permission', {
  id: Integer,
  name: v.string(),
  displayName: v.string(),
  type: described(v.picklist(['root', 'project', 'environment']), 'Where it holds.'),
  environment: v.exactOptional(v.string()),
});

export const PermissionsSchema = titled('Permissions', {
  version: Version,
  permissions: v.object({
    root: v.array(PermissionSchema),
    project: v.array(PermissionSchema),
    environments: v.array(v.object({ name: v.string(), permissions: v.array(PermissionSchema) })),
  }),
});

export const RoleWithPermissionsSchema = titled('RoleWithPermissions', {
  id: Integer,
  name: v.string(),
  type: RoleSchema.entries.type,
  description: v.string(),
  permissions: v.array(PermissionSchema),
});

const { users: _, ...GROUP_OWN_FIELDS } = shownFields('groups');
const GROUP_FIELDS = { ...GROUP_OWN_FIELDS, userCount: Integer };

export const GroupSummarySchema = titled('GroupSummary', GROUP_FIELDS);

const GroupUsersSchema = v.array(v.object({ user: FoundUserSchema }));

export const GroupSchema = titled('Group', {
  ...GROUP_FIELDS,
  users: GroupUsersSchema,
  projects: described(v.array(v.string()), 'Ids of projects in which it has a role.'),
});

/** Clients of this interface refuse fields that they do not know. */
export const ServiceAccountSchema = titled('ServiceAccount', {
  id: Integer,
  isAPI: v.literal(false),
  ...NAMES,
  imageUrl: v.string(),
  rootRole: described(Integer, 'A role id.'),
  seenAt: described(v.null(), 'The tokens say when they were used last.'),
  createdAt: Timestamp,
  tokens: v.array(PersonalTokenSchema),
});

export const ServiceAccountsSchema = titled('ServiceAccounts', {
  serviceAccounts: v.array(ServiceAccountSchema),
  rootRoles: v.array(RoleSchema),
});

export const UsersAndGroupsSchema = titled('UsersAndGroups', {
  users: v.array(FoundUserSchema),
  groups: v.array(GroupSummarySchema),
});

export const ProjectGroupSchema = titled('ProjectGroup', {
  ...GROUP_FIELDS,
  users: described(v.exactOptional(GroupUsersSchema), 'Left out in the response to a write.'),
  roleId: Integer,
  roles: v.array(Integer),
});

export const ProjectAccessSchema = titled('ProjectAccess', {
  version: Version,
  users: v.array(
    titled('ProjectMember', { ...CompanionUserSchema.entries, roleId: Integer, roles: v.array(Integer) }),
  ),
  groups: v.array(ProjectGroupSchema),
  roles: v.array(RoleSchema),
});

export const ResetPasswordSchema = titled('ResetPasswordLink', {
  resetPasswordUrl: described(
    v.string(),
    'Good once, and for a day; shown only here. The server sends no email.',
  ),
});

const INVITATION_FIELDS = {
  name: v.string(),
  enabled: v.boolean(),
  expiresAt: Timestamp,
  createdAt: Timestamp,
  createdBy: v.string(),
  users: described(v.array(FoundUserSchema), 'Who came by it, and is still there.'),
  role: RoleSchema,
} as const;

export const InvitationSchema = titled('Invitation', {
  secret: described(v.string(), 'Its digest, in the place of the secret.'),
  url: described(v.null(), 'Only the response that made the invitation shows it.'),
  ...INVITATION_FIELDS,
});

export const NewInvitationSchema = titled('NewInvitation', {
  secret: described(v.string(), 'Shown in this response and never again.'),
  url: described(v.string(), 'For the Admin to hand on.'),
  ...INVITATION_FIELDS,
});

export const InvitationsSchema = titled('Invitations', { tokens: v.array(InvitationSchema) });

export const LinkUserSchema = titled('LinkUser', {
  id: Integer,
  ...NAMES,
  email: described(v.string(), 'Empty for a user without one.'),
  token: v.string(),
  createdBy: v.null(),
  role: RoleSchema,
});

export const InvitedUserSchema = titled('InvitedUser', { ...FoundUserSchema.entries, rootRole: Integer });
