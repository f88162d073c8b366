/** Makes large things one at a time, callers in turn: so one of them is in memory unfinished, however many are asked for. */
import { ReadQueue } from '../../../actors/read-queue.ts';
import { isRefusal } from '../../../domain/state/refusal.ts';

/** What waits is a request whose connection is counted, so nothing is refused. */
const ONE_AT_A_TIME = { runningMax: 1, runningPerAskerMax: 1, waitingMax: Number.MAX_SAFE_INTEGER };

/** What is made may be for several who ask, so it goes on when one of them has gone. */
const NEVER = new AbortController().signal;

export class Making {
  readonly #queue = new ReadQueue(ONE_AT_A_TIME);

  /** `payer`: on whose behalf; absent for what all read. */
  async run<T>(make: () => Promise<T>, payer?: { readonly name: string }): Promise<T> {
    const made = await this.#queue.run(make, { name: payer?.name ?? '', signal: NEVER });
    if (isRefusal(made)) throw new Error('a queue without an end refuses nothing');
    return made;
  }
}
