/**
 * A client: sends commands, some with an idempotency key, reads and searches. It remembers across restarts what it
 * was answered and what it still waits for, and retries as clients do. All that it is shown, the witness is told.
 */
import assert from 'node:assert/strict';
import type { Engine } from '../../src/actors/engine.ts';
import type { Outcome, Retry } from '../../src/actors/submission.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import type { DomainEvent } from '../../src/domain/state/events.ts';
import type { FlagRecord } from '../../src/domain/state/flag-record.ts';
import { RESPONSE_LIFETIME_MS } from '../../src/domain/state/idempotency-cache.ts';
import type { EventQuery } from '../../src/persistence/event-log/event-filter.ts';
import { eventsOf } from '../support/event-page.ts';
import type { CommandSource } from '../support/random-commands.ts';
import { PROJECTS, pick } from '../support/random-values.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { isInjected } from './injected.ts';
import type { Tally } from './tally.ts';
import type { Witness } from './witness.ts';

/** The process as its clients see it. */
export interface Service {
  readonly engine: Engine;
  /** Nobody hears what a dead process says. */
  readonly isOver: boolean;
}

export interface ClientOptions {
  readonly name: string;
  readonly random: SeededRandom;
  readonly commands: CommandSource;
  readonly witness: Witness;
  readonly tally: Tally;
  /** A number for each request, never given twice. */
  nextRequest(): number;
}

interface Request {
  readonly number: number;
  readonly command: Command;
  /** Null: sent without a key, and never again. */
  readonly key: string | null;
  response: string | null;
}

/** Answered requests that may be sent again. */
const RESPONDED_KEPT = 5;

const BURST_LENGTH_MAX = 6;

export class Client {
  readonly #options: ClientOptions;
  #pending: Request[] = [];
  readonly #responded: Request[] = [];

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The process is gone: what has no key is lost without a response, what has one is sent again. */
  reconnect(): void {
    this.#pending = this.#pending.filter(({ key }) => key !== null);
  }

  /** One request, or a burst of them; resolves when all are answered. */
  async act(service: Service): Promise<void> {
    const { random } = this.#options;
    const pending = this.#pending[0];
    if (pending !== undefined) return this.#send(service, pending);
    const kind = random.next();
    if (kind < 0.1) return this.#readFlag(service);
    if (kind < 0.15) return this.#readProject(service);
    if (kind < 0.22) return this.#search(service);
    const again = this.#responded[0];
    if (kind < 0.3 && again !== undefined) return this.#send(service, again);
    const count = random.chance(0.15) ? 2 + random.below(BURST_LENGTH_MAX - 1) : 1;
    const requests = Array.from({ length: count }, () => this.#newRequest(service));
    await Promise.all(requests.map((request) => this.#send(service, request)));
  }

  #newRequest({ engine }: Service): Request {
    const { random, commands, nextRequest, name } = this.#options;
    const number = nextRequest();
    const key = random.chance(0.3) ? `${name}-${number}` : null;
    const request: Request = { number, command: commands.next(engine.world), key, response: null };
    this.#pending.push(request);
    return request;
  }

  #send(service: Service, request: Request): Promise<void> {
    const { engine } = service;
    const { witness, tally } = this.#options;
    const sending = new Sending(request, engine, witness);
    return new Promise((resolve, reject) => {
      engine.submit({
        command: request.command,
        actor: { name: this.#options.name, userId: 1 },
        ...(request.key === null ? {} : { retry: sending.retry(request.key) }),
        precondition: () => sending.look(),
        respond: (_world, events) => sending.decided(events),
        done: (outcome) => {
          if (service.isOver) return;
          // What is thrown here would end up in the engine, which is not at fault.
          try {
            sending.done(outcome, tally);
            this.#settle(request);
            resolve();
          } catch (error) {
            reject(error);
          }
        },
      });
    });
  }

  #settle(request: Request): void {
    this.#pending = this.#pending.filter((one) => one !== request);
    if (request.key === null || request.response === null || this.#responded.includes(request)) return;
    this.#responded.unshift(request);
    this.#responded.length = Math.min(this.#responded.length, RESPONDED_KEPT);
  }

  #readFlag(service: Service): Promise<void> {
    const { random } = this.#options;
    const projects = [...service.engine.world.projects.values()];
    const records = projects.flatMap(({ flags }): FlagRecord[] => [...flags.values()]);
    return records.length === 0 ? Promise.resolve() : this.#read(service, pick(random, records).revision);
  }

  #readProject(service: Service): Promise<void> {
    const projects = [...service.engine.world.projects.values()];
    return this.#read(service, pick(this.#options.random, projects).revision);
  }

