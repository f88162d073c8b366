/**
 * Sends events to integrations. The journal is the queue: an integration has a cursor, the last event that was delivered or that it
 * does not want, and nothing is kept for a receiver that is away.
 *
 * Guarantees
 * - An integration gets each event that it wants at least once, in order: one attempt at a time, and the next event only once the
 *   cursor behind the one before is kept.
 * - After a crash or a take-over, at most what was under way is sent again.
 * - Integrations do not wait for each other: receivers that fail share few connections, and others do not use those.
 */
import type { LoggedEvent } from '../../persistence/event-log/logged-event.ts';
import type { Cursor, CursorStore, Cursors, DeliveryRow, NewRow } from './cursors.ts';
import { EventReads, EventSource, type Next, type SourceEngine, wants } from './event-source.ts';
import type { Integration } from './integration.ts';
import { type Handled, type Send, type Told, tell } from './providers/attempt.ts';
import { afterFailure, DUE, type Progress } from './schedule.ts';

/** Attempts under way for integrations whose last attempt failed. Each may take 10 seconds, and holds an event in memory. */
export const FAILING_MAX = 16;

/** Attempts under way in all. */
export const ATTEMPTS_MAX = 128;

/** How often a node looks whether it leads, and waits for a journal or a disk. */
const LOOK_MS = 1_000;

/** Between two looks at what is new: a busy server has thousands of changes a second. */
const PUMP_MS = 25;

/** Events looked at for all integrations in one go: a millisecond or two where there are a hundred. */
const SCANNED_MAX = 500;

/** A stop waits for attempts that are under way for so long; what they delivered may then be delivered again. */
const CLOSE_MS_MAX = 2_000;

/** Events that a cursor passes over before it is kept: an integration that wants few events writes seldom. */
const PASSED_MAX = 1_000;

export interface Status {
  /** The last event that was delivered or passed over. */
  readonly eventId: number;
  readonly state: 'sending' | 'retrying' | 'parked';
  /** Milliseconds since 1970 of the next attempt; null where none is due. */
  readonly retryMs: number | null;
  readonly failingSinceMs: number | null;
}

export interface CourierOptions {
  readonly engine: SourceEngine;
  /** All of them: the same array until there is a change, and the same object for each that is not changed. */
  integrations(): readonly Integration[];
  readonly cursors: CursorStore;
  readonly send: Send;
  /** Whether this server sends; only the leader of a cluster does. */
  isLeading(): boolean;
  /** Whether the leader can change, which is looked at each second. */
  readonly isCluster: boolean;
  readonly publicUrl: string | null;
  /** The percentage of users for whom the event's flag is on. */
  shareOf(event: LoggedEvent): number | null;
  /** Milliseconds since 1970. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Calls back after so many milliseconds. Must not keep the process alive. */
  timer(delayMs: number, callback: () => void): void;
  /** Resolves when an attempt may begin without delaying requests. */
  pace(): Promise<void>;
  /** Told what operators should know. */
  readonly log: CourierLog;
}

export interface CourierLog {
  /** Deliveries of the integration have failed for three days, or its receiver is gone, and they stopped. */
  parked(integration: number, reason: string): void;
  /** Events were removed before they were sent. */
  removed(integration: number, from: number, to: number): void;
  /** A cursor was behind the newest event, as after a repair. */
  broughtBack(integration: number, from: number, to: number): void;
  /** There were no cursors: integrations begin with the next event. */
  begunAnew(count: number, eventId: number): void;
  fault(error: unknown): void;
}

/** An integration that is sent to. */
class Line {
  integration: Integration;
  eventId: number;
  /** The cursor as it is kept. */
  kept: Cursor | null;
  progress: Progress;
  readonly source: EventSource;
  /** Attempts for the event that is under way, and what need not be sent again of it. */
  attempt = 0;
  handled: Handled = new Map();
  isBusy = false;
  /** Grows when what is under way must not move the cursor any more. */
  moves = 0;

