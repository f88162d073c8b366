/** Routes about archived flags, and routes that change many flags at once, all of them or none. */

import * as v from 'valibot';
import type { Command } from '../../domain/decide/decide.ts';
import { dataOf } from '../../domain/decide/flag-commands.ts';
import { described, Timestamp, titled } from '../../domain/json/schema.ts';
import { type LocatedFlag, locateFlags } from '../../domain/state/locate.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import { JSON_HEADERS } from '../serving/json-response.ts';
import {
  type ReadResponse,
  type RequestContext,
  type RouteDraft,
  readRoute,
  underTag,
  writeRoute,
} from '../serving/route.ts';
import { FlagNamesSchema } from './bodies.ts';
import { walkFlags } from './chunk-walk.ts';
import * as locate from './locators.ts';
import { pageParameters } from './query-parameters.ts';
import { settledResponse } from './responses.ts';
import { FlagSchema, NextOffset } from './schemas.ts';
import { timeOrNull } from './views.ts';

const ArchivedFlagsSchema = titled('ArchivedFlags', {
  version: v.literal(2),
  features: v.array(titled('ArchivedFlag', { ...FlagSchema.entries, archivedAt: Timestamp })),
  nextOffset: NextOffset,
});

/** The format version of the list. */
const ARCHIVE_VERSION = 2;

const BulkBody = titled('BatchFeatures', { features: FlagNamesSchema });
const BulkStaleBody = titled('BatchStale', { features: FlagNamesSchema, stale: v.boolean() });

/** Bytes after which a page of the archive ends although there are more flags. Protects the event loop. */
export const PAGE_BYTES_MAX = 1024 * 1024;

const ArchiveCheckSchema = titled('ArchiveCheck', {
  parentsWithChildFeatures: described(
    v.array(v.string()),
    'Flags that others depend on which are not in the list: they cannot be archived.',
  ),
  hasDeletedDependencies: described(v.boolean(), 'Whether archiving them removes a dependency.'),
});

const PAGE = pageParameters({
  limitMax: 1000,
  limit: 'The maximum number of flags.',
  offset: 'How many flags to pass over.',
});

/** A page of the archive. It ends with the flag that reaches one of its limits; more follow at `nextOffset`. */
async function archivePage(
  context: RequestContext<unknown>,
  projects: Iterable<ProjectState>,
): Promise<ReadResponse | Refusal> {
  const page = PAGE.of(context);
  if (isRefusal(page)) return page;
  const { world, engine, usage } = context;
  const features: string[] = [];
  let bytes = 0;
  let position = 0;
  let nextOffset: number | undefined;
  const refusal = await walkFlags(context, projects, (located) => {
    const { name, archivedAt } = located.record.flag;
    if (archivedAt === null) return false;
    position += 1;
    if (position <= page.offset) return false;
    if (features.length >= page.limit || bytes >= PAGE_BYTES_MAX) {
      nextOffset = position - 1;
      return true;
    }
    const lastSeenAt = timeOrNull(usage.seen.flag(name)?.atMs);
    const feature = JSON.stringify({ ...dataOf(world, located), lastSeenAt, archivedAt });
    features.push(feature);
    bytes += Buffer.byteLength(feature);
    return false;
  });
  if (refusal !== undefined) return refusal;
  const rest = JSON.stringify({ version: ARCHIVE_VERSION, nextOffset }).slice(1);
  const body = `{"features":[${features.join(',')}],${rest}`;
  return { revision: engine.lastId, response: { status: 200, headers: JSON_HEADERS, body } };
}

interface BulkRoute {
  readonly path: 'archive' | 'revive' | 'delete';
  readonly operationId: string;
  readonly summary: string;
  readonly status: number;
}

function bulkRoute({ path, operationId, summary, status }: BulkRoute): RouteDraft {
  return writeRoute(`POST /projects/:projectId/${path}`, {
    operationId,
    summary,
    needs: [path === 'revive' ? 'UPDATE_FEATURE' : 'DELETE_FEATURE'],
    locate: locate.project,
    body: BulkBody,
    success: { status, schema: null },
    command: ({ params, body }): Command => ({
      type: `${path}-flags`,
      project: params.projectId,
      flags: body.features,
    }),
  });
}

