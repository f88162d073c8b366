/**
 * Finds open requests by what they are about. An index follows a state by what has changed since it was looked at last: making it anew of
 * 20,000 requests takes 35 ms, so it is made in steps after a start.
 */
import type { AddonRecords } from '../../domain/kinds/addon-kind.ts';
import { addonRecordLists, newestRecordLists } from '../../domain/state/addon-records.ts';
import type { World } from '../../domain/state/world.ts';
import {
  CLOSED,
  isOrphan,
  REQUEST,
  type RequestRecord,
  type StoredChange,
  type StoredRequest,
} from './kind.ts';
import type { Place } from './protection.ts';

/** Keys of an open request; neither ids of projects, names of environments and flags, nor ids of strategies have a space. */
function keysOf({ project, environment, state, changes, createdBy }: StoredRequest): ReadonlySet<string> {
  const keys = new Set<string>();
  if (CLOSED.includes(state)) return keys;
  if (state !== 'Scheduled') keys.add(authorKey({ project, environment }, createdBy));
  for (const change of changes) {
    if (change.feature !== null) keys.add(flagKey(project, change.feature));
    if (state !== 'Scheduled') continue;
    const target = targetKey({ project, environment }, change);
    keys.add(target).add(`${target} ${strategyOf(change) ?? '*'}`);
  }
  return keys;
}

/** Key of the requests that change a flag. */
export const flagKey = (project: string, flag: string): string => `${project} ${flag}`;

/** Key of the one to which its author may add. */
export const authorKey = ({ project, environment }: Place, userId: number): string =>
  `${project} ${environment} @${userId}`;

/** Key of the scheduled ones that change a flag or a segment in an environment; with an id behind it, those of its strategy, and with `*`, those of all. */
export const targetKey = (
  { project, environment }: Place,
  { feature, payload }: Pick<StoredChange, 'feature' | 'payload'>,
): string => `${project} ${environment} ${feature ?? `#${(payload as { readonly id: number }).id}`}`;

export const strategyOf = ({ action, payload }: Pick<StoredChange, 'action' | 'payload'>): string | null =>
  action === 'updateStrategy' || action === 'deleteStrategy' ? (payload as { readonly id: string }).id : null;

class RequestIndex {
  #records: AddonRecords | undefined;
  #lists: ReadonlySet<readonly RequestRecord[]> = new Set();
  /** Newest first. */
  readonly #byKey = new Map<string, StoredRequest[]>();

  find(world: World, key: string): readonly StoredRequest[] {
    const records = world.addonRecords.get(REQUEST.name);
    if (records !== this.#records) {
      this.#follow(addonRecordLists(world, REQUEST));
      this.#records = records;
    }
    return this.#byKey.get(key) ?? [];
  }

  /** Takes the requests in, unless somebody has asked for some before all are there. */
  *prepare(world: World): Generator<void, void> {
    if (this.#lists.size > 0) return;
    for (const list of newestRecordLists(world, REQUEST)) {
      if (this.#records !== undefined) return;
      this.#follow([...this.#lists, list]);
      yield;
    }
  }

  #follow(all: readonly (readonly RequestRecord[])[]): void {
    const lists = new Set(all);
    const was = new Set([...this.#lists].filter((list) => !lists.has(list)).flat());
    const is = new Set(all.filter((list) => !this.#lists.has(list)).flat());
    for (const record of was) if (!is.has(record)) this.#change(record.data, 1);
    // At first all of them come, and each goes to the end of its lists.
    for (const record of [...is].reverse()) if (!was.has(record)) this.#change(record.data, 0, record.data);
    this.#lists = lists;
  }

  #change(request: StoredRequest, removed: 0 | 1, ...added: readonly StoredRequest[]): void {
    for (const key of keysOf(request)) {
      const list = this.#byKey.get(key) ?? [];
      list.splice(placeOf(list, request.id), removed, ...added);
      if (list.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, list);
    }
  }
}

/** The place of the id in a list of falling ids. */
function placeOf(list: readonly StoredRequest[], id: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]!.id > id) low = middle + 1;
    else high = middle;
  }
  return low;
}

const indexes = new WeakMap<World['identity'], RequestIndex>();

function indexOf({ identity }: World): RequestIndex {
  const index = indexes.get(identity) ?? new RequestIndex();
  indexes.set(identity, index);
  return index;
}

/** Makes the index in steps, where nobody has used it. */
export const prepareIndex = (world: World): Generator<void, void> => indexOf(world).prepare(world);

/** The newest open requests with the key, at most so many. */
export function findRequests(world: World, key: string, countMax?: number): readonly StoredRequest[] {
  // The index changes the list later on.
  return indexOf(world)
    .find(world, key)
    .slice(0, countMax)
    .filter((request) => !isOrphan(world, request));
}