  constructor(integration: Integration, kept: Cursor | null, eventId: number, source: EventSource) {
    this.integration = integration;
    this.kept = kept;
    this.eventId = eventId;
    this.progress = { ...DUE, failingSinceMs: kept?.failingSinceMs ?? null };
    this.source = source;
  }

  get cursor(): Cursor {
    return { eventId: this.eventId, failingSinceMs: this.progress.failingSinceMs };
  }

  get isFailing(): boolean {
    return this.progress.failingSinceMs !== null;
  }

  /** Goes on behind an event, without what is known of the one that was under way. */
  moveTo(eventId: number): void {
    this.eventId = eventId;
    this.attempt = 0;
    this.handled = new Map();
  }
}

export class Courier {
  readonly #options: CourierOptions;
  readonly #reads: EventReads;
  readonly #abort = new AbortController();
  readonly #lines = new Map<number, Line>();
  #phase: 'following' | 'loading' | 'leading' = 'following';
  /** Cursors that were kept before this server began to lead, by integration; those of new ones are missing. */
  #kept: Cursors = new Map();
  /** The integrations that were compared last. */
  #compared: readonly Integration[] | null = null;
  /** The newest event when cursors had been lost: integrations without one begin behind it. */
  #lostId = 0;
  /** Events up to here have been looked at for all integrations that waited for news. */
  #scannedId = 0;
  #running = 0;
  #runningFailing = 0;
  #isWoken = false;
  #pumpedMs = Number.NEGATIVE_INFINITY;
  #armedMs = Number.POSITIVE_INFINITY;
  #unsubscribe: () => void = () => undefined;
  /** Work that a stop waits for. */
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#reads = new EventReads(options.engine);
  }

  /** Resolves when the cursors are read, where this server sends. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#options.engine.feed.subscribe(() => this.#wake());
    this.#pump();
    await Promise.all(this.#underWay);
    this.#look();
  }

  /** Waits a little for the attempts that are under way, and keeps the cursors. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.#unsubscribe();
    const timedOut = new Promise<void>((resolve) => this.#options.timer(CLOSE_MS_MAX, resolve));
    await Promise.race([Promise.all(this.#underWay), timedOut]);
    if (this.#phase === 'leading') await this.#saveAll().catch(this.#options.log.fault);
    // What closes after the courier must not miss its turn.
    await this.#options.cursors.close().catch(this.#options.log.fault);
  }

  async #saveAll(): Promise<void> {
    for (const line of this.#lines.values()) if (line.kept?.eventId !== line.eventId) await this.#save(line);
  }

  get parkedCount(): number {
    return this.#count(({ progress }) => progress.dueMs === null);
  }

  /** Integrations whose last attempt failed, parked ones included. */
  get failingCount(): number {
    return this.#count(({ isFailing }) => isFailing);
  }

  #count(is: (line: Line) => boolean): number {
    return [...this.#lines.values()].filter((line) => line.integration.enabled && is(line)).length;
  }

  /** Null where this server does not send, or knows nothing of the integration yet. */
  status(id: number): Status | null {
    const line = this.#find(id);
    if (line === undefined) return null;
    const { dueMs, failingSinceMs } = line.progress;
    const state = dueMs === null ? 'parked' : failingSinceMs === null ? 'sending' : 'retrying';
    return { eventId: line.eventId, state, retryMs: state === 'retrying' ? dueMs : null, failingSinceMs };
  }

  /** The last deliveries of this server, newest first. */
  async rows(id: number): Promise<readonly DeliveryRow[]> {
    return this.#find(id) === undefined ? [] : this.#options.cursors.rows(id);
  }

  /** Has the integration tried again now. False where nothing is known of it. */
  sendAgain(id: number): boolean {
    const line = this.#find(id);
    if (line === undefined) return false;
    line.progress = DUE;
    this.#wake();
    return true;
  }

  /** Goes on with event `eventId`, earlier or later. False where nothing is known of the integration. */
  async goOn(id: number, eventId: number): Promise<boolean> {
    const line = this.#find(id);
    if (line === undefined) return false;
    line.moves += 1;
    line.moveTo(eventId - 1);
    line.progress = DUE;
    line.source.drop();
    await this.#save(line);
    this.#wake();
    return true;
  }

  /** Sends an event at once, out of order; null where nothing is known of the integration. */
  async sendTest(id: number, event: LoggedEvent): Promise<Told | null> {
    const line = this.#find(id);
    if (line === undefined) return null;
    const told = (await this.#tell(line, event, { attempt: 0, handled: new Map() })) ?? NOTHING_SENT;
    await this.#addRow(line, this.#rowOf(event.id, told));
    return told;
  }

  /** The integration, also where it was created a moment ago. */
  #find(id: number): Line | undefined {
    if (this.#phase === 'leading' && !this.#lines.has(id)) this.#compare();
    return this.#lines.get(id);
  }

  #wake(): void {
    if (this.#isWoken || this.#abort.signal.aborted) return;
    this.#isWoken = true;
    const pump = (): void => {
      this.#isWoken = false;
      this.#pump();
    };
    // The feed calls its listeners between two batches of the journal.
    if (Math.abs(this.#options.now() - this.#pumpedMs) >= PUMP_MS) setImmediate(pump);
    else this.#options.timer(PUMP_MS, pump);
  }

  /** Reports a fault, which is no reason to stop serving flags, and goes on a little later. */
  #fault(error: unknown): void {
    this.#options.log.fault(error);
    this.#arm(this.#options.now() + LOOK_MS);
  }

  /** Wakes at a time, unless something does so earlier. */
  #arm(atMs: number): void {
    if (atMs >= this.#armedMs) return;
    this.#armedMs = atMs;
    this.#options.timer(Math.max(1, atMs - this.#options.now()), () => {
      if (this.#armedMs === atMs) this.#armedMs = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  /** Looks each second who leads. */
  #look(): void {
    if (this.#abort.signal.aborted) return;
    this.#wake();
    if (this.#options.isCluster) this.#options.timer(LOOK_MS, () => this.#look());
  }

  #pump(): void {
    try {
      if (!this.#abort.signal.aborted) this.#sendDue();
    } catch (error) {
      this.#fault(error);
    }
  }

  #sendDue(): void {
    const nowMs = this.#options.now();
    this.#pumpedMs = nowMs;
    if (!this.#options.isLeading()) return this.#stepDown();
    if (this.#phase === 'following') this.#track(this.#lead());
    if (this.#phase !== 'leading') return;
    this.#compare();
    this.#scan();
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const line of this.#lines.values()) {
      const { dueMs } = line.progress;
      if (line.isBusy || dueMs === null || line.eventId >= this.#scannedId) continue;
      if (dueMs > nowMs) earliestMs = Math.min(earliestMs, dueMs);
      else if (this.#hasRoom(line)) this.#track(this.#run(line));
    }
    this.#arm(earliestMs);
  }

  #hasRoom({ isFailing }: Line): boolean {
    return this.#running < ATTEMPTS_MAX && !(isFailing && this.#runningFailing >= FAILING_MAX);
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => this.#fault(error))
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  /** Another node sends from now on, and this one forgets. */
  #stepDown(): void {
    if (this.#phase === 'leading') this.#phase = 'following';
    for (const line of this.#lines.values()) line.moves += 1;
    this.#lines.clear();
  }

  async #lead(): Promise<void> {
    const { cursors, integrations, log, timer } = this.#options;
    this.#phase = 'loading';
    const { durableId } = this.#reads;
    try {
      const { cursors: kept, isWhole } = await cursors.load();
      this.#kept = kept;
      this.#scannedId = durableId;
      this.#lostId = isWhole ? 0 : durableId;
      this.#compared = null;
      const lost = integrations().filter(
        ({ id, createdRevision }) => createdRevision <= this.#lostId && !kept.has(id),
      );
      if (lost.length > 0) log.begunAnew(lost.length, durableId);
      this.#phase = 'leading';
    } catch (error) {
      log.fault(error);
      return timer(LOOK_MS, () => {
        this.#phase = 'following';
        this.#wake();
      });
    }
    this.#wake();
  }

  /** Takes up what integrations there are. */
  #compare(): void {
    const integrations = this.#options.integrations();
    if (integrations === this.#compared) return;
    this.#compared = integrations;
    const gone = new Set([...this.#lines.keys(), ...this.#kept.keys()]);
    for (const integration of integrations) {
      gone.delete(integration.id);
      const line = this.#lines.get(integration.id);
      if (line === undefined) this.#takeUp(integration);
      else if (line.integration !== integration) this.#change(line, integration);
    }
    this.#kept = new Map();
    for (const id of gone) {
      const line = this.#lines.get(id);
      if (line !== undefined) line.moves += 1;
      this.#lines.delete(id);
      this.#track(this.#options.cursors.save(id, null).then(() => undefined));
    }
  }

  #takeUp(integration: Integration): void {
    const { id, createdRevision } = integration;
    const kept = this.#kept.get(id) ?? null;
    const { durableId } = this.#reads;
    const eventId =
      kept === null ? Math.max(createdRevision, this.#lostId) : Math.min(kept.eventId, durableId);
    const line = new Line(integration, kept, eventId, new EventSource(this.#reads));
    this.#lines.set(id, line);
    if (kept === null) this.#track(this.#keep(line));
    else if (kept.eventId > durableId) this.#options.log.broughtBack(id, kept.eventId, durableId);
  }

  /** Tries again at once: the receiver's fault may have been the old values'. */
  #change(line: Line, integration: Integration): void {
    const wasEnabled = line.integration.enabled;
    line.integration = integration;
    line.handled = new Map();
    if (line.isFailing) line.progress = DUE;
    // Nothing is sent later that happened while an integration was disabled.
    if (!(wasEnabled && integration.enabled) && !line.isBusy)
      line.moveTo(Math.max(line.eventId, this.#scannedId));
    if (integration.enabled && !wasEnabled) this.#track(this.#keep(line));
  }

  /** Looks at new events, once for all integrations that wait for some; each stops before the first that it wants. */
  #scan(): void {
    const { durableId } = this.#reads;
    const from = this.#scannedId;
    const waiting = new Set([...this.#lines.values()].filter((line) => !line.isBusy && line.eventId >= from));
    if (waiting.size === 0) {
      this.#scannedId = durableId;
      return;
    }
    const scanned = this.#reads.scan(from, SCANNED_MAX, (id, event) => {
      for (const line of waiting) {
        if (id <= line.eventId || !wants(line.integration, event)) continue;
        line.eventId = id - 1;
        waiting.delete(line);
      }
    });
    this.#scannedId = scanned ?? durableId;
    // Events that have left the ring are read from the journal.
    if (scanned !== null) for (const line of waiting) this.#pass(line, Math.max(line.eventId, scanned));
    if (this.#scannedId < durableId) this.#wake();
  }

  /** Moves the cursor over events that the integration does not want. */
  #pass(line: Line, eventId: number): void {
    line.moveTo(eventId);
    if (eventId - (line.kept?.eventId ?? 0) >= PASSED_MAX) this.#track(this.#keep(line));
  }

  async #run(line: Line): Promise<void> {
    const { isFailing } = line;
    line.isBusy = true;
    this.#running += 1;
    if (isFailing) this.#runningFailing += 1;
    const { moves } = line;
    try {
      while (this.#maySend(line, moves) && (await this.#step(line, moves)));
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#options.log.fault(error);
      this.#track(this.#addRow(line, this.#rowOf(null, { state: 'failed', reason: FAULT })));
      if (line.moves === moves) this.#fail(line, { reason: FAULT });
    } finally {
      line.isBusy = false;
      this.#running -= 1;
      if (isFailing) this.#runningFailing -= 1;
    }
    this.#wake();
  }

  #maySend(line: Line, moves: number): boolean {
    return line.moves === moves && !this.#abort.signal.aborted && this.#options.isLeading();
  }

  /** Sends one event, or passes over some. Whether there may be more to do now. */
  async #step(line: Line, moves: number): Promise<boolean> {
    const { signal } = this.#abort;
    const next = await line.source.next(line.eventId, line.integration, { isOne: line.isFailing, signal });
    if (line.moves !== moves) return false;
    if (next.kind !== 'event') return this.#moveOver(line, next);
    const { event } = next;
    await this.#options.pace();
    if (!this.#maySend(line, moves)) return false;
    const told = await this.#tell(line, event, line);
    const row = told === null ? undefined : this.#rowOf(event.id, told);
    const wasFailing = line.isFailing;
    if (line.moves !== moves) {
      this.#track(this.#addRow(line, row));
      return false;
    }
    if (told?.isDone === false) {
      this.#fail(line, told);
      // The cursor stays, so that nobody waits for it.
      if (wasFailing) this.#track(this.#addRow(line, row));
      else await this.#keep(line, row);
      return false;
    }
    line.moveTo(event.id);
    line.progress = DUE;
    await this.#keep(line, row);
    return !wasFailing;
  }

  #moveOver(line: Line, next: Exclude<Next, { kind: 'event' }>): boolean {
    const { log, now } = this.#options;
    if (next.kind === 'unread') {
      line.progress = { ...line.progress, dueMs: now() + LOOK_MS };
      return false;
    }
    const { eventId } = next;
    const { id } = line.integration;
    if (next.kind === 'removed') {
      const from = line.eventId + 1;
      log.removed(id, from, eventId);
      const reason = `Events ${from} to ${eventId} were removed from the history before they were sent.`;
      this.#track(this.#addRow(line, this.#rowOf(null, { state: 'failed', reason })));
    }
    this.#pass(line, eventId);
    return line.eventId < this.#reads.durableId;
  }

  #tell(
    line: Line,
    event: LoggedEvent,
    { attempt, handled }: Pick<Line, 'attempt' | 'handled'>,
  ): Promise<Told | null> {
    const { publicUrl, shareOf, now, send } = this.#options;
    const surroundings = { publicUrl, share: shareOf(event), at: new Date(now()) };
    const { provider, parameters } = line.integration;
    return tell({ provider, parameters, event, surroundings, attempt, handled }, send);
  }

  #fail(line: Line, { reason, pauseMs }: Pick<Told, 'reason' | 'pauseMs'>): void {
    const { now, random, log } = this.#options;
    line.progress = afterFailure(line.progress, now(), random(), pauseMs);
    line.attempt += 1;
    line.source.drop();
    if (line.progress.dueMs === null) log.parked(line.integration.id, reason);
  }

  #rowOf(eventId: number | null, { state, reason }: Pick<Told, 'state' | 'reason'>): NewRow {
    return { atMs: this.#options.now(), state, reason, eventId };
  }

  async #addRow(line: Line, row: NewRow | undefined): Promise<void> {
    if (row !== undefined) await this.#options.cursors.addRow(line.integration.id, line.cursor, row);
  }

  /** Keeps the cursor before anything else is sent. Tries again until it is kept, or this server does not send any more. */
  async #keep(line: Line, row?: NewRow): Promise<void> {
    for (let failures = 0; this.#lines.get(line.integration.id) === line; failures += 1) {
      try {
        return await this.#save(line, failures === 0 ? row : undefined);
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        if (failures === 0) this.#options.log.fault(error);
        await new Promise<void>((resolve) => this.#options.timer(LOOK_MS, resolve));
      }
    }
  }

  async #save(line: Line, row?: NewRow): Promise<void> {
    const { cursor } = line;
    if (await this.#options.cursors.save(line.integration.id, cursor, row)) line.kept = cursor;
    else this.#stepDown();
  }
}

const FAULT = 'The event could not be read or sent; the log of the server has the cause.';

const NOTHING_SENT: Told = {
  state: 'failed',
  reason: 'The integration has nothing to send for this event.',
  isDone: true,
};
