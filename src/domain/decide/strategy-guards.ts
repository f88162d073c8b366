/** Refuses strategies that refer to a type or a segment that does not exist. */
import type { Flag } from '../flags/flag.ts';
import type { DefaultStrategy } from '../flags/strategy.ts';
import { findNamed, suggestNamed } from '../state/directory-records.ts';
import { invalid, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

export interface StrategyChange {
  readonly flag: Pick<Flag, 'project'>;
  /** Null: the strategy is new. */
  readonly before: DefaultStrategy | null;
  readonly after: DefaultStrategy;
}

/** Looks at what the change brings in: what data of earlier releases refers to may stay as it is. */
export function refuseUnknownReferences(world: World, change: StrategyChange): Refusal | null {
  return refuseUnknownType(world, change) ?? refuseUnknownSegments(world, change);
}

function refuseUnknownType(world: World, { before, after: { name } }: StrategyChange): Refusal | null {
  if (before?.name === name || findNamed(world, 'strategyTypes', name) !== undefined) return null;
  const message = `There is no strategy type "${name}".${suggestNamed(world, 'strategyTypes', name)} Types that your applications implement themselves must be defined at /strategies first.`;
  return invalid(message, '/body/name');
}

function refuseUnknownSegments(
  { directory }: World,
  { flag, before, after }: StrategyChange,
): Refusal | null {
  if (before?.segments === after.segments) return null;
  for (const [index, id] of after.segments.entries()) {
    if (before?.segments.includes(id)) continue;
    const segment = directory.segments.get(id);
    const path = `/body/segments/${index}`;
    if (segment === undefined) return invalid(`There is no segment ${id}.`, path);
    if (segment.project !== null && segment.project !== flag.project) {
      return invalid(`The segment "${segment.name}" is for the project "${segment.project}" only.`, path);
    }
  }
  return null;
}
