/** Couriers in virtual time, with events, receivers and cursors in memory: days pass in milliseconds, and a seed repeats everything. */
import { ChangeFeed } from '../../../src/actors/change-feed.ts';
import { Courier, type CourierLog, type CourierOptions } from '../../../src/addons/integrations/courier.ts';
import { type CursorStore, type DeliveryRow, ROWS_MAX } from '../../../src/addons/integrations/cursors.ts';
import type { SourceEngine } from '../../../src/addons/integrations/event-source.ts';
import type { Integration } from '../../../src/addons/integrations/integration.ts';
import type { Send } from '../../../src/addons/integrations/providers/attempt.ts';
import type { RecordedEvent } from '../../../src/domain/state/events.ts';
import type { RecordedFrame } from '../../../src/persistence/journal/frame.ts';
import { seededRandom } from '../../support/seeded-random.ts';

export const HOUR_MS = 3_600_000;

/** Time that only `run` moves. */
export class VirtualTime {
  nowMs = 1_700_000_000_000;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  readonly timer = (delayMs: number, callback: () => void): void => {
    this.#timers.push({ atMs: this.nowMs + delayMs, callback });
  };

  readonly sleep = (delayMs: number): Promise<void> => new Promise((resolve) => this.timer(delayMs, resolve));

  /** Lets so much time pass, or less where `until` holds before. */
  async run(durationMs: number, until: () => boolean = () => false): Promise<void> {
    const endMs = this.nowMs + durationMs;
    for (;;) {
      await settle();
      if (until()) return;
      const next = this.#timers.reduce<number>((earliest, { atMs }) => Math.min(earliest, atMs), endMs);
      const due = this.#timers.filter(({ atMs }) => atMs <= next);
      if (due.length === 0) break;
      this.nowMs = Math.max(this.nowMs, next);
      this.#timers = this.#timers.filter(({ atMs }) => atMs > next);
      for (const { callback } of due) callback();
    }
    this.nowMs = endMs;
  }
}

async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A journal in memory whose ring has few events. */
export class MemoryJournal implements SourceEngine {
  readonly frames: RecordedFrame[] = [];
  readonly feed: ChangeFeed;
  oldest = 1;
  isWhole = true;
  /** Called before it is read. */
  onWalk: () => void = () => undefined;

  constructor(ringChanges = 20) {
    this.feed = new ChangeFeed({
      durableId: 0,
      changesMax: ringChanges,
      onFault: (error) => {
        throw error;
      },
    });
  }

  get durableId(): number {
    return this.feed.durableId;
  }

  get eventLog(): SourceEngine['eventLog'] {
    const journal = this;
    const log = {
      get isWhole() {
        return journal.isWhole;
      },
      oldestId: () => journal.oldest,
      iterate: (walk: Parameters<SourceEngine['eventLog']['iterate']>[0]) => journal.#iterate(walk),
    };
    return log as unknown as SourceEngine['eventLog'];
  }

  async *#iterate({ from, to, anyOf }: Parameters<SourceEngine['eventLog']['iterate']>[0]) {
    this.onWalk();
    const types = anyOf?.flatMap(({ type }) => type ?? []) ?? [];
    for (const frame of this.frames.slice(Math.max(from, this.oldest) - 1, to)) {
      const event = frame.events[0]!;
      if (types.includes(event.type)) yield { id: frame.id, frame, event };
    }
  }

  /** Records one event. */
  record(event: Partial<RecordedEvent> = {}): number {
    const id = this.frames.length + 1;
    const whole = {
      type: 'feature-created',
      project: 'default',
      environment: null,
      featureName: 'a',
      data: { name: 'a' },
      ...event,
    };
    const frame = { id, at: 0, by: 'ada', userId: 1, events: [whole] } as unknown as RecordedFrame;
    this.frames.push(frame);
    this.feed.add(frame, 100);
    this.feed.advance(id);
    return id;
  }
}

export const integrationTo = (id: number, more: Partial<Integration> = {}): Integration => ({
  id,
  createdRevision: 0,
  provider: 'webhook',
  description: null,
  enabled: true,
  parameters: { url: `http://receiver-${id}/` },
  events: ['feature-created', 'feature-archived'],
  projects: [],
  environments: [],
  ...more,
});

/** A receiver: the status that it responds with, or null for no response, and how long it takes. */
export type Receive = (eventId: number) => {
  readonly status: number | null;
  readonly tookMs: number;
  readonly retryAfterMs?: number;
};

