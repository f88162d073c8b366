/** Applications that reported (docs/specification/usage.md). */
import * as v from 'valibot';
import { titled } from '../../domain/json/schema.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { refuseInMaintenance } from '../../domain/state/settings.ts';
import * as locate from '../../http/admin/locators.ts';
import { choiceIn, DIRECTIONS, pageParameters } from '../../http/admin/query-parameters.ts';
import { settledResponse } from '../../http/admin/responses.ts';
import { emptyResponse, jsonResponse } from '../../http/serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { hiddenProjects } from '../../http/serving/visible-world.ts';
import {
  allApplications,
  applicationHead,
  applicationOf,
  createdAtMs,
  flagsSeen,
  instanceViews,
  isInProject,
  outdatedSdksView,
  overviewView,
  projectApplicationView,
  strategiesOf,
  strategyViews,
  updatedAtMs,
  type WholeApplication,
} from './application-views.ts';
import { TEXT_LENGTH_MAX } from './applications.ts';
import { NO_STATE_SHOWN } from './flag-usage.ts';
import { usageIn } from './usage.ts';
import {
  ApplicationInstancesSchema,
  ApplicationOverviewSchema,
  ApplicationSchema,
  ApplicationsSchema,
  OutdatedSdksSchema,
  ProjectApplicationsSchema,
} from './usage-schemas.ts';

const APPLICATIONS = '/metrics/applications';
const APPLICATION = `${APPLICATIONS}/:appName`;

/** An application may have hundreds of names in its entry. */
const PAGE = pageParameters({
  limitMax: 100,
  limit: 'How many applications to list.',
  offset: 'How many to leave out at the beginning.',
});

const SORTED_BY = {
  appName: ({ appName }: WholeApplication): string | number => appName,
  createdAt: createdAtMs,
  updatedAt: updatedAtMs,
};
type SortedBy = keyof typeof SORTED_BY;
const SORT_NAMES = Object.keys(SORTED_BY) as readonly SortedBy[];

const LIST_PARAMETERS = {
  ...PAGE.parameters,
  query: { description: 'Part of the names to list, in any case.' },
  sortBy: {
    description: 'What to sort by.',
    schema: { type: 'string', enum: SORT_NAMES, default: 'appName' },
  },
  sortOrder: { description: 'Ascending or descending.', schema: { type: 'string', enum: DIRECTIONS } },
};

interface Page {
  readonly page: readonly WholeApplication[];
  readonly total: number;
}

function pageOf(context: RequestContext<unknown>, all: readonly WholeApplication[]): Page | Refusal {
  const range = PAGE.of(context);
  if (isRefusal(range)) return range;
  const sortBy = choiceIn(context, 'sortBy', SORT_NAMES, 'appName');
  if (isRefusal(sortBy)) return sortBy;
  const sortOrder = choiceIn(context, 'sortOrder', DIRECTIONS, 'asc');
  if (isRefusal(sortOrder)) return sortOrder;
  const query = context.query('query').toLowerCase();
  const found = all.filter(({ appName }) => appName.toLowerCase().includes(query));
  const rankOf = SORTED_BY[sortBy];
  const sorted = found.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : rankOf(a) > rankOf(b) ? 1 : 0));
  if (sortOrder === 'desc') sorted.reverse();
  return { page: sorted.slice(range.offset, range.offset + range.limit), total: found.length };
}

const shown = (body: unknown): ReadResponse => ({
  revision: NO_STATE_SHOWN,
  response: jsonResponse(200, body),
});

function applicationsIn(context: RequestContext<unknown>): WholeApplication[] {
  return allApplications(context).filter((one) => isInProject(one, context.params.projectId));
}

function named(context: RequestContext<unknown>): WholeApplication | Refusal {
  const { appName } = context.params;
  return applicationOf(context, appName) ?? notFound(`No application "${appName}" has reported.`);
}

const OUTDATED_SDKS = {
  summary: 'List SDKs that are older than they should be, with the applications that use them.',
  success: { status: 200, schema: OutdatedSdksSchema },
} as const;

