/** The changes of a request: what each takes, what it is about, and the commands that it is carried out by, as the routes make them. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { PermissionName } from '../../domain/access/permissions.ts';
import type { Command } from '../../domain/decide/decide.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import {
  hasEnabledStrategy,
  type Strategy,
  type StrategyInput,
  StrategyInputSchema,
} from '../../domain/flags/strategy.ts';
import { distributeWeights, VariantListSchema } from '../../domain/flags/variant.ts';
import { parseInBudget } from '../../domain/json/check-budget.ts';
import { issuesOf } from '../../domain/json/issues.ts';
import { IdSchema } from '../../domain/json/schema.ts';
import { managedKindOf } from '../../domain/kinds/kinds.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { locateFlagEnvironment } from '../../domain/state/locate.ts';
import { invalid, isRefusal, notFound, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { DependencyBody } from '../../http/admin/dependencies.ts';
import { SortOrderBody } from '../../http/admin/strategies.ts';
import type { ActionName } from './action-names.ts';
import type { StoredChange } from './kind.ts';
import type { Place } from './protection.ts';

/** A flag and a place, as a command names them; of a change of a segment the flag is empty. */
interface Target {
  readonly project: string;
  readonly environment: string;
  readonly flag: string;
}

/** The target of a change as it is now: a part of the flag, or the segment. */
interface Seen {
  readonly flag: Flag;
  readonly environment: ReturnType<typeof environmentOf>;
}

interface Action<Payload> {
  readonly schema: v.GenericSchema<unknown, Payload>;
  /** Everybody who proposes it must have one of these. */
  readonly needs: readonly PermissionName[];
  /** The part of the flag that it changes, or that says what the change means: a conflict where it has become another. */
  readonly looksAt: (seen: Seen, payload: Payload) => unknown;
  /** Strategies that are served once it is applied: what their segments say is approved with them. */
  readonly serves?: (seen: Seen, payload: Payload) => readonly Partial<Pick<Strategy, 'segments'>>[];
  readonly commands: (target: Target, payload: Payload) => readonly Command[];
}

const action = <Payload>(row: Action<Payload>): Action<unknown> => row as unknown as Action<unknown>;

const StrategyId = v.object({ id: v.string('the id of a strategy') });
const Nothing = v.optional(v.nullable(v.object({})));
const SegmentId = v.object({ id: IdSchema });
const segmentFields = managedKindOf('segments').sent as v.ObjectEntries;

const strategyIn = ({ environment }: Seen, id: string): unknown =>
  environment.strategies.find((one) => one.id === id) ?? null;

