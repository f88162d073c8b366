/** A state in memory for micro benchmarks, made by commands as in the server, without journal and clock. */
import { randomUUID } from 'node:crypto';
import { type Command, decideWithinLimits } from '../../src/domain/decide/decide.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../src/domain/flags/growth-limits.ts';
import { applyChange } from '../../src/domain/state/apply.ts';
import type { DomainEvent } from '../../src/domain/state/events.ts';
import type { FlagRecord } from '../../src/domain/state/flag-record.ts';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import { RULES_VERSION } from '../../src/domain/state/replay-rules.ts';
import { seedEvents } from '../../src/domain/state/seed-events.ts';
import { emptyWorld, type ProjectState, type World } from '../../src/domain/state/world.ts';
import { flagCommands } from '../lib/servers/data-set-commands.ts';

const NOW = '2024-05-01T12:00:00.000Z';
const CONTEXT = {
  now: NOW,
  clockMs: Date.parse(NOW),
  limits: DEFAULT_GROWTH_LIMITS,
  memoryBudgetBytes: Number.POSITIVE_INFINITY,
  actor: { name: 'bench', userId: -42 },
  newId: randomUUID,
} as const;

export class MicroWorld {
  world: World = emptyWorld();
  readonly flags: number;
  #lastId = 0;

  constructor(flags: number) {
    this.flags = flags;
    this.#applyAll(seedEvents(NOW));
    for (const command of flagCommands({ flags, projects: 1, events: 0 })) this.carryOut(command);
  }

  /** Decides and applies. Every command here must change something, else it would measure less than it says. */
  carryOut(command: Command): readonly DomainEvent[] {
    const context = { ...CONTEXT, nextId: this.#lastId + 1 };
    const decision = decideWithinLimits(this.world, command, context);
    if (isRefusal(decision)) throw new Error(decision.message);
    const { events, after } = decision;
    if (events.length === 0) throw new Error(`${command.type} changed nothing`);
    if (after === null) this.#applyAll(events);
    else {
      this.world = after;
      this.#lastId += events.length;
    }
    return events;
  }

  get project(): ProjectState {
    const project = this.world.projects.get('default');
    if (project === undefined) throw new Error('there is no project');
    return project;
  }

  record(name: string): FlagRecord {
    const record = this.project.flags.get(name);
    if (record === undefined) throw new Error(`there is no flag ${name}`);
    return record;
  }

  #applyAll(events: readonly DomainEvent[]): void {
    for (const event of events) {
      this.#lastId += 1;
      this.world = applyChange(this.world, [event], {
        id: this.#lastId,
        createdAt: NOW,
        rules: RULES_VERSION,
      });
    }
  }
}
