/**
 * Routes about a flag as a whole (docs/specification/flags.md), and the list of flags that may be parents of one
 * (docs/specification/users.md#possible-parents).
 */

import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import { dataOf } from '../../domain/decide/flag-commands.ts';
import { refuseTakenName } from '../../domain/decide/guards.ts';
import { ConstraintSchema } from '../../domain/flags/constraint.ts';
import { COMPLETION_ENTRIES } from '../../domain/flags/lifecycle.ts';
import { LINK_ENTRIES, TypedUrlSchema } from '../../domain/flags/link.ts';
import { FLAG_TYPES, type FlagType, LifetimeDays, type Lifetimes } from '../../domain/flags/metadata.ts';
import { isNamedBy } from '../../domain/flags/project-rules.ts';
import { emptyConstraint } from '../../domain/flags/strategy.ts';
import { PatchSchema } from '../../domain/json/json-patch.ts';
import { described, filledText, Integer, titled, Version } from '../../domain/json/schema.ts';
import { type LocatedFlag, locateFlag, locateProject } from '../../domain/state/locate.ts';
import { invalid, isRefusal, present } from '../../domain/state/refusal.ts';
import { lifetimesIn, lifetimesOf } from '../../domain/state/settings.ts';
import { environmentsRevision } from '../serving/etag.ts';
import { emptyResponse, JSON_HEADERS, jsonResponse } from '../serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { CloneFlagBody, CreateFlagBody, FlagNameSchema, UpdateFlagBody } from './bodies.ts';
import { flagsNow, type ShownFlag } from './chunk-walk.ts';
import { AT_PARAMETER, readPastFlag } from './flag-history.ts';
import * as locate from './locators.ts';
import { isFavoriteFlag, wholeFlag } from './render-flag.ts';
import { projectRevision } from './render-project.ts';
import { FlagSchema, StageSchema, WholeFlagSchema } from './schemas.ts';
import { stagesView, timeOrNull } from './views.ts';

const FlagTypeSchema = titled('FlagType', {
  id: v.picklist(FLAG_TYPES),
  name: v.string(),
  description: v.string(),
  lifetimeDays: v.nullable(Integer),
});

const FlagTypesSchema = titled('FlagTypes', { version: Version, types: v.array(FlagTypeSchema) });

const LifetimeBody = titled('FlagTypeLifetime', {
  lifetimeDays: described(
    v.nullable(LifetimeDays),
    'Null or 0: flags of the type never become potentially stale.',
  ),
});

const StagesSchema = v.pipe(
  v.array(StageSchema),
  v.description('Those that the flag has entered, in the order in which stages follow each other.'),
  v.title('LifecycleStages'),
);

const FEATURES = '/projects/:projectId/features';
const FEATURE = `${FEATURES}/:featureName`;

/** The flag's metadata, as create, update, patch and clone show it. */
function flagView({ world, usage }: RequestContext<unknown>, located: LocatedFlag) {
  const lastSeenAt = timeOrNull(usage.seen.flag(located.record.flag.name)?.atMs);
  return { ...dataOf(world, located), lastSeenAt };
}

const newFlagView = (context: RequestContext<{ readonly name: string }>) =>
  flagView(context, present(locateFlag(context.world, context.params.projectId, context.body.name)));

/** Names, of the flags as they are at the moment of the call. */
async function parentOptions(
  { world, params, requester }: RequestContext<unknown>,
  { project, record: child }: LocatedFlag,
): Promise<ReadResponse> {
  const revision = projectRevision(world, project);
  const isParent = child.flag.children.length > 0;
  const texts: string[] = [];
  const add = ({ record }: ShownFlag): void => {
    const { archivedAt, dependencies, name } = record.flag;
    if (archivedAt === null && dependencies.length === 0 && name !== params.child)
      texts.push(JSON.stringify(name));
  };
  if (!isParent) await inTurns(each(flagsNow([project]), add), requester);
  return { revision, response: { status: 200, headers: JSON_HEADERS, body: `[${texts.join(',')}]` } };
}

/** The rights that a change of a flag needs, and where its flag is, unless a route says otherwise. */
const CHANGE = { needs: ['UPDATE_FEATURE'], locate: locate.flag } as const;

