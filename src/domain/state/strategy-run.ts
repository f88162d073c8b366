/**
 * Many strategies of one flag and environment that come, go and change in one change, as in a clone or a rollback, applied in
 * one pass. One by one, each of them would copy the whole list: 10,000 strategies, which data from before the limits may hold, took
 * seconds. The outcome is the same as one by one; where it might not be, there is none.
 */
import { bySortOrder, type Strategy } from '../flags/strategy.ts';
import type { DomainEvent, FlagEvent } from './events.ts';

export type StrategyEvent = Extract<
  FlagEvent,
  { type: 'feature-strategy-add' | 'feature-strategy-update' | 'feature-strategy-remove' }
>;

/** Below this, one by one is as quick. */
export const RUN_LENGTH_MIN = 8;

const NONE: readonly StrategyEvent[] = [];

/** The events from `start` on that concern strategies of one flag in one environment; none when there are too few. */
export function strategyRun(events: readonly DomainEvent[], start: number): readonly StrategyEvent[] {
  const first = events[start];
  if (first === undefined || events.length - start < RUN_LENGTH_MIN || !isStrategyEvent(first)) return NONE;
  let end = start + 1;
  while (end < events.length && belongsTo(first, events[end]!)) end += 1;
  return end - start < RUN_LENGTH_MIN ? NONE : (events.slice(start, end) as StrategyEvent[]);
}

function isStrategyEvent(event: DomainEvent): event is StrategyEvent {
  const { type } = event;
  return (
    type === 'feature-strategy-add' ||
    type === 'feature-strategy-update' ||
    type === 'feature-strategy-remove'
  );
}

function belongsTo({ featureName, environment }: StrategyEvent, event: DomainEvent): boolean {
  return isStrategyEvent(event) && event.featureName === featureName && event.environment === environment;
}

/** `strategyOf` gives the strategy of an event. Null: the events must be applied one by one. */
export function strategiesAfter(
  before: readonly Strategy[],
  events: readonly StrategyEvent[],
  strategyOf: (data: NonNullable<StrategyEvent['data']>) => Strategy,
): readonly Strategy[] | null {
  const list = new StrategyList(before);
  for (const event of events) {
    if (event.type === 'feature-strategy-remove') list.remove(event.preData.id);
    else if (event.type === 'feature-strategy-add') list.add(strategyOf(event.data));
    else list.update(strategyOf(event.data));
  }
  return list.outcome();
}

class StrategyList {
  /** Null where one was removed. */
  readonly #items: (Strategy | null)[];
  readonly #places = new Map<string, number>();
  /** Whether any of the steps sorts. To sort once, at the end, is the same, since the sort is stable. */
  #isSorted = true;
  /** Whether it was one that this list cannot do: two of one id, or one that moves among others. */
  #isUnfit = false;

  constructor(strategies: readonly Strategy[]) {
    this.#items = [];
    for (const strategy of strategies) this.#push(strategy);
  }

  add(strategy: Strategy): void {
    while (this.#items.at(-1) === null) this.#items.pop();
    const last = this.#items.at(-1);
    if (last !== undefined && last !== null && last.sortOrder > strategy.sortOrder) this.#isSorted = false;
    this.#push(strategy);
  }

  update(strategy: Strategy): void {
    const place = this.#places.get(strategy.id);
    if (place === undefined) return;
    if (this.#items[place]?.sortOrder !== strategy.sortOrder) this.#isUnfit = true;
    this.#items[place] = strategy;
  }

  remove(id: string): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#items[place] = null;
    this.#places.delete(id);
  }

  outcome(): readonly Strategy[] | null {
    if (this.#isUnfit) return null;
    const strategies = this.#items.filter((item) => item !== null);
    return this.#isSorted ? strategies : strategies.sort(bySortOrder);
  }

  #push(strategy: Strategy): void {
    if (this.#places.has(strategy.id)) this.#isUnfit = true;
    this.#places.set(strategy.id, this.#items.length);
    this.#items.push(strategy);
  }
}
