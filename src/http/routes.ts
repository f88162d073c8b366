/** The one table of routes. Everything under `/api/admin` that the server answers is in it. */
import type { Route } from './route.ts';
import { eventRoutes } from './routes/events.ts';
import { flagRoutes } from './routes/flags.ts';
import { memberRoutes } from './routes/members.ts';
import { projectRoutes } from './routes/projects.ts';
import { strategyRoutes } from './routes/strategies.ts';
import { userRoutes } from './routes/users.ts';
import { variantRoutes } from './routes/variants.ts';

export const API_PREFIX = '/api/admin';

export const ROUTES: readonly Route[] = [
  ...projectRoutes,
  ...flagRoutes,
  ...strategyRoutes,
  ...variantRoutes,
  ...memberRoutes,
  ...eventRoutes,
  ...userRoutes,
];
