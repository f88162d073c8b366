/** A state without an engine: commands are decided and their events applied at once, with a clock that ticks. */

import { type Command, decideWithinLimits } from '../../src/domain/decide/decide.ts';
import { DEFAULT_GROWTH_LIMITS, type GrowthLimits } from '../../src/domain/flags/growth-limits.ts';
import { applyChange } from '../../src/domain/state/apply.ts';
import type { Actor, Decision } from '../../src/domain/state/decision.ts';
import type { DomainEvent } from '../../src/domain/state/events.ts';
import { isRefusal, type RefusalName } from '../../src/domain/state/refusal.ts';
import { RULES_VERSION } from '../../src/domain/state/replay-rules.ts';
import { seedEvents } from '../../src/domain/state/seed-events.ts';
import { type Draft, draftOf, emptyWorld, type World } from '../../src/domain/state/world.ts';

const STARTED_AT = Date.parse('2024-01-01T00:00:00Z');

/** An API token: its commands make nobody an Owner. */
export const TOKEN_ACTOR: Actor = { name: 'token', userId: -42 };

/** A strategy as a command has it, for everybody. */
export const DEFAULT_STRATEGY = {
  ...{ name: 'default', title: null, disabled: false, parameters: {} },
  ...{ constraints: [], variants: [], segments: [] },
} as const;

export class TestWorld {
  world: World = emptyWorld();
  /** Every event so far, in order, by the command that recorded it. */
  readonly frames: (readonly DomainEvent[])[] = [];
  #eventCount = 0;
  #idCount = 0;

  limits: GrowthLimits = DEFAULT_GROWTH_LIMITS;
  memoryBudgetBytes = Number.POSITIVE_INFINITY;

  /** With what a new data folder starts with, unless `events` are given. */
  constructor(events: readonly DomainEvent[] = seedEvents(new Date(STARTED_AT).toISOString())) {
    this.record(events);
  }

  record(events: readonly DomainEvent[]): void {
    const createdAt = this.#now();
    if (events.length > 0) this.frames.push(events);
    this.world = applyChange(this.world, events, {
      id: this.#eventCount + 1,
      createdAt,
      rules: RULES_VERSION,
    });
    this.#eventCount += events.length;
  }

  /** Changes the state without an event. */
  change(run: (draft: Draft) => void): void {
    const draft = draftOf(this.world);
    run(draft);
    this.world = draft;
  }

  decide(command: Command, actor: Actor = TOKEN_ACTOR): Decision {
    const newId = () => {
      this.#idCount += 1;
      return `00000000-0000-4000-8000-${String(this.#idCount).padStart(12, '0')}`;
    };
    const now = this.#now();
    const { limits, memoryBudgetBytes } = this;
    const clockMs = Date.parse(now);
    const nextId = this.#eventCount + 1;
    const context = { now, clockMs, actor, limits, memoryBudgetBytes, nextId, newId };
    const decision = decideWithinLimits(this.world, command, context);
    return isRefusal(decision) ? decision : decision.events;
  }

  /** The types of the events, or the name of the refusal. */
  run(command: Command, actor?: Actor): readonly string[] | RefusalName {
    const decision = this.decide(command, actor);
    if (isRefusal(decision)) return decision.name;
    this.record(decision);
    return decision.map((event) => event.type);
  }

  /** The same as `run`, for what has to succeed before the test begins. */
  given(...commands: readonly Command[]): this {
    for (const command of commands) {
      const decision = this.decide(command);
      if (isRefusal(decision)) throw new Error(`${command.type} is refused: ${decision.message}`);
      this.record(decision);
    }
    return this;
  }

  /** One second later with each event. */
  #now(): string {
    return new Date(STARTED_AT + this.#eventCount * 1000).toISOString();
  }
}
