/** The quota of requests that wait for the upstream. One network has at most half of it: made-up tokens leave room for others. */
import { networkOf } from '../../domain/flags/address.ts';

export class Quota {
  readonly #max: number;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  has(address: string, size = 1): boolean {
    return (
      this.#taken + size <= this.#max && (this.#takenBy.get(networkOf(address)) ?? 0) + size <= this.#max / 2
    );
  }

  /** Takes as much for a caller at this address. Returns what gives it back, once; null where there is too little. */
  take(address: string, size = 1): (() => void) | null {
    if (!this.has(address, size)) return null;
    const network = networkOf(address);
    this.#add(network, size);
    return () => this.#add(network, -size);
  }

  #add(network: string, size: number): void {
    this.#taken += size;
    const taken = (this.#takenBy.get(network) ?? 0) + size;
    if (taken === 0) this.#takenBy.delete(network);
    else this.#takenBy.set(network, taken);
  }
}
