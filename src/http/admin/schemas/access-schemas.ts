/** Schemas of responses about roles, permissions and groups. */
import * as v from 'valibot';
import { FoundUserSchema, Integer, RoleSchema, Timestamp, Version } from './directory-schemas.ts';
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
  users: v.array(v.object({ user: FoundUserSchema })),
  userCount: Integer,
} as const;

export const GroupSchema = v.pipe(
  v.object({
    ...GROUP_FIELDS,
    projects: v.pipe(v.array(v.string()), v.description('Ids of projects in which it has a role.')),
  }),
  v.title('Group'),
);

export const GroupsSchema = v.pipe(v.object({ groups: v.array(GroupSchema) }), v.title('Groups'));

export const ProjectGroupSchema = v.pipe(
  v.object({ ...GROUP_FIELDS, roleId: Integer, roles: v.array(Integer) }),
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
