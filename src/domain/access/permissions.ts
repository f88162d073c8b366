/**
 * Rights, which predefined roles give and every route asks for, and permissions, their parts, which custom roles are made of
 * (docs/specification/rights.md#permissions). A permission names one kind of change, in the words of the Unleash Admin API.
 */

/**
 * The right that a route needs. `read`: any root role, or a role in the named project; `flag:write` and
 * `project:write`: in the named project; `targeting:write`: segments, context fields and strategy types, which flags of
 * all projects share, and what is said of applications; `project:create` and `admin`: in the service; `self`: any
 * authenticated caller, about themselves; `personal`: any user, about what only users have. API tokens are not users, and
 * neither is a caller without authentication. `scope`: nothing beyond what the surface asks for; the caller's scope
 * decides what the response shows. `access:give`: `project:write`, or the permission to change members, in any project.
 * `guard:skip`: no predefined role has it.
 */
export type Right =
  | 'read'
  | 'flag:write'
  | 'targeting:write'
  | 'project:write'
  | 'project:create'
  | 'admin'
  | 'self'
  | 'personal'
  | 'scope'
  | 'access:give'
  | 'guard:skip';

/** The scope of a permission: the service, a project, or an environment of a project. */
export type PermissionKind = 'root' | 'project' | 'environment';

interface PermissionRow {
  readonly kind: PermissionKind;
  /** The right that includes it: a predefined role with the right needs no permission. */
  readonly within: Right;
  readonly displayName: string;
}

const root = (within: Right, displayName: string): PermissionRow => ({ kind: 'root', within, displayName });
const project = (within: Right, displayName: string): PermissionRow => ({
  kind: 'project',
  within,
  displayName,
});
const environment = (displayName: string, within: Right = 'flag:write'): PermissionRow => ({
  kind: 'environment',
  within,
  displayName,
});

