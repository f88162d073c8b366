/**
 * Bounds the memory of response bytes that clients have not read yet.
 *
 * Many responses can wait with the same bytes: a cached body, an event that is sent to every stream. Those bytes are
 * in memory once, so they count once, with all the memory that they are a part of. What grows with each reader counts in full: bodies
 * made for one request, and copies that an engine makes. When the sum passes its limit, the reader that costs most is disconnected; bytes that
 * several readers share are divided among them, so that closing one is not expected to free what the others keep.
 */

/** A client that has not read everything that was sent to it. */
export interface UnreadHolder {
  /** The bytes that wait, by reference. The same array can occur more than once. */
  waitingBytes(): Iterable<Uint8Array>;
  /** Bytes that the engine has copied for this client alone. */
  readonly copiedBytes: number;
  /** Closes the connection. Must call `leave`, then or before. */
  evict(): void;
}

export class UnreadBytes {
  readonly #bytesMax: number;
  readonly #holders = new Set<UnreadHolder>();
  /** How many arrays wait that are in this memory: any of them keeps all of it. */
  readonly #waiting = new Map<ArrayBufferLike, number>();
  #bytes = 0;
  #evictedCount = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes in memory because clients have not read them. */
  get bytes(): number {
    return this.#bytes;
  }

  get isHalfFull(): boolean {
    return this.#bytes >= this.#bytesMax / 2;
  }

  /** Readers disconnected since the start to stay below the limit. */
  get evictedCount(): number {
    return this.#evictedCount;
  }

  /** `holder` now waits with `bytes` too. Disconnects the dearest readers, perhaps `holder`, while there are too many. */
  take(holder: UnreadHolder, { buffer }: Uint8Array): void {
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
  takeCopied(holder: UnreadHolder, bytes: number): void {
    this.#holders.add(holder);
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax && this.#holders.size > 0) this.#evictDearest();
  }

  giveCopied(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** `holder` waits with nothing any more: gives back all that it has. Without effect for one that never waited. */
  leave(holder: UnreadHolder): void {
    if (!this.#holders.delete(holder)) return;
    for (const bytes of holder.waitingBytes()) this.give(bytes);
    this.giveCopied(holder.copiedBytes);
  }

  #evictDearest(): void {
    let dearest: UnreadHolder | null = null;
    let highest = -1;
    for (const holder of this.#holders) {
      const cost = this.#costOf(holder);
      if (cost <= highest) continue;
      highest = cost;
      dearest = holder;
    }
    if (dearest === null) return;
    this.#evictedCount += 1;
    this.leave(dearest);
    dearest.evict();
  }

  #costOf(holder: UnreadHolder): number {
    let cost = holder.copiedBytes;
    for (const { buffer } of holder.waitingBytes())
      cost += buffer.byteLength / (this.#waiting.get(buffer) ?? 1);
    return cost;
  }
}
