/** Schemas of responses about roles, permissions and groups. */
import * as v from 'valibot';
import {
  FoundUserSchema,
  Integer,
  PersonalTokenSchema,
  RoleSchema,
  Timestamp,
  Version,
} from './directory-schemas.ts';
import { CompanionUserSchema } from './schemas.ts';

/** Clients of this interface refuse fields that they do not know, and null where there is no environment. */
export const PermissionSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.string(),
    displayName: v.string(),
    type: v.pipe(v.picklist(['root', 'project', 'environment']), v.description('Where it holds.')),
    environment: v.exactOptional(v.string()),
  }),
  v.title('Permission'),
);

export const PermissionsSchema = v.pipe(
  v.object({
    version: Version,
    permissions: v.object({
      root: v.array(PermissionSchema),
      project: v.array(PermissionSchema),
      environments: v.array(v.object({ name: v.string(), permissions: v.array(PermissionSchema) })),
    }),
  }),
  v.title('Permissions'),
);

export const RoleWithPermissionsSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.string(),
    type: RoleSchema.entries.type,
    description: v.string(),
    permissions: v.array(PermissionSchema),
  }),
  v.title('RoleWithPermissions'),
);

/** The role itself, under a name in the plural: so do clients of this interface read it. */
export const ChangedRoleSchema = v.pipe(
  v.object({ version: Version, roles: RoleWithPermissionsSchema }),
  v.title('ChangedRole'),
);

export const RoleCheckSchema = v.pipe(
  v.object({ valid: v.literal(true), name: v.string() }),
  v.title('RoleCheck'),
);

const GROUP_FIELDS = {
  id: Integer,
  name: v.string(),
  description: v.exactOptional(v.string()),
  rootRole: v.pipe(v.exactOptional(Integer), v.description('A role id; left out where it gives none.')),
  mappingsSSO: v.array(v.string()),
  createdAt: Timestamp,
  createdBy: v.string(),
  userCount: Integer,
} as const;

const GroupUsersSchema = v.array(v.object({ user: FoundUserSchema }));

export const GroupSchema = v.pipe(
  v.object({
    ...GROUP_FIELDS,
    users: GroupUsersSchema,
    projects: v.pipe(v.array(v.string()), v.description('Ids of projects in which it has a role.')),
  }),
  v.title('Group'),
);

export const GroupsSchema = v.pipe(v.object({ groups: v.array(GroupSchema) }), v.title('Groups'));

/** Clients of this interface refuse fields that they do not know. */
export const ServiceAccountSchema = v.pipe(
  v.object({
    id: Integer,
    isAPI: v.literal(false),
    name: v.exactOptional(v.string()),
    username: v.exactOptional(v.string()),
    imageUrl: v.string(),
    rootRole: v.pipe(Integer, v.description('A role id.')),
    seenAt: v.pipe(v.null(), v.description('The tokens say when they were used last.')),
    createdAt: Timestamp,
    tokens: v.array(PersonalTokenSchema),
  }),
  v.title('ServiceAccount'),
);

export const ServiceAccountsSchema = v.pipe(
  v.object({ serviceAccounts: v.array(ServiceAccountSchema), rootRoles: v.array(RoleSchema) }),
  v.title('ServiceAccounts'),
);

export const UsersAndGroupsSchema = v.pipe(
  v.object({
    users: v.array(FoundUserSchema),
    groups: v.array(v.pipe(v.object(GROUP_FIELDS), v.title('GroupSummary'))),
  }),
  v.title('UsersAndGroups'),
);

export const ProjectGroupSchema = v.pipe(
  v.object({
    ...GROUP_FIELDS,
    users: v.pipe(v.exactOptional(GroupUsersSchema), v.description('Left out in the response to a write.')),
    roleId: Integer,
    roles: v.array(Integer),
  }),
  v.title('ProjectGroup'),
);

export const ProjectAccessSchema = v.pipe(
  v.object({
    version: Version,
    users: v.array(
      v.pipe(
        v.object({ ...CompanionUserSchema.entries, roleId: Integer, roles: v.array(Integer) }),
        v.title('ProjectMember'),
      ),
    ),
    groups: v.array(ProjectGroupSchema),
    roles: v.array(RoleSchema),
  }),
  v.title('ProjectAccess'),
);

export const ResetPasswordSchema = v.pipe(
  v.object({
    resetPasswordUrl: v.pipe(
      v.string(),
      v.description('Good once, and for a day; shown only here. The server sends no email.'),
    ),
  }),
  v.title('ResetPasswordLink'),
);

const INVITATION_FIELDS = {
  name: v.string(),
  enabled: v.boolean(),
  expiresAt: Timestamp,
  createdAt: Timestamp,
  createdBy: v.string(),
  users: v.pipe(v.array(FoundUserSchema), v.description('Who came by it, and is still there.')),
  role: RoleSchema,
} as const;

export const InvitationSchema = v.pipe(
  v.object({
    secret: v.pipe(v.string(), v.description('Its digest, in the place of the secret.')),
    url: v.pipe(v.null(), v.description('Only the response that made the invitation shows it.')),
    ...INVITATION_FIELDS,
  }),
  v.title('Invitation'),
);

export const NewInvitationSchema = v.pipe(
  v.object({
    secret: v.pipe(v.string(), v.description('Shown in this response and never again.')),
    url: v.pipe(v.string(), v.description('For the Admin to hand on.')),
    ...INVITATION_FIELDS,
  }),
  v.title('NewInvitation'),
);

export const InvitationsSchema = v.pipe(
  v.object({ tokens: v.array(InvitationSchema) }),
  v.title('Invitations'),
);

export const LinkUserSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.exactOptional(v.string()),
    username: v.exactOptional(v.string()),
    email: v.pipe(v.string(), v.description('Empty for a user without one.')),
    token: v.string(),
    createdBy: v.null(),
    role: RoleSchema,
  }),
  v.title('LinkUser'),
);

export const InvitedUserSchema = v.pipe(
  v.object({ ...FoundUserSchema.entries, rootRole: Integer }),
  v.title('InvitedUser'),
);