export const applicationRoutes = underTag('Usage', [
  readRoute(`GET ${APPLICATIONS}`, {
    operationId: 'getApplications',
    summary: 'List the applications that reported.',
    query: LIST_PARAMETERS,
    refusals: ['ValidationError'],
    success: { status: 200, schema: ApplicationsSchema },
    read: (context) => {
      const found = pageOf(context, allApplications(context));
      if (isRefusal(found)) return found;
      const applications = found.page.map((one) => ({
        ...applicationHead(one),
        strategies: strategiesOf(one),
      }));
      return shown({ applications, total: found.total });
    },
  }),
  readRoute(`GET ${APPLICATION}`, {
    operationId: 'getApplication',
    summary: 'Read an application with its instances, and the flags that it evaluated.',
    success: { status: 200, schema: ApplicationSchema },
    refusals: ['NotFoundError'],
    read: async (context) => {
      const { world, params } = context;
      const before = named(context);
      if (isRefusal(before)) return before;
      const seenToggles = await flagsSeen(context, params.appName);
      const application = applicationOf(context, params.appName) ?? before;
      return settledResponse(context, {
        ...applicationHead(application),
        instances: instanceViews(application, null),
        seenToggles,
        strategies: strategyViews(world, application),
      });
    },
  }),
  readRoute(`GET ${APPLICATION}/overview`, {
    operationId: 'getApplicationOverview',
    summary: 'Read where an application runs, with which SDKs, and what it asks for in vain.',
    success: { status: 200, schema: ApplicationOverviewSchema },
    refusals: ['NotFoundError'],
    read: async (context) => {
      const { world, params } = context;
      const application = named(context);
      if (isRefusal(application)) return application;
      const flags = await flagsSeen(context, params.appName);
      return settledResponse(context, overviewView(world, application, flags.length));
    },
  }),
  readRoute('GET /projects/:projectId/sdks/outdated', {
    ...OUTDATED_SDKS,
    operationId: 'getOutdatedProjectSdks',
    locate: locate.project,
    read: (context) => shown(outdatedSdksView(applicationsIn(context))),
  }),
  readRoute('GET /metrics/instances/:appName/environment/:environment', {
    operationId: 'getApplicationEnvironmentInstances',
    summary: 'List the instances of an application in an environment.',
    success: { status: 200, schema: ApplicationInstancesSchema },
    read: (context) => {
      const { appName, environment } = context.params;
      const application = applicationOf(context, appName);
      return shown({
        instances: application === null ? [] : instanceViews(application, environment),
      });
    },
  }),
  readRoute('GET /projects/:projectId/applications', {
    operationId: 'getProjectApplications',
    summary: 'List the applications whose tokens cover a project.',
    locate: locate.project,
    query: LIST_PARAMETERS,
    refusals: ['ValidationError'],
    success: { status: 200, schema: ProjectApplicationsSchema },
    read: (context) => {
      const found = pageOf(context, applicationsIn(context));
      if (isRefusal(found)) return found;
      return shown({ applications: found.page.map(projectApplicationView), total: found.total });
    },
  }),
]);

// Changes that people make to applications. They are written behind, as reports are.

const DETAIL_LENGTH_MAX = 500;
const DETAIL_PHRASE = `a text of at most ${DETAIL_LENGTH_MAX} characters`;
const Detail = v.pipe(v.string(DETAIL_PHRASE), v.maxLength(DETAIL_LENGTH_MAX, DETAIL_PHRASE));

/** People click on it, so it must not be a script. */
const ADDRESS_PHRASE = 'an address that begins with https:// or http://, or an empty text';
const Address = v.pipe(Detail, v.regex(/^(?:https?:\/\/.*)?$/, ADDRESS_PHRASE));

const DescriptionBody = titled('ApplicationDescription', {
  description: v.exactOptional(Detail),
  url: v.exactOptional(Address),
  color: v.exactOptional(Detail),
  icon: v.exactOptional(Detail),
});

export const applicationChangeRoutes = underTag('Usage', [
  readRoute(`POST ${APPLICATION}`, {
    operationId: 'createApplication',
    summary:
      'Describe an application, whether or not it has reported. What the body leaves out stays as it is.',
    needs: ['UPDATE_APPLICATION'],
    changesUsage: true,
    body: DescriptionBody,
    success: { status: 202, schema: null },
    refusals: ['NotFoundError'],
    read: (context) => {
      const { world, params, body } = context;
      const maintenance = refuseInMaintenance(world.directory.settings);
      if (maintenance !== null) return maintenance;
      const { appName } = params;
      if (appName.length > TEXT_LENGTH_MAX) {
        return notFound(
          `The name of an application has at most ${TEXT_LENGTH_MAX} characters, not ${appName.length}.`,
        );
      }
      // Success for an application that the caller does not see would show, by the 404 that follows, that there is one.
      const unseen = hiddenProjects(context.engine.world, context.caller).length > 0 ? named(context) : null;
      if (isRefusal(unseen)) return unseen;
      usageIn(context).describeApplication(appName, body);
      return { revision: NO_STATE_SHOWN, response: emptyResponse(202) };
    },
  }),
  readRoute(`DELETE ${APPLICATION}`, {
    operationId: 'deleteApplication',
    summary: 'Forget an application until it reports again. What it counted stays.',
    needs: ['UPDATE_APPLICATION'],
    changesUsage: true,
    refusals: ['NotFoundError'],
    read: (context) => {
      const maintenance = refuseInMaintenance(context.world.directory.settings);
      if (maintenance !== null) return maintenance;
      const application = named(context);
      if (isRefusal(application)) return application;
      usageIn(context).forgetApplication(application.appName);
      return { revision: NO_STATE_SHOWN, response: emptyResponse(200) };
    },
  }),
]);
