/** The one table of routes, with everything that the server serves under `/api/admin`. */
import { MANAGED_KIND_NAMES } from '../../domain/kinds/kinds.ts';
import type { Route } from '../serving/route.ts';
import { eventListRoutes, eventSearchRoutes } from './events/event-search.ts';
import { eventStreamRoutes } from './events/event-stream.ts';
import { eventRoutes } from './events/events.ts';
import { archiveRoutes } from './flags/archive.ts';
import { dependencyRoutes } from './flags/dependencies.ts';
import { flagEnvironmentRoutes } from './flags/flag-environments.ts';
import { flagCreatorRoutes, flagSearchRoutes } from './flags/flag-search.ts';
import { favoriteRoutes, flagCheckRoutes, flagRoutes } from './flags/flags.ts';
import { historyRoutes, projectHistoryRoutes } from './flags/history.ts';
import { lifecycleRoutes } from './flags/lifecycle.ts';
import { linkRoutes } from './flags/links.ts';
import { moveRoutes } from './flags/move.ts';
import { strategyRoutes } from './flags/strategies.ts';
import { allTagsRoutes, tagRoutes } from './flags/tags.ts';
import { transferRoutes } from './flags/transfer.ts';
import { variantRoutes } from './flags/variants.ts';
import { kindRoutes } from './kinds.ts';
import { explainRoutes } from './playground/explain.ts';
import { playgroundRoutes } from './playground/playground.ts';
import { memberRoutes, projectAccessRoutes } from './projects/project-access.ts';
import { projectAdminRoutes } from './projects/project-admin.ts';
import { projectEnvironmentRoutes } from './projects/project-environments.ts';
import { projectReportRoutes } from './projects/project-reports.ts';
import { projectRoutes } from './projects/projects.ts';
import { environmentRoutes } from './service/environments.ts';
import { instanceRoutes, maintenanceRoutes } from './service/instance.ts';
import { signOnRoutes } from './service/sign-on-settings.ts';
import { statisticsRoutes } from './service/statistics.ts';
import { uiConfigRoutes } from './service/ui-config.ts';
import { unleashPageRoutes } from './service/unleash-pages.ts';
import { constraintCheckRoutes, contextFieldRoutes } from './targeting/context-fields.ts';
import { strategySegmentRoutes } from './targeting/segments.ts';
import { strategyTypeRoutes } from './targeting/strategy-types.ts';
import { applicationChangeRoutes, applicationRoutes } from './usage/applications.ts';
import { flagUsageRoutes } from './usage/flag-usage.ts';
import { apiTokenRoutes, projectTokenRoutes } from './users/api-tokens.ts';
import { groupRoutes } from './users/groups.ts';
import { invitationRoutes } from './users/links.ts';
import { passwordRoutes } from './users/passwords.ts';
import { personalDashboardRoutes } from './users/personal-dashboard.ts';
import { personalTokenRoutes } from './users/personal-tokens.ts';
import { roleRoutes } from './users/roles.ts';
import { serviceAccountRoutes } from './users/service-accounts.ts';
import { userAdminRoutes, userRoutes } from './users/user-admin.ts';

export const API_PREFIX = '/api/admin';

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
  ...transferRoutes,
  ...strategyRoutes,
  ...variantRoutes,
  ...memberRoutes,
  ...eventRoutes,
  ...eventSearchRoutes,
  ...userRoutes,
  ...projectAdminRoutes,
  ...projectAccessRoutes,
  ...projectEnvironmentRoutes,
  ...environmentRoutes,
  ...archiveRoutes,
  ...tagRoutes,
  ...allTagsRoutes,
  ...MANAGED_KIND_NAMES.flatMap(kindRoutes),
  ...favoriteRoutes,
  ...dependencyRoutes,
  ...flagEnvironmentRoutes,
  ...flagCheckRoutes,
  ...strategySegmentRoutes,
  ...contextFieldRoutes,
  ...constraintCheckRoutes,
  ...strategyTypeRoutes,
  ...eventListRoutes,
  ...eventStreamRoutes,
  ...userAdminRoutes,
  ...passwordRoutes,
  ...invitationRoutes,
  ...roleRoutes,
  ...groupRoutes,
  ...serviceAccountRoutes,
  ...personalTokenRoutes,
  ...apiTokenRoutes,
  ...projectTokenRoutes,
  ...playgroundRoutes,
  ...explainRoutes,
  ...flagUsageRoutes,
  ...applicationRoutes,
  ...applicationChangeRoutes,
  ...instanceRoutes,
  ...uiConfigRoutes,
  ...maintenanceRoutes,
  ...signOnRoutes,
  ...projectReportRoutes,
  ...personalDashboardRoutes,
  ...statisticsRoutes,
  ...unleashPageRoutes,
];
