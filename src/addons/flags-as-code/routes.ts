/** The routes by which files of flags are compared with a project, and carried out in it. */
import * as v from 'valibot';
import type { Need, PermissionName } from '../../domain/access/permissions.ts';
import { ownCommand, sentWith } from '../../domain/decide/decide.ts';
import { LINK_ENTRIES } from '../../domain/flags/link.ts';
import { METADATA_ENTRIES } from '../../domain/flags/metadata.ts';
import { VariantSchema } from '../../domain/flags/variant.ts';
import { issuesOf } from '../../domain/json/issues.ts';
import { described, Integer, list, titled } from '../../domain/json/schema.ts';
import { invalid, isRefusal, refuse } from '../../domain/state/refusal.ts';
import { FlagNameSchema } from '../../http/admin/bodies.ts';
import { walkFlags } from '../../http/admin/chunk-walk.ts';
import * as locate from '../../http/admin/locators.ts';
import { pageParameters } from '../../http/admin/query-parameters.ts';
import { DefaultStrategySchema, NextOffset } from '../../http/admin/schemas.ts';
import { mayDo } from '../../http/serving/access.ts';
import { JSON_HEADERS } from '../../http/serving/json-response.ts';
import { type Guard, readRoute, underTag, writeRoute } from '../../http/serving/route.ts';
import { TRANSFER_FLAGS_MAX } from '../transfer/import-issues.ts';
import { EXPORT_SIZE_MAX, missingPermissions } from '../transfer/transfer.ts';
import { applyChanges, shownFlag } from './apply-changes.ts';
import { type Change, ENVIRONMENT_FIELDS, FIELDS, FLAG_FIELDS } from './flag-file.ts';

const FlagsSchema = titled('FlagsAsCode', {
  eventId: described(Integer, 'The newest event of the project.'),
  actor: described(
    v.object({ name: v.string(), userId: Integer }),
    'The author of what the caller would change.',
  ),
  flags: v.array(
    v.object({
      name: v.string(),
      revision: described(Integer, 'The newest event that changed the flag.'),
      presence: v.picklist(['active', 'archived']),
      ...METADATA_ENTRIES,
      links: v.array(v.object(LINK_ENTRIES)),
      tags: v.array(v.object({ type: v.string(), value: v.string() })),
      dependencies: v.array(
        v.object({ feature: v.string(), enabled: v.boolean(), variants: v.array(v.string()) }),
      ),
      environments: v.array(
        v.object({
          name: v.string(),
          enabled: v.boolean(),
          strategies: v.array(
            v.object({
              ...DefaultStrategySchema.entries,
              segments: described(v.array(v.string()), 'Names of attached segments.'),
            }),
          ),
          variants: v.array(VariantSchema),
          ids: described(v.array(v.string()), 'Ids of the strategies.'),
        }),
      ),
    }),
  ),
  nextOffset: NextOffset,
});

const PAGE = pageParameters({
  limitMax: TRANSFER_FLAGS_MAX,
  limit: 'The maximum number of flags.',
  offset: 'How many of the oldest flags to pass over.',
});

export const CHANGES_MAX = 5_000;
const CHANGES_PHRASE = `a list of at most ${CHANGES_MAX} changes`;

const ApplyBody = titled('ApplyFlags', {
  changes: v.pipe(
    list(
      v.object({
        flag: FlagNameSchema,
        environment: described(v.nullable(v.string()), 'Null for what a flag has once.'),
        field: v.picklist(['presence', ...FIELDS], `one of presence, ${FIELDS.join(', ')}`),
        before: described(v.unknown(), 'What the part is. Where it is anything else, nothing is changed.'),
        after: v.unknown(),
      }),
      CHANGES_PHRASE,
    ),
    v.maxLength(CHANGES_MAX, CHANGES_PHRASE),
  ),
});

const PRESENCE = v.picklist(['active', 'archived'], 'active or archived');

