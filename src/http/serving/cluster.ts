/** The dispatcher's view of a cluster: which node takes writes, and how far this node is. */
import type { ServedState } from '../../actors/served-state.ts';
import { invalid, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';

export interface ClusterAccess {
  /** Whether this node takes writes itself. */
  isLeading(): boolean;
  /** Has the leader respond to a write; a refusal where it cannot be reached. Rejects only when `signal` is aborted. */
  forward(request: TransportRequest, signal: AbortSignal): Promise<HttpResponse | Refusal>;
  readonly atLeast: AtLeast;
}

/** A header of every response to a write: all that the write made is in reads that ask for at least this event. */
export const EVENT_ID_HEADER = 'flagstaff-event-id';

/** A header of a request: the event that the response has to show. */
export const AT_LEAST_HEADER = 'flagstaff-at-least';

/** A header of responses: milliseconds for which what they show may be old. */
export const AGE_HEADER = 'flagstaff-age-ms';

/** Followers are milliseconds behind. One that is further behind should not hold up a client. */
const WAIT_MS = 1_000;

/** Each holds a request and its connection for up to a second. */
export const WAITING_MAX = 1_000;

/**
 * Waiting requests whose callers this node does not know. Their tokens may be newer than its state, or made up;
 * made-up ones must not take the places of others.
 */
export const STRANGERS_WAITING_MAX = 100;

/** Bytes of the bodies of requests that wait. Protects memory. */
export const WAITING_BODIES_BYTES_MAX = 16 * 1024 * 1024;

const NOT_YET = refuse(
  'ServiceUnavailableError',
  'This node does not have the event yet that the header Flagstaff-At-Least asks for; send the request again.',
);

/** A waiting request: the size of its body, and whether its caller is known here. */
export interface Waiting {
  readonly bytes: number;
  readonly isKnown: boolean;
}

interface Waiter extends Waiting {
  readonly id: number;
  readonly resume: (refusal: Refusal | null) => void;
}

/** Holds requests back until this node has the event that they ask for, for a second at most. */
export class AtLeast {
  readonly #engine: Pick<ServedState, 'durableId' | 'feed'>;
  readonly #timer: (delayMs: number, run: () => void) => () => void;
  readonly #waiters = new Set<Waiter>();
  #bytes = 0;
  #strangers = 0;

  constructor(
    engine: Pick<ServedState, 'durableId' | 'feed'>,
    timer: (delayMs: number, run: () => void) => () => void,
  ) {
    this.#engine = engine;
    this.#timer = timer;
    engine.feed.subscribe(() => this.#release());
  }

  /** Null when the request may go on; undefined where `resume` will be called later. */
  check(
    header: string,
    { bytes, isKnown }: Waiting,
    resume: (refusal: Refusal | null) => void,
  ): Refusal | null | undefined {
    if (!/^[0-9]{1,15}$/.test(header)) {
      return invalid(
        'The header Flagstaff-At-Least must be the id of an event.',
        `/headers/${AT_LEAST_HEADER}`,
      );
    }
    const id = Number(header);
    if (id <= this.#engine.durableId) return null;
    const isFull = isKnown
      ? this.#waiters.size - this.#strangers >= WAITING_MAX
      : this.#strangers >= STRANGERS_WAITING_MAX;
    if (isFull || this.#bytes + bytes > WAITING_BODIES_BYTES_MAX) return NOT_YET;
    const cancel = this.#timer(WAIT_MS, () => {
      this.#forget(waiter);
      resume(NOT_YET);
    });
    const waiter: Waiter = {
      ...{ id, bytes, isKnown },
      resume: (refusal) => {
        cancel();
        resume(refusal);
      },
    };
    this.#waiters.add(waiter);
    this.#bytes += bytes;
    if (!isKnown) this.#strangers += 1;
    return undefined;
  }

  #forget(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    this.#bytes -= waiter.bytes;
    if (!waiter.isKnown) this.#strangers -= 1;
  }

  #release(): void {
    if (this.#waiters.size === 0) return;
    const { durableId } = this.#engine;
    for (const waiter of [...this.#waiters]) {
      if (waiter.id > durableId) continue;
      this.#forget(waiter);
      waiter.resume(null);
    }
  }
}