/** Permissions in the order of their ids, which are part of the interface: rows are added at the end only. */
const ROWS = {
  CREATE_PROJECT: root('project:create', 'Create projects'),
  CREATE_CONTEXT_FIELD: root('targeting:write', 'Create context fields'),
  UPDATE_CONTEXT_FIELD: root('targeting:write', 'Update context fields'),
  DELETE_CONTEXT_FIELD: root('targeting:write', 'Delete context fields'),
  CREATE_SEGMENT: root('targeting:write', 'Create segments'),
  UPDATE_SEGMENT: root('targeting:write', 'Update segments'),
  DELETE_SEGMENT: root('targeting:write', 'Delete segments'),
  CREATE_STRATEGY: root('targeting:write', 'Create strategy types'),
  UPDATE_STRATEGY: root('targeting:write', 'Update strategy types'),
  DELETE_STRATEGY: root('targeting:write', 'Delete strategy types'),
  CREATE_TAG_TYPE: root('targeting:write', 'Create tag types'),
  UPDATE_TAG_TYPE: root('targeting:write', 'Update tag types'),
  DELETE_TAG_TYPE: root('targeting:write', 'Delete tag types'),
  UPDATE_APPLICATION: root('targeting:write', 'Describe and delete applications'),
  UPDATE_CORS: root('admin', 'Set the origins of the frontend interface'),
  READ_ROLE: root('read', 'Read roles'),
  READ_LOGS: root('read', 'Read events'),
  CREATE_FEATURE: project('flag:write', 'Create flags'),
  UPDATE_FEATURE: project('flag:write', 'Update flags'),
  DELETE_FEATURE: project('flag:write', 'Archive and delete flags'),
  UPDATE_FEATURE_VARIANTS: project('flag:write', 'Set the variants of all environments'),
  UPDATE_FEATURE_DEPENDENCY: project('flag:write', 'Change what flags depend on'),
  UPDATE_PROJECT: project('project:write', 'Update the project, its settings, environments and members'),
  DELETE_PROJECT: project('project:write', 'Delete the project'),
  PROJECT_USER_ACCESS_READ: project('read', 'Read who belongs to the project'),
  PROJECT_USER_ACCESS_WRITE: project('project:write', 'Change who belongs to the project'),
  PROJECT_SETTINGS_READ: project('read', 'Read the settings of the project'),
  PROJECT_SETTINGS_WRITE: project('project:write', 'Change the settings of the project'),
  CREATE_FEATURE_STRATEGY: environment('Add strategies'),
  UPDATE_FEATURE_STRATEGY: environment('Update strategies'),
  DELETE_FEATURE_STRATEGY: environment('Delete strategies'),
  UPDATE_FEATURE_ENVIRONMENT: environment('Switch flags on and off'),
  UPDATE_FEATURE_ENVIRONMENT_VARIANTS: environment('Set the variants of an environment'),
  PROJECT_DEFAULT_STRATEGY_WRITE: project('project:write', 'Set the default strategies of the project'),
  UPDATE_MAINTENANCE_MODE: root('admin', 'Begin and end maintenance'),
  MOVE_FEATURE_TOGGLE: project('flag:write', 'Move flags to and from other projects'),
  READ_PROJECT_API_TOKEN: project('project:write', 'List the API tokens of the project'),
  CREATE_PROJECT_API_TOKEN: project('project:write', 'Create API tokens of the project'),
  DELETE_PROJECT_API_TOKEN: project('project:write', 'Delete API tokens of the project'),
  READ_CLIENT_API_TOKEN: root('admin', 'List client tokens'),
  CREATE_CLIENT_API_TOKEN: root('admin', 'Create client tokens'),
  UPDATE_CLIENT_API_TOKEN: root('admin', 'Change when client tokens expire'),
  DELETE_CLIENT_API_TOKEN: root('admin', 'Delete client tokens'),
  READ_FRONTEND_API_TOKEN: root('admin', 'List frontend tokens'),
  CREATE_FRONTEND_API_TOKEN: root('admin', 'Create frontend tokens'),
  UPDATE_FRONTEND_API_TOKEN: root('admin', 'Change when frontend tokens expire'),
  DELETE_FRONTEND_API_TOKEN: root('admin', 'Delete frontend tokens'),
  CREATE_ADDON: root('admin', 'Create integrations'),
  UPDATE_ADDON: root('admin', 'Update integrations'),
  DELETE_ADDON: root('admin', 'Delete integrations'),
  APPROVE_CHANGE_REQUEST: environment('Approve and reject change requests'),
  APPLY_CHANGE_REQUEST: environment('Apply change requests'),
  SKIP_CHANGE_REQUEST: environment(
    'Change an environment that takes change requests without one',
    'guard:skip',
  ),
  PROJECT_CHANGE_REQUEST_READ: project('read', 'Read which environments take change requests'),
  PROJECT_CHANGE_REQUEST_WRITE: project('project:write', 'Set which environments take change requests'),
} as const satisfies Readonly<Record<string, PermissionRow>>;

export type PermissionName = keyof typeof ROWS;

export interface PermissionInfo extends PermissionRow {
  readonly id: number;
  readonly name: PermissionName;
}

export const PERMISSIONS: readonly PermissionInfo[] = (Object.keys(ROWS) as PermissionName[]).map(
  (name, index) => ({ id: index + 1, name, ...ROWS[name] }),
);

const BY_NAME: ReadonlyMap<string, PermissionInfo> = new Map(PERMISSIONS.map((one) => [one.name, one]));

export function permissionByName(name: string): PermissionInfo | undefined {
  return BY_NAME.get(name);
}

/** The need of a route: a right of predefined roles, or else all permissions of one list, or one of another. */
export interface Need {
  readonly permission: Right;
  /** Absent where only predefined roles will do. */
  readonly needs?: readonly PermissionName[];
  /** The route chooses among them once it has read the body, or found what the path names. */
  readonly needsOneOf?: readonly PermissionName[];
}

/** `UPDATE_PROJECT` is all of what can be changed about a project but its deletion. */
const PARTS: Partial<Record<PermissionName, readonly PermissionName[]>> = {
  UPDATE_PROJECT: ['PROJECT_USER_ACCESS_WRITE', 'PROJECT_SETTINGS_WRITE', 'PROJECT_DEFAULT_STRATEGY_WRITE'],
};

/** The permissions that one who holds this one holds. */
export const includedPermissions = (held: PermissionName): readonly PermissionName[] => [
  held,
  ...(PARTS[held] ?? []),
];
