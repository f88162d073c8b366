/** Scheduled requests that other changes must look out for. */
import type { World } from '../../domain/state/world.ts';
import type { State, StoredChange, StoredRequest } from './kind.ts';
import { findRequests, strategyOf, targetKey } from './request-index.ts';

const isScheduled = ({ state }: { readonly state: State }): boolean => state === 'Scheduled';

/** Other requests that a change names. */
const BESIDE_MAX = 20;

/** The newest other scheduled requests of the environment that are about the same strategy, or all of the same flag. */
export function scheduledBeside(
  world: World,
  request: Pick<StoredRequest, 'id' | 'project' | 'environment'>,
  change: StoredChange,
): readonly StoredRequest[] {
  const target = targetKey(request, change);
  const strategy = strategyOf(change);
  const keys = strategy === null ? [target] : [`${target} ${strategy}`, `${target} *`];
  const found = new Set(keys.flatMap((key) => findRequests(world, key, BESIDE_MAX + 1)));
  return [...found]
    .filter((other) => other.id !== request.id)
    .sort((a, b) => b.id - a.id)
    .slice(0, BESIDE_MAX);
}

export interface ScheduledFor {
  readonly features: readonly string[];
  readonly strategyIds: readonly string[];
  /** Flags whose variants are changed. */
  readonly variantFlags: readonly string[];
}

/** The scheduled requests that change any of these; all where none is named. */
export function scheduledFor(
  requests: readonly StoredRequest[],
  { features, strategyIds, variantFlags }: ScheduledFor,
): readonly StoredRequest[] {
  const isWanted = (change: StoredChange): boolean =>
    (change.feature !== null && features.includes(change.feature)) ||
    strategyIds.includes(strategyOf(change) ?? '') ||
    (change.action === 'patchVariant' && variantFlags.includes(change.feature ?? ''));
  const isAll = features.length + strategyIds.length + variantFlags.length === 0;
  return requests.filter((one) => isScheduled(one) && (isAll || one.changes.some(isWanted)));
}
