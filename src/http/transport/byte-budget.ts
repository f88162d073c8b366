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

/** The share of the limit down to which one client gives way at once. */
const FREED_TO_SHARE = 15 / 16;

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

  /** Goes on below the limit: each search takes a look at every holder. */
  #evictDearest(): void {
    const nowMs = this.#clock.now();
    for (const holder of this.#dearest(nowMs)) {
      if (this.#bytes <= this.#bytesMax * FREED_TO_SHARE) return;
      // The end of an earlier one may have ended it.
      if (!this.#holders.has(holder)) continue;
      this.#evictedCount += 1;
      this.leave(holder);
      holder.evict();
    }
  }

  /** All connections of the client with the highest cost, the dearest of them first. */
  #dearest(nowMs: number): readonly ByteHolder[] {
    const costs = new Map<string, number>();
    let dearest: ByteHolder | null = null;
    let highest = -1;
    for (const holder of this.#holders) {
      const { client } = holder;
      let cost = this.#costOf(holder, nowMs);
      if (client !== undefined) {
        cost += costs.get(client) ?? 0;
        costs.set(client, cost);
      }
      if (cost <= highest) continue;
      highest = cost;
      dearest = holder;
    }
    if (dearest?.client === undefined) return dearest === null ? [] : [dearest];
    const { client } = dearest;
    return [...this.#holders]
      .filter((holder) => holder.client === client)
      .sort((one, other) => this.#costOf(other, nowMs) - this.#costOf(one, nowMs));
  }

  #costOf(holder: ByteHolder, nowMs: number): number {
    return this.#bytesOf(holder) * Math.max(nowMs - holder.enteredAt, 1);
  }

  #bytesOf(holder: ByteHolder): number {
    let bytes = holder.copiedBytes;
    for (const { buffer } of holder.waitingBytes())
      bytes += buffer.byteLength / (this.#waiting.get(buffer) ?? 1);
    return bytes;
  }
}
