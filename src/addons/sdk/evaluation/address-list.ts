/**
 * A list of addresses and ranges. Parsing one takes far longer than comparing it, so they are parsed when they are first needed, and in
 * steps.
 */
import { type AddressRange, isWithin, parseAddress } from '../../../domain/flags/address.ts';

const PARSED_AT_ONCE = 50;

export class AddressList {
  readonly #texts: readonly string[];
  #ranges: AddressRange[] = [];
  #at = 0;

  /** Texts that are no addresses are passed over. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** Parses some more. True when all are. */
  prepare(): boolean {
    const end = Math.min(this.#at + PARSED_AT_ONCE, this.#texts.length);
    for (; this.#at < end; this.#at += 1) {
      const range = parseAddress(this.#texts[this.#at]!.trim());
      if (range !== null) this.#ranges.push(range);
    }
    return this.#at === this.#texts.length;
  }

  covers(address: AddressRange): boolean {
    while (!this.prepare());
    return this.#ranges.some((range) => isWithin(address, range));
  }
}
