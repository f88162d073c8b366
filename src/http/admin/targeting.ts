/** Routes about segments, context fields and strategy types, besides those that every kind has (kinds.ts). */
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';
import type { ReferenceKind } from '../../domain/kinds/kind.ts';
import { recordsOf } from '../../domain/state/directory-records.ts';
import { type PendingStrategy, pendingRequests } from '../../domain/state/pending-requests.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import {
  type ReadResponse,
  type RequestContext,
  type RouteDraft,
  readRoute,
  underTag,
  writeRoute,
} from '../serving/route.ts';
import { walkFlags } from './chunk-walk.ts';
import * as locate from './locators.ts';
import { recordsSchema } from './record-schemas.ts';
import { recordsResponse, recordText } from './records.ts';
import { settledResponse } from './responses.ts';

// Strategies found by what they use: a segment or a context field.

/** Bounds the response: 10,000 uses take about 2 MB. */
const STRATEGY_USES_MAX = 10_000;

const StrategyUseSchema = titled('StrategyUse', {
  id: v.string(),
  projectId: v.string(),
  featureName: v.string(),
  environment: v.string(),
  strategyName: v.string(),
});

const StrategyUsesSchema = titled('StrategyUses', { strategies: v.array(StrategyUseSchema) });

const SegmentUsesSchema = titled('SegmentUses', {
  ...StrategyUsesSchema.entries,
  changeRequestStrategies: described(
    v.array(
      titled('RequestedStrategyUse', {
        ...StrategyUseSchema.entries,
        id: described(v.exactOptional(v.string()), 'Absent for a strategy that is not there yet.'),
        changeRequest: v.object({ id: Integer, title: v.string() }),
      }),
    ),
    'Strategies that would use it once the change requests are applied that wait for a review or for that.',
  ),
});

interface FoundStrategy {
  readonly flag: Flag;
  readonly environment: string;
  readonly strategy: Strategy;
}

type Context = RequestContext<unknown>;

/** Calls `see` with each strategy of the projects' flags until it returns true. */
function walkStrategies(context: Context, ids: Iterable<string>, see: (found: FoundStrategy) => boolean) {
  const projects = [...ids].flatMap((id) => context.world.projects.get(id) ?? []);
  return walkFlags(context, projects, ({ record: { flag } }) =>
    flag.environments.some(({ name: environment, strategies }) =>
      strategies.some((strategy) => see({ flag, environment, strategy })),
    ),
  );
}

/** Strategies of flags that are not archived and refer to the segment of this id, or to the context field of this name. */
async function strategyUses(
  context: Context,
  kind: Exclude<ReferenceKind, 'strategy-type'>,
  name: string | number,
  others: object = {},
): Promise<ReadResponse | Refusal> {
  const strategies: v.InferOutput<typeof StrategyUsesSchema>['strategies'] = [];
  const projects = context.world.references.flagCounts(kind, name).keys();
  const refusal = await walkStrategies(context, projects, ({ flag, environment, strategy }) => {
    const { id, name: strategyName, segments, constraints } = strategy;
    const refers =
      typeof name === 'number'
        ? segments.includes(name)
        : constraints.some(({ contextName }) => contextName === name);
    if (flag.archivedAt !== null || !refers) return false;
    strategies.push({ id, projectId: flag.project, featureName: flag.name, environment, strategyName });
    return strategies.length === STRATEGY_USES_MAX;
  });
  return refusal ?? settledResponse(context, { strategies, ...others });
}

async function requestedUses({ world, requester }: Context, id: number) {
  const found: PendingStrategy[] = [];
  const add = (strategies: readonly PendingStrategy[]) => {
    found.push(...strategies);
    return found.length >= STRATEGY_USES_MAX;
  };
  await inTurns(each(pendingRequests.ofSegment(world, id), add), requester);
  return { changeRequestStrategies: found.slice(0, STRATEGY_USES_MAX) };
}

export const strategySegmentRoutes = underTag('Segments', [
  readRoute('GET /segments/:id/strategies', {
    operationId: 'getStrategiesBySegmentId',
    summary: 'List the strategies that use a segment, or would by change requests.',
    locate: locate.segment,
    success: { status: 200, schema: SegmentUsesSchema },
    read: async (context, { id }) => strategyUses(context, 'segment', id, await requestedUses(context, id)),
  }),
]);

export const contextFieldRoutes = underTag('Context', [
  readRoute('GET /context/:contextField/strategies', {
    operationId: 'getStrategiesByContextField',
    summary: 'List the strategies with a constraint on a context field.',
    locate: locate.contextField,
    success: { status: 200, schema: StrategyUsesSchema },
    read: (context, field) => strategyUses(context, 'context-field', field.name),
  }),
  readRoute('GET /projects/:projectId/context', {
    operationId: 'getContextFieldsForProject',
    summary: 'List the context fields of a project: it has none of its own.',
    query: { include: { description: '`root`: with those of the server, which each project can use.' } },
    locate: locate.project,
    success: { status: 200, schema: recordsSchema('contextFields') },
    read: (context) =>
      recordsResponse(context, 'contextFields', {
        // Unleash compares without regard to case.
        items:
          context.query('include').toLowerCase() === 'root' ? recordsOf(context.world, 'contextFields') : [],
        textOf: (field) => recordText(context.world, 'contextFields', field),
      }),
  }),
]);

// The deprecation of strategy types.

function deprecationRoute(action: 'deprecate' | 'reactivate'): RouteDraft {
  return writeRoute(`POST /strategies/:strategyName/${action}`, {
    operationId: `${action}Strategy`,
    summary:
      action === 'deprecate'
        ? 'Deprecate a strategy type: strategies of the type go on working, and forms stop offering it.'
        : 'Take back the deprecation of a strategy type.',
    needs: ['UPDATE_STRATEGY'],
    locate: locate.strategyType,
    command: ({ params }) => ({
      type: 'deprecate-strategy-type',
      name: params.strategyName,
      deprecated: action === 'deprecate',
    }),
  });
}

export const strategyTypeRoutes = underTag('Strategies', [
  deprecationRoute('deprecate'),
  deprecationRoute('reactivate'),
]);
