/**
 * Carries out what is due of change requests, on the node that decides. It looks at the time twice a second, and sorts only those
 * requests anew that have changed. What it submits is decided again in its turn, so nothing is carried out twice, by whichever nodes.
 */
import type { Engine } from '../../actors/engine.ts';
import { each, inBriefTurns } from '../../actors/turn.ts';
import { ownCommand } from '../../domain/decide/decide.ts';
import type { AddonRecords } from '../../domain/kinds/addon-kind.ts';
import { addonRecordLists, newestRecordLists } from '../../domain/state/addon-records.ts';
import { SYSTEM } from '../../domain/state/decision.ts';
import type { World } from '../../domain/state/world.ts';
import { actorOf } from '../../http/serving/access.ts';
import type { Timer } from '../../process/timers.ts';
import { isOrphan, REQUEST, type RequestRecord, type StoredRequest } from './kind.ts';
import { prepareIndex } from './request-index.ts';
import { carryOutDue, dueAt } from './schedule.ts';

const LOOK_MS = 500;

/** The wait before another attempt at a request that could not be carried out, such as in maintenance. */
const RETRY_MS = 10_000;

export interface DueRequestsOptions {
  readonly engine: Pick<Engine, 'world' | 'execute' | 'nextTime'>;
  readonly isLeading: () => boolean;
  readonly timer: Timer;
  /** Told what a look failed of; the next one tries again. */
  readonly onFault: (error: unknown) => void;
}

interface Due {
  readonly request: StoredRequest;
  readonly atMs: number;
}

const dueOf = new WeakMap<readonly RequestRecord[], readonly Due[]>();

/** Requests of the list that become due, the next one first. */
function dueIn(list: readonly RequestRecord[]): readonly Due[] {
  let due = dueOf.get(list);
  if (due === undefined) {
    due = list
      .map(({ data }) => ({ request: data, atMs: dueAt(data) }))
      .filter(({ atMs }) => Number.isFinite(atMs))
      .sort((a, b) => a.atMs - b.atMs);
    dueOf.set(list, due);
  }
  return due;
}

/** Reads and sorts all requests, on each node: after a start there may be many that nobody has read. */
function* prepared(world: World): Generator<void, void> {
  yield* prepareIndex(world);
  yield* each(newestRecordLists(world, REQUEST), (list) => void dueIn(list));
}

export class DueRequests {
  readonly #options: DueRequestsOptions;
  /** The records as they were when `#tried` was begun. */
  #seen: AddonRecords | undefined;
  #lists: readonly (readonly RequestRecord[])[] = [];
  /** Requests that stay as they are until any of them changes. */
  readonly #tried = new Set<StoredRequest>();
  /** The next part of the requests that is searched for those without their project. */
  #part = 0;
  #retryAtMs = 0;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: DueRequestsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.timer(LOOK_MS, () => {
      if (!this.#isClosed) void this.look().then(() => this.start());
    });
  }

  /** Resolves when all that is due now is on disk, or refused; never rejects. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#carryOut()).catch((error) => this.#fail(error));
    return this.#looking;
  }

  /** Resolves when what is under way is on disk. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#looking;
  }

  #fail(error: unknown): void {
    this.#retryAtMs = this.#options.engine.nextTime() + RETRY_MS;
    this.#options.onFault(error);
  }

  async #carryOut(): Promise<void> {
    const { engine, isLeading } = this.#options;
    if (this.#part === 0) await inBriefTurns(prepared(engine.world));
    this.#part += 1;
    // What was refused because another node led need not wait once this one leads again.
    if (!isLeading()) this.#retryAtMs = 0;
    while (!this.#isClosed && isLeading()) {
      const nowMs = engine.nextTime();
      const waitMs = this.#retryAtMs - nowMs;
      // A longer wait is by a clock that was ahead then.
      if (waitMs > 0 && waitMs <= RETRY_MS) return;
      const next = this.#next();
      if (next === undefined || next.atMs > nowMs) return;
      // One that changes nothing, or fails, holds up no others: it is due again once any request has changed.
      this.#tried.add(next.request);
      if (await this.#submit(next.request, null)) continue;
      this.#seen = undefined;
      this.#retryAtMs = nowMs + RETRY_MS;
      return;
    }
  }

  /** The request that is due first; before all others, one without its project. */
  #next(): Due | undefined {
    const { world } = this.#options.engine;
    const records = world.addonRecords.get(REQUEST.name);
    if (records !== this.#seen) {
      this.#seen = records;
      this.#lists = addonRecordLists(world, REQUEST);
      this.#tried.clear();
    }
    const part = this.#lists[this.#part % this.#lists.length] ?? [];
    const orphan = part.find(({ data }) => isOrphan(world, data) && !this.#tried.has(data));
    if (orphan !== undefined) return { request: orphan.data, atMs: Number.NEGATIVE_INFINITY };
    let next: Due | undefined;
    for (const list of this.#lists) {
      const first = dueIn(list).find(({ request }) => !this.#tried.has(request));
      if (first !== undefined && (next === undefined || first.atMs < next.atMs)) next = first;
    }
    return next;
  }

  /** False where the server takes no change now. */
  async #submit(request: StoredRequest, failure: string | null): Promise<boolean> {
    const { project, id, schedule } = request;
    const { engine } = this.#options;
    const outcome = await engine.execute({
      command: ownCommand({
        sent: { project, id, failure },
        decide: carryOutDue,
        onWholeState: true,
        isFree: true,
      }),
      actor:
        schedule === null || isOrphan(engine.world, request)
          ? SYSTEM
          : actorOf(engine.world, schedule.scheduledBy),
      respond: () => null,
    });
    if (outcome.kind === 'fault') throw outcome.error;
    if (outcome.kind === 'response') return true;
    const { name, message } = outcome.refusal;
    if (name === 'ServiceUnavailableError') return false;
    // Beyond the limits, or in another protected environment: no later moment is better.
    return failure !== null || this.#submit(request, message);
  }
}