export const flagRoutes = underTag('Features', [
  writeRoute(`POST ${FEATURES}`, {
    operationId: 'createFeature',
    summary: 'Create a flag.',
    needs: ['CREATE_FEATURE'],
    locate: locate.project,
    body: CreateFlagBody,
    success: { status: 201, schema: FlagSchema },
    refusals: ['NameExistsError'],
    command: ({ params, body }) => ({
      type: 'create-flag',
      tags: body.tags,
      project: params.projectId,
      name: body.name,
      metadata: body,
    }),
    shows: newFlagView,
  }),
  readRoute(`GET ${FEATURE}`, {
    operationId: 'getFeature',
    summary: 'Read a flag with its environments and strategies.',
    query: { at: AT_PARAMETER },
    success: { status: 200, schema: WholeFlagSchema },
    refusals: ['NotFoundError'],
    // Not by `locate`: a flag that has been deleted still has a past.
    read: (context) => {
      if (context.query('at') !== '') return readPastFlag(context);
      const { world, usage, params } = context;
      const located = locate.flag(world, params);
      if (located.refused) return located;
      const { project, record } = located;
      return wholeFlag({ world, seen: usage.seen }, project, record, isFavoriteFlag(context));
    },
  }),
  writeRoute(`PUT ${FEATURE}`, {
    operationId: 'updateFeature',
    summary: "Change a flag's metadata.",
    ...CHANGE,
    body: UpdateFlagBody,
    success: { status: 200, schema: FlagSchema },
    command: ({ params, body: { name, ...metadata } }) => ({
      type: 'update-flag',
      ...locate.flagIn(params),
      name,
      metadata,
    }),
    shows: flagView,
  }),
  writeRoute(`PATCH ${FEATURE}`, {
    operationId: 'patchFeature',
    summary: "Change a flag's metadata by a JSON Patch.",
    ...CHANGE,
    body: PatchSchema,
    success: { status: 200, schema: FlagSchema },
    command: ({ params, body }) => ({ type: 'patch-flag', ...locate.flagIn(params), operations: body }),
    shows: flagView,
  }),
  writeRoute(`POST ${FEATURE}/clone`, {
    operationId: 'cloneFeature',
    summary: 'Create a flag with the variants and strategies of another.',
    needs: ['CREATE_FEATURE'],
    locate: locate.flag,
    body: CloneFlagBody,
    success: { status: 201, schema: FlagSchema },
    refusals: ['NameExistsError'],
    command: ({ params, body }) => ({ type: 'clone-flag', ...locate.flagIn(params), ...body }),
    shows: newFlagView,
  }),
  writeRoute(`DELETE ${FEATURE}`, {
    operationId: 'archiveFeature',
    summary: 'Archive a flag.',
    needs: ['DELETE_FEATURE'],
    locate: locate.flag,
    success: { status: 202, schema: null },
    command: ({ params }) => ({ type: 'archive-flag', ...locate.flagIn(params) }),
  }),
  readRoute(`GET ${FEATURES}/:child/parents`, {
    operationId: 'listParentOptions',
    tag: 'Dependencies',
    summary: 'List the flags that may be parents of a flag.',
    locate: locate.childFlag,
    success: { status: 200, schema: v.array(v.string()) },
    read: parentOptions,
  }),
]);

// Routes that a client calls before it creates a flag: the list of types, and whether a name is free.

const TYPE_TEXTS: Readonly<Record<FlagType, readonly [name: string, description: string]>> = {
  release: ['Release', 'Brings a feature to users step by step.'],
  'kill-switch': ['Kill switch', 'Turns a part of the system off in an emergency.'],
  experiment: ['Experiment', 'Compares variants of a feature.'],
  operational: ['Operational', 'Controls how the system runs.'],
  permission: ['Permission', 'Opens features to some of the users.'],
};

function flagTypeView(lifetimes: Lifetimes, id: FlagType) {
  const [name, description] = TYPE_TEXTS[id];
  return { id, name, description, lifetimeDays: lifetimes[id] };
}

const flagTypesView = (lifetimes: Lifetimes) => ({
  version: 1,
  types: FLAG_TYPES.map((id) => flagTypeView(lifetimes, id)),
});

const ValidateBody = titled('ValidateFeature', {
  name: FlagNameSchema,
  projectId: v.optional(v.nullable(v.string())),
});