export interface Arrival {
  readonly integration: number;
  readonly eventId: number;
  readonly atMs: number;
  readonly isTaken: boolean;
}

export class Scene {
  readonly time = new VirtualTime();
  readonly journal: MemoryJournal;
  readonly arrivals: Arrival[] = [];
  readonly told: string[] = [];
  readonly receivers = new Map<number, Receive>();
  integrations: readonly Integration[] = [];
  underWay = 0;
  underWayMax = 0;
  readonly #random: () => number;
  readonly #taken = new Map<number, number[]>();

  constructor({ seed = 1, ringChanges }: { readonly seed?: number; readonly ringChanges?: number } = {}) {
    this.journal = new MemoryJournal(ringChanges);
    const random = seededRandom(seed);
    this.#random = () => random.next();
  }

  /** The events that an integration took, in order. */
  taken(integration: number): readonly number[] {
    return this.#taken.get(integration) ?? [];
  }

  start(
    cursors: CursorStore,
    {
      isLeading,
      isAlive = () => true,
      ...others
    }: Partial<CourierOptions> & { readonly isAlive?: () => boolean } = {},
  ): Courier {
    const log: CourierLog = {
      parked: (id) => void this.told.push(`parked ${id}`),
      removed: (id, from, to) => void this.told.push(`removed ${id}: ${from}-${to}`),
      broughtBack: (id, from, to) => void this.told.push(`brought back ${id}: ${from} to ${to}`),
      begunAnew: (count, eventId) => void this.told.push(`begun anew ${count} at ${eventId}`),
      fault: (error) => void this.told.push(String(error)),
    };
    const courier = new Courier({
      engine: this.journal,
      integrations: () => this.integrations,
      cursors,
      send: this.#sender(isAlive),
      isLeading: isLeading ?? isAlive,
      isCluster: isLeading !== undefined,
      publicUrl: null,
      shareOf: () => null,
      now: () => this.time.nowMs,
      random: this.#random,
      timer: (delayMs, callback) => this.time.timer(delayMs, () => isAlive() && callback()),
      pace: async () => undefined,
      log,
      ...others,
    });
    void courier.start();
    return courier;
  }

  #sender(isAlive: () => boolean): Send {
    return async ({ url, headers }) => {
      if (!isAlive()) return new Promise(() => undefined);
      const integration = Number(/receiver-(\d+)/.exec(url)?.[1]);
      const eventId = Number(headers['webhook-id']);
      const receive = this.receivers.get(integration) ?? (() => ({ status: 200, tookMs: 5 }));
      const { status, tookMs, ...asked } = receive(eventId);
      this.underWay += 1;
      this.underWayMax = Math.max(this.underWayMax, this.underWay);
      const isTaken = status !== null && status < 300;
      const taken = this.#taken.get(integration) ?? [];
      this.#taken.set(integration, taken);
      if (isTaken) taken.push(eventId);
      this.arrivals.push({ integration, eventId, atMs: this.time.nowMs, isTaken });
      await this.time.sleep(tookMs);
      this.underWay -= 1;
      if (!isAlive()) return new Promise(() => undefined);
      return status === null
        ? { kind: 'failure', failure: 'The connection failed.' }
        : { kind: 'response', response: { status, body: '', ...asked } };
    };
  }
}

/** Cursors that outlive the couriers that keep them. */
export class MemoryCursors implements CursorStore {
  readonly cursors: Map<number, { readonly eventId: number; readonly failingSinceMs: number | null }>;

  readonly isWhole: boolean;

  constructor(cursors: readonly (readonly [id: number, eventId: number])[] = [], isWhole = true) {
    this.isWhole = isWhole;
    this.cursors = new Map(cursors.map(([id, eventId]) => [id, { eventId, failingSinceMs: null }]));
  }

  load = async () => ({ cursors: new Map(this.cursors), isWhole: this.isWhole });

  save: CursorStore['save'] = async (id, cursor, row) => {
    if (cursor === null) this.cursors.delete(id);
    else this.cursors.set(id, cursor);
    if (cursor !== null && row !== undefined) await this.addRow(id, cursor, row);
    return true;
  };

  readonly #rows: (DeliveryRow & { readonly integration: number })[] = [];

  addRow: CursorStore['addRow'] = async (integration, _, row) =>
    void this.#rows.unshift({ ...row, integration, id: this.#rows.length + 1 });

  rows: CursorStore['rows'] = async (id) =>
    this.#rows.filter(({ integration }) => integration === id).slice(0, ROWS_MAX);

  close = async () => undefined;
}