function bulkSwitchRoute(position: 'on' | 'off'): RouteDraft {
  return writeRoute(`POST /projects/:projectId/bulk_features/environments/:environment/${position}`, {
    operationId: `bulkToggleFeaturesEnvironment${position === 'on' ? 'On' : 'Off'}`,
    tag: 'Features',
    summary: `Switch many flags ${position} in an environment.`,
    needs: ['UPDATE_FEATURE_ENVIRONMENT'],
    locate: locate.projectEnvironment,
    body: BulkBody,
    command: ({ params, body }) => ({
      type: 'switch-flags',
      project: params.projectId,
      flags: body.features,
      environment: params.environment,
      enabled: position === 'on',
    }),
  });
}

/** Archived flags have neither parents nor children, and are archived again without effect. */
function archiveCheck(context: RequestContext<v.InferOutput<typeof BulkBody>>) {
  const { world, params, body } = context;
  const located = locateFlags(world, { project: params.projectId, flags: body.features });
  if (isRefusal(located)) return located;
  const flags = located.map(({ record }) => record.flag);
  const leaving = new Set(flags.map(({ name }) => name));
  const parents = flags.filter(({ children }) => children.some((name) => !leaving.has(name)));
  return settledResponse(context, {
    parentsWithChildFeatures: parents.map(({ name }) => name),
    hasDeletedDependencies: flags.some(({ dependencies }) => dependencies.length > 0),
  });
}

/** The command for a flag whose project is not in the path. */
function onFlag(type: 'revive-flags' | 'delete-flags') {
  return (_: unknown, { project, record }: LocatedFlag): Command => ({
    type,
    project: project.settings.id,
    flags: [record.flag.name],
  });
}

export const archiveRoutes = underTag('Archive', [
  readRoute('GET /archive/features', {
    operationId: 'getArchivedFeatures',
    summary: 'List all archived flags.',
    query: PAGE.parameters,
    success: { status: 200, schema: ArchivedFlagsSchema },
    refusals: ['ValidationError'],
    read: (context) => archivePage(context, context.world.projects.values()),
  }),
  readRoute('GET /archive/features/:projectId', {
    operationId: 'getArchivedFeaturesByProjectId',
    summary: 'List the archived flags of a project.',
    locate: locate.project,
    query: PAGE.parameters,
    success: { status: 200, schema: ArchivedFlagsSchema },
    refusals: ['ValidationError'],
    read: (context, project) => archivePage(context, [project]),
  }),
  writeRoute('POST /archive/revive/:featureName', {
    operationId: 'reviveFeature',
    summary: 'Take a flag back out of the archive, disabled in every environment.',
    needs: ['UPDATE_FEATURE'],
    locate: locate.flagAnywhere,
    command: onFlag('revive-flags'),
  }),
  writeRoute('DELETE /archive/:featureName', {
    operationId: 'deleteFeature',
    summary: 'Delete an archived flag for good, which frees its name.',
    needs: ['DELETE_FEATURE'],
    locate: locate.flagAnywhere,
    command: onFlag('delete-flags'),
  }),
  bulkRoute({
    path: 'archive',
    operationId: 'archiveFeatures',
    summary: 'Archive many flags; children may be archived together with their parents.',
    status: 202,
  }),
  readRoute('POST /projects/:projectId/archive/validate', {
    operationId: 'validateArchiveFeatures',
    summary: 'Check whether many flags can be archived together, and whether that removes dependencies.',
    locate: locate.project,
    body: BulkBody,
    success: { status: 200, schema: ArchiveCheckSchema },
    refusals: ['NotFoundError'],
    read: archiveCheck,
  }),
  bulkRoute({
    path: 'revive',
    operationId: 'reviveFeatures',
    summary: 'Take many flags back out of the archive, disabled in every environment.',
    status: 200,
  }),
  bulkRoute({
    path: 'delete',
    operationId: 'deleteFeatures',
    summary: 'Delete many archived flags for good.',
    status: 200,
  }),
  writeRoute('POST /projects/:projectId/stale', {
    operationId: 'staleFeatures',
    tag: 'Features',
    summary: 'Mark many flags as stale, or as not stale.',
    needs: ['UPDATE_FEATURE'],
    locate: locate.project,
    body: BulkStaleBody,
    success: { status: 202, schema: null },
    command: ({ params, body }) => ({
      type: 'mark-flags-stale',
      project: params.projectId,
      flags: body.features,
      stale: body.stale,
    }),
  }),
  bulkSwitchRoute('on'),
  bulkSwitchRoute('off'),
]);
