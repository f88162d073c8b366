/** The administrative interface as a surface: its routes, who may call them, and what is told to those who may not. */

import type { Need, Right } from '../../domain/access/permissions.ts';
import { FLAG_KIND_NAMES, OTHER_KIND_NAMES } from '../../domain/kinds/kinds.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { type Asked, type Caller, mayDo } from '../serving/access.ts';
import { COMMON_ERRORS } from '../serving/errors.ts';
import type { Route } from '../serving/route.ts';
import { API_PREFIX, type Surface, type SurfaceAccess } from '../serving/surface.ts';
import { apiTokenRoutes, projectTokenRoutes } from './api-tokens.ts';
import { archiveRoutes } from './archive.ts';
import { dependencyRoutes } from './dependencies.ts';
import { environmentRoutes } from './environments.ts';
import { eventCreatorRoutes, eventListRoutes, eventSearchRoutes } from './event-search.ts';
import { eventStreamRoutes } from './event-stream.ts';
import { eventRoutes } from './events.ts';
import { favoriteRoutes } from './favorites.ts';
import { historyRoutes, projectHistoryRoutes } from './flag-history.ts';
import { flagCreatorRoutes, flagSearchRoutes } from './flag-search.ts';
import { flagCheckRoutes, flagRoutes, lifecycleRoutes, linkRoutes } from './flags.ts';
import { instanceRoutes, maintenanceRoutes } from './instance.ts';
import { kindRoutes } from './kinds.ts';
import { meRoutes, profileRoutes } from './me.ts';
import { moveRoutes } from './move.ts';
import { permissionRoutes } from './permissions.ts';
import { personalTokenRoutes } from './personal-tokens.ts';
import { memberRoutes, projectAccessRoutes } from './project-access.ts';
import { projectEnvironmentRoutes } from './project-environments.ts';
import { projectAdminRoutes, projectRoutes } from './projects.ts';
import { serviceAccountRoutes } from './service-accounts.ts';
import { flagEnvironmentRoutes, strategyRoutes } from './strategies.ts';
import { tagRoutes } from './tags.ts';
import { contextFieldRoutes, strategySegmentRoutes, strategyTypeRoutes } from './targeting.ts';
import { uiConfigRoutes } from './ui-config.ts';
import { userAdminRoutes, userRoutes } from './user-admin.ts';
import { variantRoutes } from './variants.ts';

/** The routes of the core. */
export const ROUTES: readonly Route[] = [
  ...projectRoutes,
  ...flagRoutes,
  ...flagSearchRoutes,
  ...flagCreatorRoutes,
  ...historyRoutes,
  ...projectHistoryRoutes,
  ...linkRoutes,
  ...lifecycleRoutes,
  ...moveRoutes,
  ...strategyRoutes,
  ...variantRoutes,
  ...memberRoutes,
  ...eventRoutes,
  ...eventSearchRoutes,
  ...userRoutes,
  ...profileRoutes,
  ...projectAdminRoutes,
  ...projectAccessRoutes,
  ...projectEnvironmentRoutes,
  ...environmentRoutes,
  ...archiveRoutes,
  ...tagRoutes,
  ...FLAG_KIND_NAMES.flatMap(kindRoutes),
  ...favoriteRoutes,
  ...dependencyRoutes,
  ...flagEnvironmentRoutes,
  ...flagCheckRoutes,
  ...strategySegmentRoutes,
  ...contextFieldRoutes,
  ...strategyTypeRoutes,
  ...eventListRoutes,
  ...eventStreamRoutes,
  ...userAdminRoutes,
  ...meRoutes,
  ...permissionRoutes,
  ...OTHER_KIND_NAMES.flatMap(kindRoutes),
  ...serviceAccountRoutes,
  ...personalTokenRoutes,
  ...apiTokenRoutes,
  ...projectTokenRoutes,
  ...instanceRoutes,
  ...uiConfigRoutes,
  ...maintenanceRoutes,
  ...eventCreatorRoutes,
];

// The surface: who may call it, and what is told to those who may not.

const WHO_MAY: Readonly<Record<Right, string>> = {
  read: 'Any root role, or a role in the project.',
  'flag:write': 'Root Admin or Editor; Owner or Member of the project.',
  'targeting:write': 'Root Admin, Editor, Owner or Member.',
  'project:write': 'Root Admin; Owner of the project.',
  'project:create': 'Root Admin or Editor.',
  admin: 'Root Admin.',
  self: 'Every user, and admin tokens.',
  personal: 'Every user; API tokens are not users.',
  scope: 'Everybody who may call.',
  'access:give': 'Whoever may change the members of any project.',
  'guard:skip': 'Whoever has the permission by a custom role.',
};

export const ADMIN_ACCESS: SurfaceAccess = {
  unauthenticated: refuse(
    'AuthenticationRequired',
    'A valid API token or personal token is required in the header Authorization.',
  ),
  refuse: (world, caller, need, asked) =>
    mayDo(world, caller, need, asked) ? null : noAccess(caller, need, asked),
  whoMay,
  takesSessions: true,
  credentials: 'An admin API token `*:*.<secret>`, or a personal token `user:<secret>`.',
};

export const adminSurface: Surface = {
  prefix: API_PREFIX,
  access: ADMIN_ACCESS,
  errors: COMMON_ERRORS,
  routes: ROUTES,
  compresses: true,
  description: `Administration of feature flags: projects, flags, strategies, variants, membership, users, tokens
and events.

A change is answered once it is on disk. Every error but those of the membership rules has the same body, and its
\`name\` says what happened. Unknown fields of a request are ignored; nothing is coerced.`,
};

function whoMay({ permission, needs = [], needsOneOf = [] }: Need): string {
  if (needsOneOf.length > 0)
    return `${WHO_MAY[permission]} Also custom roles with ${needsOneOf.join(' or ')}, for what each names.`;
  if (needs.length === 0) return WHO_MAY[permission];
  return `${WHO_MAY[permission]} Also custom roles with ${needs.join(' and ')}.`;
}

function noAccess(
  caller: Caller,
  { permission, needs = [], needsOneOf = [] }: Need,
  { projectId }: Asked,
): Refusal {
  const where = projectId === null ? '' : ` in the project "${projectId}"`;
  if (caller.kind === 'client' || caller.kind === 'frontend') {
    return refuse('NoAccessError', 'Client and frontend tokens may not use the administrative interface.');
  }
  if (permission === 'personal') {
    return refuse(
      'NoAccessError',
      `This is for people who call as themselves, and ${caller.actor.name} is ${caller.user === null ? 'not a user' : 'a service account'}. An Admin manages the tokens and passwords of others below /user-admin/:id.`,
    );
  }
  return refuse(
    'NoAccessError',
    `The user "${caller.actor.name}" lacks the permission ${[permission, ...needs, ...needsOneOf].join(' or ')}${where}; ask an Admin${projectId === null ? '' : ' or an Owner of the project'} for it.`,
  );
}
