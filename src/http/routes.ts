/** The one table of routes. Everything under `/api/admin` that the server answers is in it. */
import type { Route } from './route.ts';
import { apiTokenRoutes } from './routes/api-tokens.ts';
import { archiveRoutes } from './routes/archive.ts';
import { dependencyRoutes } from './routes/dependencies.ts';
import { environmentRoutes } from './routes/environments.ts';
import { eventListRoutes } from './routes/event-lists.ts';
import { eventRoutes } from './routes/events.ts';
import { flagCheckRoutes } from './routes/flag-checks.ts';
import { flagEnvironmentRoutes } from './routes/flag-environments.ts';
import { flagRoutes } from './routes/flags.ts';
import { historyRoutes } from './routes/history.ts';
import { instanceRoutes } from './routes/instance.ts';
import { memberRoutes } from './routes/members.ts';
import { personalTokenRoutes } from './routes/personal-tokens.ts';
import { projectAccessRoutes } from './routes/project-access.ts';
import { projectAdminRoutes } from './routes/project-admin.ts';
import { projectEnvironmentRoutes } from './routes/project-environments.ts';
import { projectRoutes } from './routes/projects.ts';
import { strategyRoutes } from './routes/strategies.ts';
import { tagRoutes } from './routes/tags.ts';
import { userAdminRoutes } from './routes/user-admin.ts';
import { userRoutes } from './routes/users.ts';
import { variantRoutes } from './routes/variants.ts';

export const API_PREFIX = '/api/admin';

export const ROUTES: readonly Route[] = [
  ...projectRoutes,
  ...flagRoutes,
  ...historyRoutes,
  ...strategyRoutes,
  ...variantRoutes,
  ...memberRoutes,
  ...eventRoutes,
  ...userRoutes,
  ...projectAdminRoutes,
  ...projectAccessRoutes,
  ...projectEnvironmentRoutes,
  ...environmentRoutes,
  ...archiveRoutes,
  ...tagRoutes,
  ...dependencyRoutes,
  ...flagEnvironmentRoutes,
  ...flagCheckRoutes,
  ...eventListRoutes,
  ...userAdminRoutes,
  ...personalTokenRoutes,
  ...apiTokenRoutes,
  ...instanceRoutes,
];
