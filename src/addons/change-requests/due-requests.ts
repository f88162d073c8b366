/**
 * Carries out what is due of change requests, on the node that decides. It looks at the time twice a second, and at the requests only when
 * they have changed. What it submits is decided again in its turn, so nothing is carried out twice, by whichever nodes.
 */
import type { Engine } from '../../actors/engine.ts';
import { ownCommand } from '../../domain/decide/decide.ts';
import type { AddonRecords } from '../../domain/kinds/addon-kind.ts';
import { addonRecordsOf } from '../../domain/state/addon-records.ts';
import { SYSTEM } from '../../domain/state/decision.ts';
import { actorOf } from '../../http/serving/access.ts';
import type { Timer } from '../../process/timers.ts';
import { REQUEST, type StoredRequest } from './kind.ts';
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

export class DueRequests {
  readonly #options: DueRequestsOptions;
  /** The records that `#due` was made of. */
  #seen: AddonRecords | undefined;
  /** Requests that become due, the next one last. */
  #due: Due[] = [];
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
    while (!this.#isClosed && isLeading()) {
      const nowMs = engine.nextTime();
      if (nowMs < this.#retryAtMs) return;
      const next = this.#next();
      if (next === undefined || next.atMs > nowMs) return;
      // One that changes nothing, or fails, holds up no others: it is due again once any request has changed.
      this.#due.pop();
      if (await this.#submit(next.request, null)) continue;
      this.#seen = undefined;
      this.#retryAtMs = nowMs + RETRY_MS;
      return;
    }
  }

  /** The request that is due first. */
  #next(): Due | undefined {
    const { world } = this.#options.engine;
    const records = world.addonRecords.get(REQUEST.name);
    if (records !== this.#seen) {
      this.#seen = records;
      const all = addonRecordsOf(world, REQUEST).map(({ data }) => ({ request: data, atMs: dueAt(data) }));
      const isComing = ({ request, atMs }: Due) =>
        Number.isFinite(atMs) && world.projects.has(request.project);
      this.#due = all.filter(isComing).sort((a, b) => b.atMs - a.atMs);
    }
    return this.#due.at(-1);
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
      actor: schedule === null ? SYSTEM : actorOf(engine.world, schedule.scheduledBy),
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