/** The sentence about the first change whose value cannot be, and the changes as they are kept. */
function checked(sent: readonly v.InferOutput<typeof ApplyBody>['changes'][number][]) {
  const changes: Change[] = [];
  const parts = new Set<string>();
  for (const [at, change] of sent.entries()) {
    const { flag, field, environment } = change;
    const fields: Readonly<Record<string, v.GenericSchema>> =
      environment === null ? { presence: PRESENCE, ...FLAG_FIELDS } : ENVIRONMENT_FIELDS;
    const schema = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (schema === undefined)
      return invalid(
        environment === null
          ? `The field ${field} is one of an environment.`
          : `The field ${field} is not one of an environment.`,
        `/body/changes/${at}/${environment === null ? 'field' : 'environment'}`,
      );
    const { issues, output } = v.safeParse(schema, change.after);
    if (issues !== undefined || output === undefined)
      return invalid(
        `The value of ${field} cannot be used. ${issuesOf(issues ?? [])[0]?.message ?? 'It is missing.'}`,
        `/body/changes/${at}/after`,
      );
    if (parts.size === parts.add(JSON.stringify([flag, environment, field])).size)
      return invalid(`Another change is of ${field} of the flag "${flag}" too.`, `/body/changes/${at}`);
    changes.push({ ...change, after: output } as Change);
  }
  const names = new Set(changes.map(({ flag }) => flag));
  if (names.size <= TRANSFER_FLAGS_MAX) return changes;
  return invalid(
    `The changes are of ${names.size} flags; one call changes ${TRANSFER_FLAGS_MAX}.`,
    '/body/changes',
  );
}

const refuseWithoutRights: Guard = (world, caller, _, command) => {
  const sent = sentWith(command, applyChanges);
  if (sent === null) return null;
  const { project, changes } = sent;
  const environments = new Set(changes.map(({ environment }) => environment));
  const missing = new Set<PermissionName>(
    [...environments].flatMap((environment) =>
      missingPermissions(world, caller, { project, environment, records: [] }),
    ),
  );
  const need: Need = { permission: 'flag:write', needs: ['DELETE_FEATURE'] };
  const archives = changes.some(({ after, field }) => field === 'presence' && after === 'archived');
  if (archives && !mayDo(world, caller, need, { projectId: project, environment: null }))
    missing.add('DELETE_FEATURE');
  if (missing.size === 0) return null;
  return refuse(
    'NoAccessError',
    `The user "${caller.actor.name}" lacks permissions in the project "${project}" that the changes need: ${[...missing].join(', ')}.`,
  );
};

export const flagsAsCodeRoutes = underTag('Flags as code', [
  readRoute('GET /projects/:projectId/flags-as-code', {
    operationId: 'getFlagsAsCode',
    summary: 'Show flags of a project with all that files can say of them, oldest first.',
    locate: locate.project,
    query: PAGE.parameters,
    success: { status: 200, schema: FlagsSchema },
    refusals: ['ValidationError'],
    read: async (context, project) => {
      const page = PAGE.of(context);
      if (isRefusal(page)) return page;
      const shown: string[] = [];
      let [at, size, hasMore] = [0, 0, false];
      const refusal = await walkFlags(context, [project], ({ record }) => {
        at += 1;
        if (at <= page.offset) return false;
        hasMore = shown.length === page.limit || size > EXPORT_SIZE_MAX;
        if (hasMore) return true;
        const text = JSON.stringify(shownFlag(context.world, project, record));
        size += text.length;
        shown.push(text);
        return false;
      });
      if (refusal !== undefined) return refusal;
      const next = hasMore ? `,"nextOffset":${page.offset + shown.length}` : '';
      const { name, userId } = context.caller.actor;
      const actor = JSON.stringify({ name, userId });
      const body = `{"eventId":${project.revision},"actor":${actor},"flags":[${shown.join(',')}]${next}}`;
      return { revision: context.engine.lastId, response: { status: 200, headers: JSON_HEADERS, body } };
    },
  }),
  writeRoute('POST /projects/:projectId/flags-as-code', {
    operationId: 'applyFlagsAsCode',
    summary: 'Carry out changes of flags of a project, as one change.',
    permission: 'read',
    locate: locate.project,
    body: ApplyBody,
    refusals: ['NoAccessError', 'ValidationError', 'PreconditionFailedError', 'InvalidOperationError'],
    guard: refuseWithoutRights,
    command: ({ params, body }) => {
      const changes = checked(body.changes);
      if (isRefusal(changes)) return changes;
      return ownCommand({ sent: { project: params.projectId, changes }, decide: applyChanges });
    },
  }),
]);