export const flagCheckRoutes = underTag('Features', [
  readRoute('GET /feature-types', {
    operationId: 'getAllFeatureTypes',
    summary: 'List the types of flags and their lifetimes.',
    success: { status: 200, schema: FlagTypesSchema },
    shows: ({ world }) => flagTypesView(lifetimesOf(world.directory.settings)),
  }),
  writeRoute('PUT /feature-types/:id/lifetime', {
    operationId: 'updateFeatureTypeLifetime',
    summary: 'Set after how many days flags of a type become potentially stale.',
    permission: 'admin',
    body: LifetimeBody,
    refusals: ['NotFoundError'],
    success: { status: 200, schema: FlagTypeSchema },
    command: ({ params, body }) => ({
      type: 'set-lifetime',
      flagType: params.id.toLowerCase(),
      lifetimeDays: body.lifetimeDays || null,
    }),
    shows: ({ world, params }) =>
      flagTypeView(lifetimesOf(world.directory.settings), params.id.toLowerCase() as FlagType),
  }),
  readRoute('GET /projects/:projectId/feature-types', {
    operationId: 'getProjectFeatureTypes',
    summary: 'List the types of flags, with their lifetimes in a project.',
    locate: locate.project,
    success: { status: 200, schema: FlagTypesSchema },
    shows: ({ world }, { settings }) => flagTypesView(lifetimesIn(world, settings.id)),
  }),
  readRoute('POST /features/validate', {
    operationId: 'validateFeature',
    summary: 'Check whether a flag can have a name: it is valid and not taken.',
    body: ValidateBody,
    refusals: ['NotFoundError', 'NameExistsError'],
    read: ({ world, engine, body }) => {
      const project = body.projectId == null ? null : locateProject(world, body.projectId);
      if (isRefusal(project)) return project;
      const pattern = project?.settings.featureNaming?.pattern;
      if (pattern !== undefined && !isNamedBy(pattern, body.name)) {
        return invalid(
          `The name does not match the naming pattern of the project, which is ${pattern}.`,
          '/body/name',
        );
      }
      const taken = refuseTakenName(world, body.name);
      return taken ?? { revision: engine.lastId, response: emptyResponse(200) };
    },
  }),
  readRoute('POST /constraints/validate', {
    operationId: 'validateConstraint',
    summary: 'Check whether a strategy can have a constraint.',
    body: ConstraintSchema,
    success: { status: 204, schema: null },
    read: ({ engine, body }) => {
      const issue = emptyConstraint({ constraints: [body] }, null);
      return issue === null
        ? { revision: engine.lastId, response: emptyResponse(204) }
        : invalid(issue.message, '/body/values');
    },
  }),
]);

// Routes about links of a flag. The flag shows them, and its metadata sets them all at once.

const LINK = '/projects/:projectId/features/:featureName/link';

const LinkBody = titled('SetFlagLink', {
  url: TypedUrlSchema,
  title: v.optional(LINK_ENTRIES.title, null),
});

export const linkRoutes = underTag('Features', [
  writeRoute(`POST ${LINK}`, {
    operationId: 'createFeatureLink',
    summary: 'Add a link to a flag.',
    ...CHANGE,
    body: LinkBody,
    success: { status: 204, schema: null },
    command: ({ params, body: link }) => ({ type: 'change-link', ...locate.flagIn(params), id: null, link }),
  }),
  writeRoute(`PUT ${LINK}/:linkId`, {
    operationId: 'updateFeatureLink',
    summary: 'Replace a link of a flag.',
    ...CHANGE,
    locate: locate.link,
    body: LinkBody,
    success: { status: 204, schema: null },
    command: ({ params, body: link }) => ({
      ...{ type: 'change-link', id: params.linkId, link },
      ...locate.flagIn(params),
    }),
  }),
  writeRoute(`DELETE ${LINK}/:linkId`, {
    operationId: 'deleteFeatureLink',
    summary: 'Remove a link from a flag.',
    ...CHANGE,
    locate: locate.link,
    success: { status: 204, schema: null },
    command: ({ params }) => ({ type: 'remove-link', ...locate.flagIn(params), id: params.linkId }),
  }),
]);

// Routes about the stages of a flag's life (docs/specification/flags.md#lifecycle).

const LIFECYCLE = '/projects/:projectId/features/:featureName/lifecycle';

const CompleteBody = titled('CompleteFlag', COMPLETION_ENTRIES);

export const COMMENT_LENGTH_MAX = 1_000;

const CommentBody = titled('FlagComment', { text: filledText('a comment', COMMENT_LENGTH_MAX) });

export const lifecycleRoutes = underTag('Features', [
  readRoute(`GET ${LIFECYCLE}`, {
    operationId: 'getFeatureLifecycle',
    summary: "List the stages of a flag's life that it has entered.",
    locate: locate.flag,
    success: { status: 200, schema: StagesSchema },
    read: ({ world, usage }, { project, record }) => ({
      revision: Math.max(record.revision, environmentsRevision(world, project)),
      response: jsonResponse(200, stagesView(world, record.flag, usage.seen.flag(record.flag.name))),
    }),
  }),
  writeRoute(`POST ${LIFECYCLE}/complete`, {
    operationId: 'complete',
    summary: 'Say that a flag has done what it was for.',
    ...CHANGE,
    body: CompleteBody,
    command: ({ params, body }) => ({ type: 'complete-flag', ...locate.flagIn(params), completion: body }),
  }),
  writeRoute(`POST ${LIFECYCLE}/uncomplete`, {
    operationId: 'uncomplete',
    summary: 'Say that a flag has not done what it was for after all.',
    ...CHANGE,
    command: ({ params }) => ({ type: 'uncomplete-flag', ...locate.flagIn(params) }),
  }),
  writeRoute('POST /projects/:projectId/features/:featureName/comments', {
    operationId: 'commentOnFeature',
    summary: 'Write a comment into the history of a flag.',
    ...CHANGE,
    body: CommentBody,
    command: ({ params, body }) => ({ type: 'comment-on-flag', ...locate.flagIn(params), ...body }),
  }),
]);
