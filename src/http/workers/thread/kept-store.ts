/** Responses by key, bounded in bytes: what was kept first gives way. Some of them share memory, which counts once. */

/** Memory that counts as long as one of those that share it is kept. */
export class SharedMemory {
  readonly byteLength: number;
  users = 0;
  readonly #release: () => void;

  /** `release` is called when nobody uses it any more. */
  constructor(byteLength: number, release: () => void = () => undefined) {
    this.byteLength = byteLength;
    this.#release = release;
  }

  leave(): void {
    this.users -= 1;
    if (this.users === 0) this.#release();
  }
}

export interface Bounded {
  /** Without what it shares. */
  readonly bytes: number;
  readonly shared: SharedMemory | null;
}

export class KeptStore<Kept extends Bounded> {
  readonly #bytesMax: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Of all that is kept; never above the limit. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Kept | undefined {
    return this.#kept.get(key);
  }

  /** Whether so many bytes can be kept at all. */
  takes(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  /** Keeps it in the place of what was kept under the key, unless it is larger than all there may be. */
  set(key: string, kept: Kept): void {
    const { bytes, shared } = kept;
    this.delete(key);
    if (!this.takes(bytes + (shared?.byteLength ?? 0))) return;
    for (const oldest of this.#kept.keys()) {
      if (this.takes(this.#bytes + addedBy(kept))) break;
      this.delete(oldest);
    }
    this.#bytes += addedBy(kept);
    this.#kept.set(key, kept);
    if (shared !== null) shared.users += 1;
  }

  delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    kept.shared?.leave();
    this.#bytes -= addedBy(kept);
  }
}

/** What it adds to those that are kept, and leaves when it goes. */
function addedBy({ bytes, shared }: Bounded): number {
  return shared === null || shared.users > 0 ? bytes : bytes + shared.byteLength;
}
