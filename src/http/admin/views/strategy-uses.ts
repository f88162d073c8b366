/**
 * Strategies found by what they are, and not by the path to them: those that use a segment or a context field, or have
 * an id. Such a search walks over flags, in slices, so that it holds up no other request.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Flag } from '../../../domain/flags/flag.ts';
import type { Strategy } from '../../../domain/flags/strategy.ts';
import type { ReferenceKind } from '../../../domain/state/references.ts';
import type { World } from '../../../domain/state/world.ts';

/** Bounds the response: 10,000 uses take about 2 MB. */
const STRATEGY_USES_MAX = 10_000;
const SLICE_MS = 5;

interface StrategyUse {
  readonly id: string;
  readonly projectId: string;
  readonly featureName: string;
  readonly environment: string;
  readonly strategyName: string;
}

interface FoundStrategy {
  readonly flag: Flag;
  readonly environment: string;
  readonly strategy: Strategy;
}

/** All strategies of the projects' flags. */
export async function* strategiesIn(world: World, projects: Iterable<string>): AsyncGenerator<FoundStrategy> {
  let sliceEnd = performance.now() + SLICE_MS;
  for (const project of projects) {
    for (const { flag } of world.projects.get(project)?.flags.values() ?? []) {
      for (const { name: environment, strategies } of flag.environments) {
        for (const strategy of strategies) yield { flag, environment, strategy };
      }
      if (performance.now() < sliceEnd) continue;
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
  }
}

/** Strategies of flags that are not archived and refer to `name`. */
export async function strategyUses(
  world: World,
  kind: Exclude<ReferenceKind, 'strategy-type'>,
  name: string | number,
): Promise<readonly StrategyUse[]> {
  const uses: StrategyUse[] = [];
  const projects = [...world.references.flagCounts(kind, name).keys()];
  for await (const { flag, environment, strategy } of strategiesIn(world, projects)) {
    if (flag.archivedAt !== null || !refersTo(strategy, name)) continue;
    uses.push({
      id: strategy.id,
      projectId: flag.project,
      featureName: flag.name,
      environment,
      strategyName: strategy.name,
    });
    if (uses.length === STRATEGY_USES_MAX) break;
  }
  return uses;
}

/** Ids of segments are numbers, names of context fields texts. */
function refersTo({ segments, constraints }: Strategy, name: string | number): boolean {
  return typeof name === 'number'
    ? segments.includes(name)
    : constraints.some(({ contextName }) => contextName === name);
}

/** The strategy with an id, in any of the projects. */
export async function findStrategy(
  world: World,
  projects: Iterable<string>,
  strategyId: string,
): Promise<FoundStrategy | null> {
  for await (const found of strategiesIn(world, projects)) {
    if (found.strategy.id === strategyId) return found;
  }
  return null;
}
