/**
 * Bounds the memory of bytes that wait for clients: request bodies that have not arrived whole, and responses that are not read yet.
 *
 * Many responses can wait with the same bytes: a cached body, an event that is sent to every stream. Those bytes are
 * in memory once, so they count once, with all the memory that they are a part of. What one client alone has counts in full: what has come of
 * its body, and copies that an engine makes. When the sum passes its limit, the client that has held most for longest gives way to
 * the others, on all of its connections together; bytes that several share are divided among them, so that closing one is not expected
 * to free what the others keep.
 */
import type { TransportClock } from './deadlines.ts';

/** A client that has not read everything that was sent to it, or not sent all of its body. */
export interface ByteHolder {
  /** Equal for all connections of a client; undefined where each counts alone. */
  readonly client?: string | undefined;
  /** By the clock of the budget, in milliseconds: when it last moved. */
  readonly enteredAt: number;
  /** The bytes that wait, by reference. The same array can occur more than once. */
  waitingBytes(): Iterable<Uint8Array>;
  /** Bytes that this client alone has. */
  readonly copiedBytes: number;
  /** The budget is needed for others. What it had no longer counts. */
  evict(): void;
}

/** Bytes by the time for which they have been held. */
interface Cost {
  readonly holder: ByteHolder;
  readonly cost: number;
}

/** The most that gives way beyond what has to: of the bytes, and of the connections. */
const AT_ONCE_SHARE = 1 / 16;

export class ByteBudget {
  readonly #bytesMax: number;
  readonly #clock: Pick<TransportClock, 'now'>;
  readonly #holders = new Set<ByteHolder>();
  /** How many arrays wait that are in this memory: any of them keeps all of it. */
  readonly #waiting = new Map<ArrayBufferLike, number>();
  #bytes = 0;
  #evictedCount = 0;

  constructor(bytesMax: number, clock: Pick<TransportClock, 'now'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isHalfFull(): boolean {
    return this.#bytes >= this.#bytesMax / 2;
  }

  /** Clients that had to give way since the start. */
  get evictedCount(): number {
    return this.#evictedCount;
  }

  /** `holder` now waits with `bytes` too. Evicts the dearest, perhaps `holder`, while there are too many. */
  take(holder: ByteHolder, { buffer }: Uint8Array): void {
    this.#holders.add(holder);
    const count = this.#waiting.get(buffer) ?? 0;
    this.#waiting.set(buffer, count + 1);
    if (count === 0) this.takeCopied(holder, buffer.byteLength);
  }

  /** The opposite of `take`, once for each. */
  give({ buffer }: Uint8Array): void {
    const count = this.#waiting.get(buffer) ?? 0;
    if (count > 1) {
      this.#waiting.set(buffer, count - 1);
    } else if (this.#waiting.delete(buffer)) {
      this.#bytes -= buffer.byteLength;
    }
  }

  /** `holder` now costs `bytes` more that only it has. */
  takeCopied(holder: ByteHolder, bytes: number): void {
    this.#holders.add(holder);
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax && this.#holders.size > 0) this.#evictDearest();
  }

  giveCopied(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** `holder` waits with nothing any more: gives back all that it has. Without effect for one that never waited. */
  leave(holder: ByteHolder): void {
    if (!this.#holders.delete(holder)) return;
    for (const bytes of holder.waitingBytes()) this.give(bytes);
    this.giveCopied(holder.copiedBytes);
  }

  /** Goes on below the limit for a moment: a search for the dearest looks at all clients. */
  #evictDearest(): void {
    const dearest = this.#dearest();
    const atOnce = dearest.length * AT_ONCE_SHARE;
    for (const [at, { holder }] of dearest.entries()) {
      const isFreed = at >= atOnce || this.#bytes <= this.#bytesMax * (1 - AT_ONCE_SHARE);
      if (isFreed && this.#bytes <= this.#bytesMax) return;
      // The end of an earlier one may have ended it.
      if (!this.#holders.has(holder)) continue;
      this.#evictedCount += 1;
      this.leave(holder);
      holder.evict();
    }
  }

  /** All connections of the client with the highest cost, or all that count alone if one of them is it; the dearest of them first. */
  #dearest(): readonly Cost[] {
    const nowMs = this.#clock.now();
    const costs = Array.from(this.#holders, (holder) => ({
      holder,
      cost: this.#bytesOf(holder) * Math.max(nowMs - holder.enteredAt, 1),
    }));
    const sums = new Map<string, number>();
    let dearest: string | undefined;
    let highest = -1;
    for (const { holder, cost } of costs) {
      const { client } = holder;
      const sum = cost + (client === undefined ? 0 : (sums.get(client) ?? 0));
      if (client !== undefined) sums.set(client, sum);
      if (sum > highest) [dearest, highest] = [client, sum];
    }
    return costs
      .filter(({ holder }) => holder.client === dearest)
      .sort((one, other) => other.cost - one.cost);
  }

  #bytesOf(holder: ByteHolder): number {
    let bytes = holder.copiedBytes;
    for (const { buffer } of holder.waitingBytes())
      bytes += buffer.byteLength / (this.#waiting.get(buffer) ?? 1);
    return bytes;
  }
}