const ACTIONS: Readonly<Record<ActionName, Action<unknown>>> = {
  updateEnabled: action({
    schema: v.object({
      enabled: v.boolean(),
      shouldActivateDisabledStrategies: v.optional(v.boolean(), false),
    }),
    needs: ['UPDATE_FEATURE_ENVIRONMENT'],
    // Who approves switching on has approved what is switched on.
    looksAt: ({ flag: { dependencies }, environment }, { enabled }) =>
      enabled ? { ...environment, dependencies } : { enabled: environment.enabled },
    serves: ({ environment }, { enabled }) => (enabled ? environment.strategies : []),
    commands: (target, { enabled }) => [{ type: 'switch-environment', ...target, enabled }],
  }),
  addStrategy: action({
    schema: StrategyInputSchema,
    needs: ['CREATE_FEATURE_STRATEGY'],
    looksAt: () => null,
    serves: (_, strategy) => [strategy],
    commands: (target, strategy) => [{ type: 'add-strategy', ...target, strategy }],
  }),
  updateStrategy: action({
    schema: v.object({ ...StrategyId.entries, ...StrategyInputSchema.entries }),
    needs: ['UPDATE_FEATURE_STRATEGY'],
    looksAt: (seen, { id }) => strategyIn(seen, id),
    serves: (_, strategy) => [strategy],
    commands: (target, { id, ...strategy }) => [
      { type: 'replace-strategy', ...target, strategyId: id, strategy },
    ],
  }),
  deleteStrategy: action({
    schema: StrategyId,
    needs: ['DELETE_FEATURE_STRATEGY'],
    looksAt: (seen, { id }) => strategyIn(seen, id),
    commands: (target, { id }) => [{ type: 'remove-strategy', ...target, strategyId: id }],
  }),
  patchVariant: action({
    schema: v.object({ variants: VariantListSchema }),
    needs: ['UPDATE_FEATURE_ENVIRONMENT_VARIANTS'],
    looksAt: ({ environment }) => environment.variants,
    commands: (target, { variants }) => [
      { type: 'set-variants', ...target, variants: distributeWeights(variants) },
    ],
  }),
  reorderStrategy: action({
    schema: SortOrderBody,
    needs: ['UPDATE_FEATURE_STRATEGY'],
    looksAt: ({ environment }) => environment.strategies.map(({ id, sortOrder }) => ({ id, sortOrder })),
    commands: (target, order) => [{ type: 'order-strategies', ...target, order }],
  }),
  archiveFeature: action({
    schema: Nothing,
    needs: ['DELETE_FEATURE'],
    looksAt: ({ flag, environment }) => ({ enabled: environment.enabled, dependencies: flag.dependencies }),
    commands: ({ project, flag }) => [{ type: 'archive-flag', project, flag }],
  }),
  addDependency: action({
    schema: DependencyBody,
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    looksAt: ({ flag }, { feature }) => flag.dependencies.find((one) => one.feature === feature) ?? null,
    commands: ({ project, flag }, dependency) => [
      { type: 'add-dependency', project, child: flag, dependency },
    ],
  }),
  deleteDependency: action({
    schema: v.optional(v.nullable(v.object({ feature: v.optional(v.string()) }))),
    needs: ['UPDATE_FEATURE_DEPENDENCY'],
    looksAt: ({ flag }) => flag.dependencies,
    commands: ({ project, flag }, payload) =>
      payload?.feature === undefined
        ? [{ type: 'remove-dependencies', project, child: flag }]
        : [{ type: 'remove-dependency', project, child: flag, parent: payload.feature }],
  }),
  updateSegment: action({
    schema: v.object({ ...SegmentId.entries, ...segmentFields }) as unknown as v.GenericSchema<
      unknown,
      { readonly id: number; readonly constraints: readonly unknown[] }
    >,
    needs: ['UPDATE_SEGMENT'],
    looksAt: () => null,
    commands: (_, { id, ...fields }) => [
      { type: 'update-record', kind: 'segments', id, fields } as unknown as Command,
    ],
  }),
  deleteSegment: action({
    schema: SegmentId,
    needs: ['DELETE_SEGMENT'],
    looksAt: () => null,
    commands: (_, { id }) => [{ type: 'delete-record', kind: 'segments', id } as unknown as Command],
  }),
};

export const needsOf = (name: ActionName): readonly PermissionName[] => ACTIONS[name].needs;

const isOfSegment = (name: ActionName): boolean => name === 'updateSegment' || name === 'deleteSegment';

export interface SentChange {
  readonly feature?: string | null | undefined;
  readonly action: ActionName;
  readonly payload?: unknown;
}

/** The content of a change as it is kept, or what is wrong with it. `path`: that of the change in the body. */
export function parsedChange(
  { feature = null, action: name, payload }: SentChange,
  path: string,
): Pick<StoredChange, 'feature' | 'action' | 'payload'> | Refusal {
  if (isOfSegment(name) !== (feature === null)) {
    const message = isOfSegment(name)
      ? `The field feature must be null for the action ${name}.`
      : `The field feature must name a flag for the action ${name}.`;
    return invalid(message, `${path}/feature`);
  }
  const { issues, value } = parseInBudget(ACTIONS[name].schema, payload);
  if (issues === undefined) return { feature, action: name, payload: value ?? null };
  const found = issuesOf(issues, 'The payload').map((one) => ({
    message: one.message,
    path: `${path}/payload${one.path}`,
  }));
  return refuse('ValidationError', found.map(({ message }) => message).join(' '), found);
}

interface Looked extends Pick<StoredChange, 'segments'> {
  readonly snapshot: unknown;
  /** Id of the last event about the flag as a whole, or about the segments. */
  readonly eventId: number;
}

