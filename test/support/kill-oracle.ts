/**
 * The memory of clients of their requests and responses, and what that says about the state after a crash:
 * - whatever was acknowledged is there, once;
 * - what was not acknowledged is wholly in or wholly out, and from then on stays so;
 * - the events are one history, in which each change follows from the one before.
 */
import assert from 'node:assert/strict';
import { FEATURES } from './interface.ts';
import type { Call, ReceivedResponse } from './server.ts';

export const SHARED_FLAG = 'shared';

/** Changes of one flag by one client, one at a time, numbered from 1. */
class Changes {
  /** Highest number sent. */
  sent = 0;
  /** Highest number known to be in the state: acknowledged, or found after a restart. */
  known = 0;
  /** Highest number whose fate is settled: it was there after a restart, or was not. */
  settled = 0;

  async make(request: (number: number) => Promise<ReceivedResponse>): Promise<void> {
    this.sent += 1;
    const { status } = await request(this.sent);
    assert.equal(status, 200, 'nothing here is refused');
    this.known = this.sent;
  }

  /** After a restart: `found` are the numbers above the settled ones that are in the state. */
  settle(found: readonly number[], what: string): void {
    const acknowledged = Array.from(
      { length: this.known - this.settled },
      (_, index) => this.settled + 1 + index,
    );
    const open = this.sent > this.known ? [this.sent] : [];
    const isLast = found.at(-1) === this.sent;
    assert.deepEqual(
      found,
      isLast ? [...acknowledged, ...open] : acknowledged,
      `${what}: exactly what was answered`,
    );
    this.known = this.sent;
    this.settled = this.sent;
  }
}

interface FoundEvent {
  readonly id: number;
  readonly type: string;
  readonly featureName: string | null;
  readonly data: { readonly description: string; readonly stale: boolean } | null;
  readonly preData: { readonly description: string; readonly stale: boolean } | null;
}

export class Client {
  readonly flag: string;
  readonly #index: number;
  readonly #own = new Changes();
  readonly #shared = new Changes();

  constructor(index: number) {
    this.#index = index;
    this.flag = `own-${index}`;
  }

  get acknowledgedCount(): number {
    return this.#own.known + this.#shared.known;
  }

  /** Changes its own flag, by two events in one frame, and then the one that it shares with the others. */
  async write(call: Call, acknowledged: () => void): Promise<void> {
    await this.#own.make((number) =>
      call('PUT', `${FEATURES}/${this.flag}`, { description: `${number}`, stale: number % 2 === 1 }),
    );
    acknowledged();
    await this.#shared.make((number) =>
      call('PUT', `${FEATURES}/${SHARED_FLAG}`, { description: `${this.#index}:${number}` }),
    );
    acknowledged();
  }

  async check(call: Call, events: readonly FoundEvent[]): Promise<void> {
    const numbersIn = (flag: string, prefix: string): number[] =>
      metadataOf(events, flag)
        .map(({ data }) => data?.description ?? '')
        .filter((description) => description.startsWith(prefix))
        .map((description) => Number(description.slice(prefix.length)));
    const own = numbersIn(this.flag, '');
    const before = this.#own.settled;
    this.#own.settle(own, this.flag);
    this.#shared.settle(numbersIn(SHARED_FLAG, `${this.#index}:`), SHARED_FLAG);
    const { body } = await call('GET', `${FEATURES}/${this.flag}`);
    const number = Number(body.description);
    if (own.length > 0) assert.equal(number, own.at(-1));
    assert(number <= before || own.includes(number), 'the state is that of the last event');
    assert.equal(body.stale, number % 2 === 1, 'a change is wholly in or wholly out');
  }
}

const metadataOf = (events: readonly FoundEvent[], flag: string): readonly FoundEvent[] =>
  events.filter(({ type, featureName }) => type === 'feature-metadata-updated' && featureName === flag);

export class KillOracle {
  readonly clients: readonly Client[];
  #newest: FoundEvent | null = null;

  constructor(clientCount: number) {
    this.clients = Array.from({ length: clientCount }, (_, index) => new Client(index));
  }

  get acknowledgedCount(): number {
    return this.clients.reduce((sum, client) => sum + client.acknowledgedCount, 0);
  }

  async prepare(call: Call): Promise<void> {
    for (const flag of [SHARED_FLAG, ...this.clients.map((client) => client.flag)]) {
      assert.equal((await call('POST', FEATURES, { name: flag, description: '0' })).status, 201);
    }
    this.#newest = (await eventsAfter(call, 0)).at(-1) ?? null;
  }

  /** Against a server that has just been started again. */
  async check(call: Call): Promise<void> {
    assert(this.#newest !== null, 'flags are there before anything is checked');
    const [known, ...events] = await eventsAfter(call, this.#newest.id - 1);
    assert.deepEqual(known, this.#newest, 'what was seen once stays as it was');
    checkHistory(events);
    for (const client of this.clients) await client.check(call, events);
    const shared = metadataOf(events, SHARED_FLAG).at(-1);
    if (shared !== undefined) {
      const { body } = await call('GET', `${FEATURES}/${SHARED_FLAG}`);
      assert.equal(body.description, shared.data?.description);
    }
    this.#newest = events.at(-1) ?? known ?? null;
  }
}

/** Oldest first, without a gap. */
async function eventsAfter(call: Call, id: number): Promise<FoundEvent[]> {
  const found: FoundEvent[] = [];
  for (let offset = 0, more = true; more; ) {
    const { body } = await call('POST', '/events/search', { limit: 100, offset });
    const newer = body.events.filter((event: FoundEvent) => event.id > id);
    found.push(...newer);
    offset = (body.events.at(-1)?.id ?? 1) - 1;
    more = newer.length === 100 && offset > id;
  }
  found.reverse();
  for (const [index, event] of found.entries()) assert.equal(event.id, id + 1 + index, 'ids have no gap');
  return found;
}

/** Each change of a flag begins where the one before it ended, and a frame is there whole. */
function checkHistory(events: readonly FoundEvent[]): void {
  const last = new Map<string, string>();
  for (const [index, { type, featureName, data, preData }] of events.entries()) {
    if (type !== 'feature-metadata-updated' || featureName === null || data === null) continue;
    const before = last.get(featureName);
    if (before !== undefined)
      assert.equal(preData?.description, before, 'a change follows from the one before');
    last.set(featureName, data.description);
    if (data.stale === preData?.stale) continue;
    const next = events[index + 1];
    assert.deepEqual(
      [next?.type, next?.featureName],
      [data.stale ? 'feature-stale-on' : 'feature-stale-off', featureName],
      'both events of a change are there',
    );
  }
}
