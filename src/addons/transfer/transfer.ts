/** The routes that export flags with what they are in one environment, and import such an export. */

import * as v from 'valibot';
import type { Need, PermissionName } from '../../domain/access/permissions.ts';
import { ownCommand, sentWith } from '../../domain/decide/decide.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { METADATA_ENTRIES } from '../../domain/flags/metadata.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import { type Variant, VariantSchema } from '../../domain/flags/variant.ts';
import { jsonSize } from '../../domain/json/json.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';
import { LegalValueSchema } from '../../domain/kinds/context-field.ts';
import { managedKindOf } from '../../domain/kinds/kinds.ts';
import { findNamed, recordsOf } from '../../domain/state/directory-records.ts';
import { locateFlagAnywhere, locateProject } from '../../domain/state/locate.ts';
import { invalid, invalidOperation, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { walkFlags } from '../../http/admin/chunk-walk.ts';
import { recordSchema } from '../../http/admin/record-schemas.ts';
import { recorded, settledResponse } from '../../http/admin/responses.ts';
import { StrategySchema } from '../../http/admin/schemas.ts';
import { shown } from '../../http/admin/shown.ts';
import { type Caller, mayDo } from '../../http/serving/access.ts';
import { JSON_HEADERS } from '../../http/serving/json-response.ts';
import {
  type Guard,
  type RequestContext,
  readRoute,
  underTag,
  writeRoute,
} from '../../http/serving/route.ts';
import { type ImportFlags, importIssues, ruleErrors, TRANSFER_FLAGS_MAX } from './import-issues.ts';
import { ExportBody, ImportBody, importIn } from './transfer-bodies.ts';
import { type ExportFlags, exportFlags, importFlags, locateImport } from './transfer-commands.ts';

// The shapes of an export of flags, and of what is found in one before it is imported.

const VariantOfStrategy = v.object({
  ...VariantSchema.entries,
  overrides: v.exactOptional(v.unwrap(VariantSchema.entries.overrides)),
});

const ExportedFlag = v.object({
  name: v.string(),
  ...METADATA_ENTRIES,
  project: v.string(),
  archived: v.literal(false),
});

const ExportedField = v.object({
  name: v.string(),
  description: v.string(),
  stickiness: v.boolean(),
  sortOrder: v.number(),
  legalValues: v.array(LegalValueSchema),
});

const ExportSchema = titled('FlagExport', {
  features: v.array(ExportedFlag),
  featureStrategies: v.array(v.object({ ...StrategySchema.entries, variants: v.array(VariantOfStrategy) })),
  featureEnvironments: v.array(
    v.object({
      name: described(v.string(), 'Of the flag.'),
      featureName: v.string(),
      environment: v.string(),
      enabled: v.boolean(),
      variants: v.array(VariantSchema),
    }),
  ),
  contextFields: described(
    v.array(ExportedField),
    'Those that strategies and variants of the flags look at.',
  ),
  featureTags: v.array(v.object({ featureName: v.string(), tagType: v.string(), tagValue: v.string() })),
  segments: v.array(v.object({ id: Integer, name: v.string() })),
  tagTypes: v.array(recordSchema('tagTypes')),
  dependencies: v.array(
    v.object({
      feature: v.string(),
      dependencies: v.array(
        v.object({ feature: v.string(), enabled: v.boolean(), variants: v.array(v.string()) }),
      ),
    }),
  ),
});

const ImportIssues = v.array(v.object({ message: v.string(), affectedItems: v.array(v.string()) }));

const ImportCheckSchema = titled('ImportCheck', {
  errors: described(ImportIssues, 'With any of them nothing is imported.'),
  warnings: ImportIssues,
  permissions: described(ImportIssues, 'What the caller lacks.'),
});

/** Bytes of the flags, as `jsonSize` counts: what is exported at once can be imported at once, and neither holds others up for long. */
export const EXPORT_SIZE_MAX = 512 * 1024;

type Query = v.InferOutput<typeof ExportBody>;
type ExportContext = RequestContext<Query>;

/** Whether the flag is among those that are asked for by something else than their names. */
function isWanted({ tag }: Query): (flag: Flag) => boolean {
  if (tag === undefined) return () => true;
  return ({ tags }) => tags.some(({ type, value }) => tag === value || tag === `${type}:${value}`);
}

/** At most one more than can be exported. */
async function wantedFlags(context: ExportContext): Promise<readonly Flag[] | Refusal> {
  const { world, body } = context;
  const { features, project, tag } = body;
  if (tag === undefined && features !== undefined && features.length > 0) return namedFlags(world, features);
  const named = project === undefined ? null : locateProject(world, project);
  if (isRefusal(named)) return invalid(named.message, '/body/project');
  if (named === null && tag === undefined && features === undefined)
    return invalid('Name the flags to export: by features, project or tag.', '/body');
  const found: Flag[] = [];
  const wants = isWanted(body);
  const projects = named === null ? world.projects.values() : [named];
  const refusal = await walkFlags(context, projects, ({ record: { flag } }) => {
    if (flag.archivedAt === null && wants(flag)) found.push(flag);
    return found.length > TRANSFER_FLAGS_MAX;
  });
  return refusal ?? found;
}

function namedFlags(world: World, names: readonly string[]): readonly Flag[] | Refusal {
  const flags = new Set<Flag>();
  for (const [index, name] of names.entries()) {
    const located = locateFlagAnywhere(world, name);
    if (located.refused) {
      return located.at(`/body/features/${index}`);
    }
    if (located.record.flag.archivedAt === null) flags.add(located.record.flag);
  }
  return [...flags];
}

const TOO_MUCH = 'name fewer, or export the state with "flagstaff export"';

function refuseLargeExport(flags: readonly Flag[]): Refusal | null {
  if (flags.length > TRANSFER_FLAGS_MAX)
    return invalidOperation(`More than ${TRANSFER_FLAGS_MAX} flags cannot be exported at once; ${TOO_MUCH}.`);
  let size = 0;
  for (const [index, flag] of flags.entries()) {
    size += jsonSize(flag);
    if (size <= EXPORT_SIZE_MAX) continue;
    return invalidOperation(
      `Flags of more than ${EXPORT_SIZE_MAX / 1024} KiB cannot be exported at once, and of these ${flags.length} the first ${index} take less; ${TOO_MUCH}.`,
    );
  }
  return null;
}

const FILE_HEADERS = JSON_HEADERS.with('content-disposition', 'attachment; filename="flags.json"');

/** The permissions that every import needs, whatever its flags hold. */
const FLAG_PERMISSIONS: readonly PermissionName[] = [
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'UPDATE_FEATURE_DEPENDENCY',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
];

/** The permissions that the caller lacks for the import. */
export function missingPermissions(
  world: World,
  caller: Caller,
  {
    project,
    environment,
    records,
  }: Pick<ImportFlags, 'project' | 'records'> & {
    readonly environment: string | null;
  },
): readonly PermissionName[] {
  const place = { projectId: project, environment };
  const lacks = (need: Need): boolean => !mayDo(world, caller, need, place);
  const missing = FLAG_PERMISSIONS.filter((name) => lacks({ permission: 'flag:write', needs: [name] }));
  const made = records.filter(({ kind, fields }) => findNamed(world, kind, fields.name) === undefined);
  const needed = new Set(made.flatMap(({ kind }) => managedKindOf(kind).routes.needs?.create ?? []));
  for (const name of needed) if (lacks({ permission: 'targeting:write', needs: [name] })) missing.push(name);
  return missing;
}

const refuseImport: Guard = (world, caller, _, command) => {
  const wanted = sentWith(command, importFlags);
  const missing = wanted === null ? [] : missingPermissions(world, caller, wanted);
  if (wanted === null || missing.length === 0) return null;
  return refuse(
    'NoAccessError',
    `The user "${caller.actor.name}" lacks permissions in the project "${wanted.project}" that the import needs: ${missing.join(', ')}.`,
  );
};

export const transferRoutes = underTag('Export and import', [
  writeRoute('POST /features-batch/export', {
    operationId: 'exportFeatures',
    summary: 'Export flags with what they are in one environment.',
    permission: 'read',
    body: ExportBody,
    success: { status: 200, schema: ExportSchema },
    refusals: ['NotFoundError'],
    command: async (context) => {
      const flags = await wantedFlags(context);
      if (isRefusal(flags)) return flags;
      const { environment } = context.body;
      const sent: ExportFlags = { environment, flags: flags.map(({ name }) => name) };
      return refuseLargeExport(flags) ?? ownCommand({ sent, decide: exportFlags });
    },
    respond: ({ world, body: { environment, downloadFile } }, events) => {
      const { features } = recorded(events, 'features-exported').data;
      const flags = features.flatMap((name) => {
        const located = locateFlagAnywhere(world, name);
        return located.refused ? [] : [located.record.flag];
      });
      return {
        status: 200,
        headers: downloadFile ? FILE_HEADERS : JSON_HEADERS,
        body: JSON.stringify(exportView(world, flags, environment)),
      };
    },
  }),
  readRoute('POST /features-batch/validate', {
    operationId: 'validateImport',
    summary: 'Tell what stands in the way of an import, and what it would replace. Changes nothing.',
    body: ImportBody,
    success: { status: 200, schema: ImportCheckSchema },
    read: (context) => {
      const { world, caller, body } = context;
      const project = locateImport(world, body);
      if (isRefusal(project)) return project;
      const command = importIn(body);
      const { errors, warnings } = importIssues(world, project, command);
      const missing = missingPermissions(world, caller, command);
      const permissions =
        missing.length === 0
          ? []
          : [{ message: 'You lack these permissions for the import.', affectedItems: missing }];
      return settledResponse(context, {
        errors: [...errors, ...ruleErrors(project, command)],
        warnings,
        permissions,
      });
    },
  }),
  writeRoute('POST /features-batch/import', {
    operationId: 'importFeatures',
    summary: 'Import an export of flags into an environment of a project, as one change.',
    permission: 'read',
    body: ImportBody,
    refusals: ['NoAccessError'],
    guard: refuseImport,
    command: ({ body }) => ownCommand({ sent: importIn(body), decide: importFlags, faultPath: '/body/data' }),
  }),
]);

// Flags with all that they are in one environment, as Unleash exports them (docs/specification/companions.md#export-and-import).

/** Context fields that a strategy or a variant looks at. */
function fieldsIn(strategies: readonly Strategy[], variants: readonly Variant[]): readonly unknown[] {
  return [
    ...strategies.flatMap(({ parameters, constraints, variants: own }) => [
      parameters?.['stickiness'],
      ...constraints.map(({ contextName }) => contextName),
      ...fieldsIn([], own),
    ]),
    ...variants.flatMap(({ stickiness, overrides }) => [
      stickiness,
      ...overrides.map(({ contextName }) => contextName),
    ]),
  ];
}

/** Unleash refuses a file in which a variant of a strategy has overrides, even none. */
const withoutEmptyOverrides = ({ overrides, ...variant }: Variant) =>
  overrides.length === 0 ? variant : { ...variant, overrides };

const exportedStrategy = (strategy: Strategy, featureName: string) => ({
  ...strategy,
  variants: strategy.variants.map(withoutEmptyOverrides),
  featureName,
});

function exportView(world: World, flags: readonly Flag[], environment: string) {
  const parts = flags.map((flag) => ({ flag, here: environmentOf(flag, environment) }));
  const strategies = parts.flatMap(({ here }) => here.strategies);
  const usedFields = new Set(parts.flatMap(({ here }) => fieldsIn(here.strategies, here.variants)));
  const usedSegments = new Set(strategies.flatMap(({ segments }) => segments));
  const usedTypes = new Set(flags.flatMap(({ tags }) => tags.map(({ type }) => type)));
  return {
    features: flags.map((flag) => shown(ExportedFlag, { ...flag, archived: false })),
    featureStrategies: parts.flatMap(({ flag, here }) =>
      here.strategies.map((strategy) => exportedStrategy(strategy, flag.name)),
    ),
    featureEnvironments: parts.map(({ flag, here }) => ({
      name: flag.name,
      featureName: flag.name,
      environment,
      enabled: here.enabled,
      variants: here.variants,
    })),
    contextFields: recordsOf(world, 'contextFields')
      .filter(({ name }) => usedFields.has(name))
      .map((field) => shown(ExportedField, field)),
    featureTags: flags.flatMap(({ name: featureName, tags }) =>
      tags.map(({ type, value }) => ({ featureName, tagType: type, tagValue: value })),
    ),
    segments: [...world.directory.segments.values()]
      .filter(({ id }) => usedSegments.has(id))
      .map(({ id, name }) => ({ id, name })),
    tagTypes: recordsOf(world, 'tagTypes').filter(({ name }) => usedTypes.has(name)),
    dependencies: flags
      .filter(({ dependencies }) => dependencies.length > 0)
      .map(({ name, dependencies }) => ({ feature: name, dependencies })),
  };
}