/** The target of the change as it is in this state, or a refusal where it is not there. */
export function lookAt(
  world: World,
  { project, environment }: Place,
  {
    feature,
    action: name,
    payload,
    defaultStrategy = {},
  }: Pick<StoredChange, 'feature' | 'action' | 'payload' | 'defaultStrategy'>,
): Looked | Refusal {
  if (feature === null) {
    const { id } = payload as { readonly id: number };
    const segment = world.directory.segments.get(id);
    if (segment === undefined) return notFound(`There is no segment "${id}".`);
    return { snapshot: segment, eventId: world.directory.revision };
  }
  const located = locateFlagEnvironment(world, project, feature, environment);
  if (isRefusal(located)) return located;
  const { flag, revision } = located.record;
  const seen = { flag, environment: environmentOf(flag, environment) };
  const { looksAt, serves } = ACTIONS[name];
  const served = [...(serves?.(seen, payload) ?? []), defaultStrategy as Partial<Strategy>];
  const ids = new Set(served.flatMap(({ segments = [] }) => segments));
  const segments = Array.from(ids, (id) => ({ id, digest: digestIn(world, id) }));
  const looked = { snapshot: looksAt(seen, payload), eventId: revision };
  return segments.length === 0 ? looked : { ...looked, segments };
}

const digests = new WeakMap<Segment, string>();

/** A digest of the segment's constraints, which may be long; null where it is gone. */
function digestIn({ directory }: World, id: number): string | null {
  const segment = directory.segments.get(id);
  if (segment === undefined) return null;
  let digest = digests.get(segment);
  if (digest === undefined) {
    digest = createHash('sha256').update(JSON.stringify(segment.constraints)).digest('base64url');
    digests.set(segment, digest);
  }
  return digest;
}

/** The commands of a change, in their order, in the state in which it is carried out. */
export function commandsOf(
  world: World,
  { project, environment }: Place,
  change: StoredChange,
): readonly Command[] {
  const { feature, action: name, payload, defaultStrategy } = change;
  const target = { project, environment, flag: feature ?? '' };
  const commands = ACTIONS[name].commands(target, payload);
  if (name !== 'updateEnabled' || !(payload as { readonly enabled: boolean }).enabled) return commands;
  const { strategies } = strategiesIn(world, target);
  if (strategies.length === 0)
    return defaultStrategy === undefined
      ? commands
      : [{ type: 'add-strategy', ...target, strategy: defaultStrategy as StrategyInput }, ...commands];
  const activates = (payload as { readonly shouldActivateDisabledStrategies: boolean })
    .shouldActivateDisabledStrategies;
  if (!activates || hasEnabledStrategy(strategies)) return commands;
  const activated = strategies.map(
    ({ id, ...strategy }): Command => ({
      type: 'replace-strategy',
      ...target,
      strategyId: id,
      strategy: { ...strategy, disabled: false } as unknown as StrategyInput,
    }),
  );
  return [...activated, ...commands];
}

function strategiesIn(world: World, { project, environment, flag }: Target) {
  const located = locateFlagEnvironment(world, project, flag, environment);
  return isRefusal(located) ? { strategies: [] } : located.flagEnvironment;
}

/** The strategy that switching the flag on adds; absent where it has one. */
export function defaultStrategyFor(
  world: World,
  { project, environment }: Place,
  { feature, action: name, payload }: Pick<StoredChange, 'feature' | 'action' | 'payload'>,
): Pick<StoredChange, 'defaultStrategy'> {
  if (feature === null || name !== 'updateEnabled' || !(payload as { readonly enabled: boolean }).enabled)
    return {};
  const target = { project, environment, flag: feature };
  if (strategiesIn(world, target).strategies.length > 0) return {};
  const known = world.projects.get(project)?.defaultStrategies.get(environment);
  const parameters = { rollout: '100', stickiness: 'default', groupId: feature };
  const strategy = { name: 'flexibleRollout', title: null, disabled: false, parameters, constraints: [] };
  const segments = known?.segments.filter((id) => world.directory.segments.has(id)) ?? [];
  return { defaultStrategy: { ...strategy, variants: [], ...known, segments } };
}
