/** Scheduled requests that other changes must look out for. */
import type { State, StoredChange, StoredRequest } from './kind.ts';

const strategyOf = ({ action, payload }: Pick<StoredChange, 'action' | 'payload'>): string | null =>
  action === 'updateStrategy' || action === 'deleteStrategy' ? (payload as { readonly id: string }).id : null;

const segmentOf = ({ feature, payload }: StoredChange): number | null =>
  feature === null ? (payload as { readonly id: number }).id : null;

const isScheduled = ({ state }: { readonly state: State }): boolean => state === 'Scheduled';

/** Whether two changes are about the same strategy, or one of them about all of the flag. */
function overlap(one: StoredChange, other: StoredChange): boolean {
  if (one.feature !== other.feature || segmentOf(one) !== segmentOf(other)) return false;
  const [strategy, others] = [strategyOf(one), strategyOf(other)];
  return strategy === null || others === null || strategy === others;
}

/** The other scheduled requests of the environment that are about the same. */
export const scheduledBeside = (
  requests: readonly StoredRequest[],
  request: StoredRequest,
  change: StoredChange,
): readonly StoredRequest[] =>
  requests.filter(
    (other) =>
      isScheduled(other) &&
      other.id !== request.id &&
      other.environment === request.environment &&
      other.changes.some((one) => overlap(change, one)),
  );

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