  /** Shows what was read when it is settled, and settled state is shown at once, however slow the disk is. */
  #read(service: Service, revision: number): Promise<void> {
    const { engine } = service;
    const { witness, tally } = this.#options;
    const isSettled = revision <= engine.durableId;
    let isShown = false;
    const read = new Promise<void>((resolve) => {
      engine.whenDurable(revision, () => {
        isShown = true;
        if (service.isOver) return;
        witness.shown(revision);
        tally.reads += 1;
        resolve();
      });
    });
    assert.equal(isShown, isSettled, 'settled state is read at once, and no other');
    return read;
  }

  async #search(service: Service): Promise<void> {
    const { random, witness, tally } = this.#options;
    const { engine } = service;
    if (!engine.eventLog.isWhole) return;
    const durableId = engine.durableId;
    const query: EventQuery = {
      limit: 1 + random.below(20),
      offset: random.chance(0.3) ? 1 + random.below(durableId) : 0,
      ...(random.chance(0.3) ? { project: pick(random, PROJECTS) } : {}),
      ...(random.chance(0.3) ? { query: pick(random, ['feature', 'größer', 'nowhere']) } : {}),
    };
    try {
      const page = await engine.eventLog.search(query, durableId);
      if (service.isOver) return;
      for (const event of eventsOf(page)) {
        assert(event.id <= durableId, `event ${event.id} was shown, durable was ${durableId}`);
        witness.recognizes(event);
      }
      witness.shown(durableId);
      tally.searches += 1;
    } catch (error) {
      if (!isInjected(error)) throw error;
    }
  }
}

/** One sending of a request: what the engine makes of it, and whether it was allowed to. */
class Sending {
  readonly #request: Request;
  readonly #engine: Engine;
  readonly #witness: Witness;
  /** The state that the response shows. */
  #seenId = 0;
  #fromMemory = false;
  #responses = 0;

  constructor(request: Request, engine: Engine, witness: Witness) {
    this.#request = request;
    this.#engine = engine;
    this.#witness = witness;
  }

  retry(key: string): Retry<string> {
    return {
      key,
      fingerprint: key,
      toRemember: (body) => ({ status: 200, body }),
      fromMemory: ({ body }) => {
        this.#seenId = this.#engine.lastId;
        this.#fromMemory = true;
        return body ?? '';
      },
    };
  }

  look(): null {
    this.#seenId = this.#engine.lastId;
    this.#witness.look(this.#engine);
    return null;
  }

  decided(events: readonly DomainEvent[]): string {
    const { number } = this.#request;
    if (events.length === 0) return `${number} changed nothing`;
    const at = this.#engine.nextTime();
    const before = this.#witness.lastTimeApplied(number);
    const expired = before === null || before + RESPONSE_LIFETIME_MS <= at;
    assert(expired, `request ${number} was carried out twice`);
    // What was answered before that is forgotten. The client may never hear of this answer, and then gets it from memory.
    this.#request.response = null;
    this.#witness.decided(this.#engine, { request: number, at, events });
    this.#seenId = this.#engine.lastId + events.length;
    return `${number} is event ${this.#engine.lastId + 1} to ${this.#seenId}`;
  }

  done(outcome: Outcome<string>, tally: Tally): void {
    this.#responses += 1;
    assert.equal(this.#responses, 1, 'a request is answered once');
    if (outcome.kind === 'fault') throw outcome.error;
    if (outcome.kind === 'refusal') return this.#refused(outcome.refusal.name, tally);
    this.#witness.shown(this.#seenId);
    tally.acknowledged += 1;
    if (this.#fromMemory) this.#checkMemory(outcome.response, tally);
    else this.#request.response = outcome.response;
  }

  #refused(name: string, tally: Tally): void {
    if (name === 'ServiceUnavailableError') {
      tally.unavailable += 1;
      return;
    }
    if (name === 'InsufficientStorageError') tally.refusedForMemory += 1;
    if (name === 'PayloadTooLargeError') tally.refusedForSize += 1;
    this.#witness.shown(this.#seenId);
    tally.refused += 1;
  }

  #checkMemory(response: string, tally: Tally): void {
    const { number, response: first } = this.#request;
    tally.retriesFromMemory += 1;
    assert(
      first === null || first === response,
      `a retry was answered "${response}", the first time "${first}"`,
    );
    assert(
      response.startsWith(`${number} is event`),
      `request ${number} got the response of another: ${response}`,
    );
    assert(
      this.#witness.lastTimeApplied(number) !== null,
      `request ${number} is remembered and was never applied`,
    );
    this.#request.response = response;
  }
}
