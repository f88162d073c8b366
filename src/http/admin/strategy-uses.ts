/**
 * Strategies found by what they are, and not by the path to them: those that use a segment or a context field, or have
 * an id. Such a search walks over flags: in turns, so that it holds up no other request, and in a queue that is fair
 * between callers, so that few of them keep what they found in memory.
 */
import * as v from 'valibot';
import { each, inTurns, type Requester } from '../../actors/turn.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import { titled } from '../../domain/json/schema.ts';
import type { ReferenceKind } from '../../domain/kinds/kind.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { RequestContext } from '../serving/route.ts';
import { flagsNow, type ShownFlag } from './shelf-walk.ts';

/** Bounds the response: 10,000 uses take about 2 MB. */
const STRATEGY_USES_MAX = 10_000;

export const StrategyUsesSchema = titled('StrategyUses', {
  strategies: v.array(
    titled('StrategyUse', {
      id: v.string(),
      projectId: v.string(),
      featureName: v.string(),
      environment: v.string(),
      strategyName: v.string(),
    }),
  ),
});

type StrategyUse = Readonly<v.InferOutput<typeof StrategyUsesSchema>['strategies'][number]>;

interface FoundStrategy {
  readonly flag: Flag;
  readonly environment: string;
  readonly strategy: Strategy;
}

/** Calls `see` with each strategy of the projects' flags until it returns true. */
function lookThrough(
  world: World,
  projects: Iterable<string>,
  { see, requester }: { see(found: FoundStrategy): boolean; readonly requester: Requester },
): Promise<void> {
  const flags = flagsNow([...projects].flatMap((id) => world.projects.get(id) ?? []));
  const look = ({ record: { flag } }: ShownFlag): boolean =>
    flag.environments.some(({ name: environment, strategies }) =>
      strategies.some((strategy) => see({ flag, environment, strategy })),
    );
  return inTurns(each(flags, look), requester);
}

type Context = Pick<RequestContext<unknown>, 'world' | 'reads' | 'requester'>;

/** Strategies of flags that are not archived and refer to `name`; a 503 when too many others look for something. */
export async function strategyUses(
  { world, reads, requester }: Context,
  kind: Exclude<ReferenceKind, 'strategy-type'>,
  name: string | number,
): Promise<readonly StrategyUse[] | Refusal> {
  const projects = [...world.references.flagCounts(kind, name).keys()];
  return reads.walk(async () => {
    const uses: StrategyUse[] = [];
    const see = ({ flag, environment, strategy }: FoundStrategy): boolean => {
      if (flag.archivedAt !== null || !refersTo(strategy, name)) return false;
      const { id, name: strategyName } = strategy;
      uses.push({ id, projectId: flag.project, featureName: flag.name, environment, strategyName });
      return uses.length === STRATEGY_USES_MAX;
    };
    await lookThrough(world, projects, { see, requester });
    return uses;
  }, requester);
}

/** Ids of segments are numbers, names of context fields texts. */
function refersTo({ segments, constraints }: Strategy, name: string | number): boolean {
  return typeof name === 'number'
    ? segments.includes(name)
    : constraints.some(({ contextName }) => contextName === name);
}

/** The strategy with an id, in any of the projects; a 503 when too many others look for something. */
export async function findStrategy(
  { world, reads, requester }: Context,
  projects: Iterable<string>,
  strategyId: string,
): Promise<FoundStrategy | Refusal | null> {
  return reads.walk(async () => {
    let wanted: FoundStrategy | null = null;
    const see = (found: FoundStrategy): boolean => {
      if (found.strategy.id !== strategyId) return false;
      wanted = found;
      return true;
    };
    await lookThrough(world, projects, { see, requester });
    return wanted;
  }, requester);
}
