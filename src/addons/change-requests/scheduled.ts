/** Scheduled requests that other changes must look out for. */
import type { State, StoredChange, StoredRequest } from './kind.ts';

const strategyOf = ({ action, payload }: Pick<StoredChange, 'action' | 'payload'>): string | null =>
  action === 'updateStrategy' || action === 'deleteStrategy' ? (payload as { readonly id: string }).id : null;

const segmentOf = ({ feature, payload }: StoredChange): number | null =>
  feature === null ? (payload as { readonly id: number }).id : null;

const isScheduled = ({ state }: { readonly state: State }): boolean => state === 'Scheduled';

/** Other requests that a change names. */
const BESIDE_MAX = 20;

/** Key of all of a flag or a segment in an environment; neither names of environments nor those of flags have a space. */
const targetOf = (environment: string, change: StoredChange): string =>
  `${environment} ${change.feature ?? `#${segmentOf(change)}`}`;

/** Scheduled requests, newest first, by what they are about, by its strategy, and by `*` where it is all of its strategies. */
type Index = ReadonlyMap<string, readonly StoredRequest[]>;

const indexes = new WeakMap<readonly StoredRequest[], Index>();

function indexOf(requests: readonly StoredRequest[]): Index {
  const index = new Map<string, StoredRequest[]>();
  for (const request of requests) {
    if (!isScheduled(request)) continue;
    for (const change of request.changes) {
      const target = targetOf(request.environment, change);
      for (const key of [target, `${target} ${strategyOf(change) ?? '*'}`]) {
        const list = index.get(key);
        if (list === undefined) index.set(key, [request]);
        else if (list.at(-1) !== request) list.push(request);
      }
    }
  }
  return index;
}

/** The newest other scheduled requests of the environment that are about the same strategy, or all of the same flag. */
export function scheduledBeside(
  requests: readonly StoredRequest[],
  { id, environment }: StoredRequest,
  change: StoredChange,
): readonly StoredRequest[] {
  let index = indexes.get(requests);
  if (index === undefined) {
    index = indexOf(requests);
    indexes.set(requests, index);
  }
  const target = targetOf(environment, change);
  const strategy = strategyOf(change);
  const keys = strategy === null ? [target] : [`${target} ${strategy}`, `${target} *`];
  const found = new Set(keys.flatMap((key) => index.get(key)?.slice(0, BESIDE_MAX + 1) ?? []));
  return [...found]
    .filter((other) => other.id !== id)
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
